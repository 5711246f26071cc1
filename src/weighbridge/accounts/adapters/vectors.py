"""Methods that learn few numbers for each layer: scales, shifts, spectra, chosen elements, a norm's copy.

Source: huggingface/peft 0.21.2, tuners/{ia3,beft,ln_tuning,miss,c3a,shira,fourierft,waveft}/layer.py and model.py
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.lora import rank
from weighbridge.accounts.adapters.matching import by_pattern, pattern
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Config = Mapping[str, Any]


def ia3(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield one scale for each input of a feed-forward layer, for each output of any other."""
    names = config["feedforward_modules"]
    if isinstance(names, str):
        forward = pattern(names, "feedforward_modules").fullmatch(site.path) is not None
    else:
        forward = any(site.path.endswith(name) for name in names)
    if site.kind == "convolution":
        yield AddedTensor(f"{site.path}.ia3_l", (1, site.inputs if forward else site.outputs, *(1 for _ in site.shape[2:])))
    else:
        yield AddedTensor(f"{site.path}.ia3_l", (1, site.inputs) if forward else (site.outputs, 1))


def beft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield one shift for each output."""
    yield AddedTensor(f"{site.path}.beft_bias", (1, site.outputs))


def miss(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the block that is repeated over a weight's shards."""
    r, way = rank(config, site.path), config["init_weights"]
    if r > site.inputs:
        raise UsageError(Text("{path}: r = {r} is more than its {inputs} inputs", path=site.path, r=r, inputs=site.inputs))
    if way == "bat":
        if site.inputs % r or site.outputs % r:
            raise UsageError(
                Text(
                    "{path}: [{outputs}, {inputs}] cannot be cut into blocks of {r} x {r}",
                    path=site.path,
                    outputs=site.outputs,
                    inputs=site.inputs,
                    r=r,
                )
            )
        yield AddedTensor(f"{site.path}.miss_block", (site.outputs // r, r, r))
    elif way == "mini":
        if site.outputs % config["mini_r"]:
            raise UsageError(
                Text(
                    "{path}: {outputs} outputs cannot be cut by mini_r = {config}",
                    path=site.path,
                    outputs=site.outputs,
                    config=config["mini_r"],
                )
            )
        yield AddedTensor(f"{site.path}.miss_block", (r, config["mini_r"]))
    else:
        yield AddedTensor(f"{site.path}.miss_block", (r, site.outputs))


def c3a(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield circulant blocks, each by its first column; always in float32."""
    size = _behind_dot(config.get("block_size_pattern"), site.path, config["block_size"])
    if site.inputs % size or site.outputs % size:
        raise UsageError(
            Text(
                "{path}: [{outputs}, {inputs}] cannot be cut into circulant blocks of {size}",
                path=site.path,
                outputs=site.outputs,
                inputs=site.inputs,
                size=size,
            )
        )
    yield AddedTensor(f"{site.path}.c3a_kernel", (site.outputs // size, site.inputs // size, size))


def shira(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield as many chosen elements as a LoRA of that rank has, and where they stand."""
    chosen = rank(config, site.path) * (site.inputs + site.outputs)
    if chosen > site.inputs * site.outputs:
        raise UsageError(Text("{path}: r = {config} asks for more elements than its weight has", path=site.path, config=config["r"]))
    yield AddedTensor(f"{site.path}.shira_weight", (chosen,))
    yield AddedTensor(f"{site.path}.shira_indices", (2, chosen), parameter=False, dtype="int32")


def fourierft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the chosen coefficients of a weight's spectrum."""
    yield _spectrum("fourierft", site, _behind_dot(config.get("n_frequency_pattern"), site.path, config["n_frequency"]))


def waveft(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield the chosen coefficients of a weight's wavelet transform."""
    shares = config.get("shares") or {}
    number = shares.get(site.path) or by_pattern(config.get("n_frequency_pattern"), site.path, config["n_frequency"])
    yield _spectrum("waveft", site, number)


def proportional_shares(sites: list[Site], config: Config) -> dict[str, int]:
    """Return each module's share of all coefficients, by its elements.

    The shares are rounded as the library rounds them, from binary fractions.
    """
    sizes = {site.path: site.inputs * site.outputs for site in sites}
    whole, budget = sum(sizes.values()), config["n_frequency"] * len(sizes)
    return {path: max(1, round(size / whole * budget)) for path, size in sizes.items()}


def _spectrum(method: str, site: Site, number: object) -> AddedTensor:
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= site.inputs * site.outputs:
        raise UsageError(
            Text(
                "{path}: n_frequency must be from 1 to the {value:,} elements of its weight, found {number!r}",
                path=site.path,
                value=site.inputs * site.outputs,
                number=number,
            )
        )
    return AddedTensor(f"{site.path}.{method}_spectrum", (number,))


def _behind_dot(patterns: Mapping[str, Any] | None, path: str, default: Any) -> Any:
    """Return the value of the first pattern that stands after a dot at the end of *path*, else that of *path* itself."""
    for key, value in (patterns or {}).items():
        if pattern(rf".*\.{key}$", "pattern").match(path):
            return value
    default = (patterns or {}).get(path, default)
    if not isinstance(default, int) or isinstance(default, bool) or default < 1:
        raise ConfigError("expected a whole number from 1 up", key="block_size or n_frequency", value=default)
    return default


def ln_copies(sites: list[Site], config: Config, base: Base) -> Iterator[AddedTensor]:
    """Yield a trained copy of each module, with everything in it."""
    for site in sites:
        seen: set[str] = set()
        for row in base.within(site.path):
            owner, buffer = row.tied_to or row.name, row.role == "buffer"
            parameter = not buffer and owner not in seen
            dtype = "int64" if row.name.endswith(".num_batches_tracked") else BASE
            shape: tuple[int, ...] = tuple(row.shape)  # type: ignore[arg-type]
            yield AddedTensor(f"{site.path}.ln_tuning_layers.{row.name}", shape, parameter=parameter, dtype=dtype)
            seen.add(owner)
