"""Values that the reference's classes refuse at sight: a null where a size is wanted, an odd width of a head that is rotated, heads that do not divide.

Which type refuses what was asked of the classes (``refused_values.json``, written by ``python -m truth.refused_values``), and so were the
sizes of which they build 0, and the padding tokens that a class gives its sub-configs. A type that is not among them, such as one of code of its own, is held to none of it.
"""

from __future__ import annotations

from weighbridge.blueprints import MODULES, family
from weighbridge.blueprints.field_types import usual_sub_config
from weighbridge.blueprints.rule_functions import SMALLEST_ODD
from weighbridge.blueprints.type_lines import find_line
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Config, Field
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.interfaces import Mapping
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

PATH = __file__.removesuffix(".py") + ".json"
PAIRS = __file__.removesuffix("values.py") + "pairs.txt"


def is_suspicious(raw: Mapping[str, Any]) -> bool:
    """Say whether a config, or one within it, has a value of the kinds that may be refused; most have none.

    >>> is_suspicious({"hidden_size": 8, "text_config": {"head_dim": 7}}), is_suspicious({"hidden_size": 8})
    (True, False)
    """
    width = raw.get("head_dim")
    if None in raw.values() or (type(width) is int and width % 2):
        return True
    return any(type(value) is dict and is_suspicious(value) for value in raw.values())


def refuse_values(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "", *, base: bool = True) -> None:
    """Refuse what the reference's config class of a type does not take, in sub-configs as well; some nulls only where the *base* class reads them.

    Raises:
        ConfigError: A null where a size is wanted, or an odd width of a head.

    >>> refuse_values("bert", family("bert").fields, {"hidden_size": None})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: hidden_size: null is not possible, the class wants a whole number
    """
    if base and not path:
        _refuse_unreadable(model_type, raw)
    _refuse_nulls(model_type, fields, raw, path)
    width = raw.get("head_dim")
    if type(width) is int and width % 2 and width >= SMALLEST_ODD:
        _refuse_odd(model_type, raw, width, path)
    for field in fields:
        inside = raw.get(field.key) if field.kind == "nested" and field.resolve is not None else None
        if isinstance(inside, dict) and is_suspicious(inside):
            inner = find_sub_config(field, raw, path)
            if inner is not None and inner.model_type is not None:
                refuse_values(inner.model_type, inner.fields, inner.raw, f"{path}{field.key}.")


