"""Layer types: the config keys that say which layers are sparse, sliding or recurrent, and the defaults where they are absent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.config.fields import Config, Field, constant, sequence
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import layer_range

if TYPE_CHECKING:
    from typing import Any


def dense_before(c: Config, first: int) -> list[str]:
    """Return the kinds of layers of which the *first* few have an ordinary MLP, and all others experts."""
    return ["dense" if index < first else "sparse" for index in layer_range(c.layers)]


def first_dense(default: int, key: str = "first_k_dense_replace") -> tuple[Field, Field]:
    """Declare that the first few layers have an ordinary MLP."""
    return (
        Field("dense", key, default, "choice"),
        constant("kinds", lambda c: dense_before(c, c.dense)),
    )


def sparse_step() -> tuple[Field, ...]:
    """Declare that every so many-th layer has experts, except for those named."""
    return (
        Field("step", "decoder_sparse_step", 1, "choice"),
        sequence("only_dense", "mlp_only_layers", []),
        constant("kinds", lambda c: ["sparse" if _is_sparse(c, index) else "dense" for index in layer_range(c.layers)]),
    )


def _is_sparse(c: Config, index: int) -> bool:
    return index not in c.only_dense and c.experts > 0 and (index + 1) % c.step == 0


def sparse_between() -> tuple[Field, ...]:
    """Declare that every so many-th layer has experts, from a first to a last one."""
    return (
        Field("step", "moe_layer_interval", 1, "choice"),
        Field("start", "moe_layer_start_index", 1, "choice"),
        Field("end", "moe_layer_end_index", -1, "choice"),
        constant("kinds", lambda c: ["sparse" if _is_between(c, index) else "dense" for index in layer_range(c.layers)]),
    )


def _is_between(c: Config, index: int) -> bool:
    end = c.layers - 1 if c.end == -1 else c.end
    return bool((index + 1) % c.step == 0 and c.start <= index <= end)


def listed_or(rule: Callable[[Config], list[str]], key: str = "mlp_layer_types", *, longer: bool = False) -> tuple[Field, Field]:
    """Declare that a list gives each layer's kind; where it is absent, *rule* does. Some classes take one that is *longer*."""
    return (Field("stated_kinds", key, rule, "choice"), constant("kinds", lambda c: one_per_layer(c, c.stated_kinds, key, longer=longer)))


def legacy_sparse_step(first: int, *, longer: bool = False) -> tuple[Field, ...]:
    """Declare that a list gives each layer's kind; where it is absent, the older keys for the first dense layers and the period do."""

    def rule(c: Config) -> list[str]:
        return ["sparse" if index >= c.dense and index % c.step == 0 else "dense" for index in layer_range(c.layers)]

    return (
        Field("dense", "first_k_dense_replace", first, "choice", report_default=False),
        Field("step", "moe_layer_freq", 1, "choice", report_default=False),
        *listed_or(rule, longer=longer),
    )


def one_per_layer(c: Config, kinds: Any, key: str, *, longer: bool = False) -> list[str]:
    """Check that a list names the kind of every layer; where it may be *longer*, what is left over names none.

    Raises:
        ConfigError: It is of another length than there are layers, or no list.
    """
    if longer and isinstance(kinds, (list, tuple)):
        kinds = kinds[: c.layers]
    if not isinstance(kinds, (list, tuple)) or len(kinds) != c.layers:
        found = f"{len(kinds)} entries" if isinstance(kinds, (list, tuple)) else f"{kinds!r:.60}"
        raise ConfigError(
            Text("expected the kind of each of {layers} layers, found {found}", layers=c.layers, found=found), key=key, value=kinds
        )
    return list(kinds)


def checked_kinds(c: Config, kinds: Any, key: str, known: tuple[str, ...]) -> list[str]:
    """Check that a list names the kind of every layer, and only kinds that are *known*.

    Raises:
        ConfigError: It is of another length than there are layers, or names an unknown kind.
    """
    result = [LEGACY.get(kind, kind) if isinstance(kind, str) else kind for kind in one_per_layer(c, kinds, key)]
    strange = next((kind for kind in result if kind not in known), None)
    if strange is not None:
        raise ConfigError(
            Text("{strange!r:.40} is not a kind of layer described here; known: {known}", strange=strange, known=", ".join(known)),
            key=key,
            value=kinds,
        )
    return result


def kinds_by_number(c: Config, named: Mapping[str, tuple[str, Any]], path: str) -> list[Any]:
    """Return the kind of each layer where a config lists the numbers, from 1 up, of the layers of each kind.

    Args:
        named: By the key of a list: the kind, and the list.
        path: Of the sub-config that holds the lists.

    Raises:
        ConfigError: A number that is none of a layer.
    """
    found: list[Any] = [None] * len(layer_range(c.layers))
    for key, (kind, numbers) in named.items():
        for number in numbers:
            if type(number) is not int or not 1 <= number <= c.layers:
                raise ConfigError(Text("expected layer numbers from 1 to {layers}", layers=c.layers), key=path + key, value=number)
            found[number - 1] = kind
    return found


def sizes_by_kind(c: Config, stated: Any, own: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what ``per_layer_config`` gives to the layers of each kind: sizes by the numbers of layers, as the reference saves them.

    Args:
        stated: The sizes by the number of a layer, from 0 up, which the reference writes with leading zeros.
        own: By the key of each size that may be given this way: what it is where it is not.

    Raises:
        ConfigError: A size that *own* lacks, a number that is none of a layer, or two layers of a kind that differ.
    """
    key = "per_layer_config"
    if not isinstance(stated, Mapping) or not all(isinstance(sizes, Mapping) for sizes in stated.values()):
        raise ConfigError("expected sizes by layer number", key=key, value=stated)
    unlike: list[dict[str, Any]] = [{} for _ in layer_range(c.layers)]
    for number, sizes in stated.items():
        if not str(number).isdecimal() or int(number) >= c.layers:
            raise ConfigError(Text("expected layer numbers from 0 to {value}", value=c.layers - 1), key=key, value=number)
        strange = next((size for size in sizes if size not in own), None)
        if strange is not None:
            raise ConfigError(
                Text("{strange} by layer is not described for this type", strange=strange), key=f"{key}.{number}", value=sizes
            )
        unlike[int(number)] = {size: value for size, value in sizes.items() if value != own[size]}
    found = {kind: unlike[index] for index, kind in enumerate(c.mixers)}
    if any(found[kind] != sizes for kind, sizes in zip(c.mixers, unlike, strict=True)):
        raise ConfigError("layers of one kind whose sizes differ are not described", key=key, value=stated)
    return {kind: {**own, **sizes} for kind, sizes in found.items()}


LEGACY = {"mamba": "linear_attention", "attention": "full_attention"}
"""Older names of the kinds of layers, which the reference library reads too."""
