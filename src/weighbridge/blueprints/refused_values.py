"""Values that the reference's config classes refuse at sight: a null where a size is wanted, an odd width of a head that is rotated.

Which type refuses what was asked of the config classes (``refused_values.json``, written by ``python -m truth.refused_values``); a
type that is not among them, such as one of code of its own, is held to neither.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints import family
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Field
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from typing import Any

PATH = __file__.removesuffix(".py") + ".json"
SMALLEST_ODD = 5
"""The width from which on an odd head is refused: smaller ones are those of tests."""


def is_suspicious(raw: Mapping[str, Any]) -> bool:
    """Say whether a config, or one within it, has a value of the kinds that may be refused; most have none.

    >>> is_suspicious({"hidden_size": 8, "text_config": {"head_dim": 7}}), is_suspicious({"hidden_size": 8})
    (True, False)
    """
    width = raw.get("head_dim")
    if None in raw.values() or (type(width) is int and width % 2):
        return True
    return any(type(value) is dict and is_suspicious(value) for value in raw.values())


def refuse_values(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "") -> None:
    """Refuse what the reference's config class of a type does not take, in sub-configs as well.

    Raises:
        ConfigError: A null where a size is wanted, or an odd width of a head.

    >>> refuse_values("bert", family("bert").fields, {"hidden_size": None})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: hidden_size: null is not possible, the class wants a whole number
    """
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


def wants_number(field: Field) -> bool:
    """Say whether a field is a size that has no meaning for a null."""
    return field.kind == "labels" or (field.kind == "size" and type(field.default) is int and not field.nullable and field.null is None)


def _refuse_nulls(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any], path: str) -> None:
    taken = _read()["nulls"].get(model_type)
    if taken is None:
        return
    for field in fields:
        for key in (field.key, *field.aliases) if wants_number(field) else ():
            if key in raw and raw[key] is None and key not in taken:
                raise ConfigError("null is not possible, the class wants a whole number", key=path + key)


def _refuse_odd(model_type: str, raw: Mapping[str, Any], width: int, path: str) -> None:
    rotary = raw.get("rope_parameters"), raw.get("rope_scaling"), raw.get("partial_rotary_factor"), raw.get("per_layer_config")
    if any(stated is not None for stated in rotary) or model_type not in _read()["even_heads"]:
        return
    if any(field.key == "head_dim" for field in family(model_type).fields):
        raise ConfigError(Text("rotary positions turn pairs, and {width} is odd", width=width), key=f"{path}head_dim", value=width)


_READ: dict[str, Any] = {}
"""The table, once it was asked for."""


def _read() -> dict[str, Any]:
    if not _READ:
        from json import loads

        with open(PATH, encoding="utf-8") as file:
            _READ.update(loads(file.read()))
    return _READ