def with_zeros(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return a type's fields, of which those that its classes build at 0 take a 0, where a config has one.

    >>> fields = family("bert").fields
    >>> with_zeros("bert", fields, {"hidden_size": 8}) is fields
    True
    """
    if not any(
        type(raw.get(key)) is int and raw[key] == 0 for field in fields if field.kind == "size" for key in (field.key, *field.aliases)
    ):
        return fields
    taken = _read()["zeros"].get(model_type, ())
    return tuple(field._replace(zero=True) if field.key in taken else field for field in fields)


def refuse_pairs(
    model_type: str, fields: tuple[Field, ...], sizes: Config, raw: Mapping[str, Any], path: str = "", padding: str = ""
) -> None:
    """Refuse two values that do not fit together where the class minds, in sub-configs as well: a width and heads, a token and the vocabulary.

    Args:
        padding: The padding token that the class around a sub-config gives it.

    Raises:
        ConfigError: Heads that do not divide, or a padding token whose row the word embeddings has not.

    >>> refuse_pairs("bert", (), Config(vocab=100), {"pad_token_id": 100})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: pad_token_id: token 100 is not in the vocabulary of 100; lower it, or raise vocab_size
    """
    pairs = find_line(PAIRS, f"{model_type}: ").split()
    for pair in pairs:
        if pair.startswith("pad_token_id"):
            _refuse_token(padding if path else pair.partition("=")[2], fields, sizes, raw, path)
        elif ".pad_token_id" in pair:
            continue  # of a sub-config, below
        elif ">=" in pair:
            _refuse_empty_heads(pair.split(">="), fields, sizes, raw, path)
        else:
            _refuse_division(pair, fields, sizes, path)
    for field in fields:
        inner = vars(sizes).get(field.word) if field.kind == "nested" and field.resolve is not None else None
        if isinstance(inner, Config) and vars(inner).get("model_type") in MODULES:
            stated = raw.get(field.key)
            within = stated if isinstance(stated, Mapping) else {}
            own = "" if path or usual_sub_config(model_type, raw, (field.key,)) is None else _padding_of(field.key, pairs)
            refuse_pairs(inner.model_type, family(inner.model_type).fields, inner, within, f"{path}{field.key}.", own)


def _padding_of(key: str, pairs: list[str]) -> str:
    """Return the padding token of a sub-config by default.

    >>> _padding_of("text_config", ["pad_token_id=1", "text_config.pad_token_id=7"])
    '7'
    """
    return next((pair.partition("=")[2] for pair in pairs if pair.startswith(f"{key}.pad_token_id=")), "")


def _refuse_division(pair: str, fields: tuple[Field, ...], sizes: Config, path: str) -> None:
    keys = pair.split("/")
    words = {field.key: field.word for field in fields if field.kind == "size" and field.key in keys}
    width, heads = (vars(sizes).get(words.get(key, "")) for key in keys)
    if type(width) is int and type(heads) is int and heads > 0 and width % heads:
        first, second = (path + key for key in keys)
        text = Text(
            "{first} ({numerator:,}) is not divisible by {second} ({denominator:,}); change one of them",
            first=first,
            numerator=width,
            second=second,
            denominator=heads,
        )
        raise ConfigError(text, key=f"{first} and {second}")


def _refuse_empty_heads(keys: list[str], fields: tuple[Field, ...], sizes: Config, raw: Mapping[str, Any], path: str) -> None:
    """Refuse more heads than the width has elements, where the width of a head follows from both."""
    own = vars(sizes).get("head_dim")
    if raw.get("head_dim") is not None or (type(own) is int and own > 0):
        return
    words = {field.key: field.word for field in fields if field.kind == "size" and field.key in keys}
    width, heads = (vars(sizes).get(words.get(key, "")) for key in keys)
    if type(width) is int and type(heads) is int and width < heads:
        first, second = (path + key for key in keys)
        text = Text("{first} ({width:,}) leaves no width for {second} ({heads:,})", first=first, width=width, second=second, heads=heads)
        raise ConfigError(text, key=f"{first} and {second}")


def _refuse_token(usual: str, fields: tuple[Field, ...], sizes: Config, raw: Mapping[str, Any], path: str) -> None:
    token = raw.get("pad_token_id", int(usual) if usual else None)
    vocab = vars(sizes).get("vocab")
    if type(token) is int and type(vocab) is int and not -vocab <= token < vocab:
        key = next((field.key for field in fields if field.word == "vocab"), "vocab_size")
        raise ConfigError(
            Text("token {token} is not in the vocabulary of {vocab:,}; lower it, or raise {key}", token=token, vocab=vocab, key=key),
            key=f"{path}pad_token_id",
            value=token,
        )


def wants_number(field: Field) -> bool:
    """Say whether a field is a size that has no meaning for a null."""
    return field.kind == "labels" or (field.kind == "size" and type(field.default) is int and not field.nullable and field.null is None)


READ_BY_SOME = {
    "bamba": {"head_dim"},
    "dpt": {"image_size", "intermediate_size", "num_channels", "num_hidden_layers", "patch_size"},
    "ernie4_5_moe": {"moe_layer_end_index", "moe_num_experts", "moe_num_shared_experts"},
    "granitemoehybrid": {"mamba_d_conv", "mamba_d_state", "mamba_n_groups"},
    "qwen2_vl_text": {"max_window_layers"},
}
"""Keys that other configs of the type never read, so that a null there does no harm: the classes built with it (truth/keys)."""


def _refuse_unreadable(model_type: str, raw: Mapping[str, Any]) -> None:
    for key in _read()["unreadable_nulls"].get(model_type, ()):
        if key in raw and raw[key] is None and key not in READ_BY_SOME.get(model_type, ()):
            raise ConfigError("null is not possible, the class wants a value", key=key)


def _refuse_nulls(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any], path: str) -> None:
    taken = _read()["nulls"].get(model_type)
    if taken is None:
        return
    for field in fields:
        for key in (field.key, *field.aliases) if wants_number(field) else ():
            if key in raw and raw[key] is None and key not in taken:
                raise ConfigError("null is not possible, the class wants a whole number", key=path + key)


def _refuse_odd(model_type: str, raw: Mapping[str, Any], width: int, path: str) -> None:
    """Refuse an odd width of heads that rotary positions turn in whole, in any of the kinds of layers that have positions of their own."""
    stated = raw.get("rope_scaling") or raw.get("rope_parameters") or {}
    if raw.get("per_layer_config") is not None or not isinstance(stated, Mapping) or model_type not in _read()["even_heads"]:
        return
    for rotary in [inner for inner in stated.values() if isinstance(inner, Mapping)] or [stated]:
        share = rotary.get("partial_rotary_factor", raw.get("partial_rotary_factor"))
        if share is None or (isinstance(share, (int, float)) and int(width * share) == width):
            raise ConfigError(Text("rotary positions turn pairs, and {width} is odd", width=width), key=f"{path}head_dim", value=width)


_READ: dict[str, Any] = {}
"""The table, once it was asked for."""


def _read() -> dict[str, Any]:
    if not _READ:
        from json import loads

        with open(PATH, encoding="utf-8") as file:
            _READ.update(loads(file.read()))
    return _READ
