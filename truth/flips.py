"""Every boolean of a config class flipped, every null filled and every value put to null, one at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truth import live
from truth.aliases import plausible
from truth.changes import IDLE, Change
from truth.check import classes
from truth.trials import Trial
from weighbridge.blueprints import family
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Field

FEW = 4
"""Classes of a type that every key is tried on."""


def trials(model_type: str, configs: list[dict[str, Any]]) -> Iterator[Trial]:
    """Yield each boolean and each null of a type's config and sub-configs, toggled, for a few of its classes."""
    names = classes(model_type)
    chosen = [*dict.fromkeys((names[0], names[-1], *(name for name in names if "LM" in name or "Conditional" in name), *names))][:FEW]
    number = len(configs) - 1
    raw = configs[number]
    config = live.config_class(model_type)(**{key: value for key, value in raw.items() if key != "model_type"})
    for class_name in chosen:
        yield from (Trial(class_name, number, (change,)) for change in _toggles(config, family(model_type).fields, raw))


def _toggles(config: Any, fields: tuple[Field, ...], raw: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[Change]:
    kinds = {key: field.kind for field in fields for key in (field.key, *field.aliases)}
    nested = {field.key: field for field in fields if field.kind == "nested"}
    for key, value in {"tie_word_embeddings": True, **config.to_dict()}.items():
        inner = live.value(config, key)
        if key in IDLE or key.startswith("_") or not key:
            continue
        if hasattr(inner, "to_dict"):
            found, given = find_sub_config(nested[key], raw) if key in nested else None, raw.get(key)
            yield from _toggles(inner, found.fields if found else (), given if isinstance(given, Mapping) else {}, (*above, key))
        elif not isinstance(value, Mapping) or key == "id2label":
            yield from (Change((*above, key), other) for other in plausible(toggles(value), kinds.get(key, "")))


def toggles(value: Any) -> list[Any]:
    """Return what a boolean or a null may be instead, and a null in place of anything else.

    >>> toggles(True), toggles(None), toggles(8)
    ([False, None], [True, False, 2], [None])
    """
    if isinstance(value, bool):
        return [not value, None]
    return [True, False, 2] if value is None else [None]
