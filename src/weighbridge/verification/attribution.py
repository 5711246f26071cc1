"""Which config fields explain a difference between two counts: each field is changed alone, and the model recounted.

From the first model, one field at a time is set to what the second has. What all of them together change beyond the sum of that is
their interaction (a wider hidden size costs more in more layers), and is said; so the parts always add up to the difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import Any

from weighbridge.accounts.compare import Attribution, Cause, Comparison
from weighbridge.accounts.parameters import unique_of
from weighbridge.blueprints.describe import from_config
from weighbridge.config.bind import with_overrides, without_key
from weighbridge.core.errors import WeighbridgeError
from weighbridge.value import ModelValue

MOST_KEYS = 64
"""Keys in which two configs may differ and be explained."""
NO_SIZES = frozenset(("architectures", "model_type", "_name_or_path", "transformers_version", "torch_dtype", "dtype", "auto_map"))
"""Keys that say nothing of a size."""


def with_causes(found: Comparison) -> Comparison:
    """Return a comparison with what explains each model's difference from the first, where both were made from configs.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.compare import compare
    >>> found = with_causes(compare([model("bert-base-uncased"), model("bert-base-chinese")]))
    >>> [(cause.fields, cause.amount) for cause in found.explained[0].causes], found.explained[0].interaction
    ([(('vocab_size',), -7214592)], 0)
    """
    first = found.models[0]
    return found._replace(explained=tuple(explain_difference(first, other) for other in found.models[1:]))


def explain_difference(a: ModelValue, b: ModelValue) -> Attribution | None:
    """Return what explains the difference in unique parameters; None where fields cannot tell (files, configs of other keys)."""
    if a.description is None or b.description is None:
        return None
    start = a if a.class_name == b.class_name else _as_class(a, b)
    if start is None or start.description is None:
        return None
    raw, other = start.description.raw, b.description.raw
    keys = [key for key in dict.fromkeys((*_paths(raw), *_paths(other))) if _value_at(raw, key) != _value_at(other, key)]
    if len(keys) > MOST_KEYS:
        return None
    before, total = unique_of(a), unique_of(b)
    causes = [] if start is a else [Cause(("class",), a.class_name, b.class_name, unique_of(start) - before)]
    causes += _single_causes(start, other, keys)
    alone = sum(cause.amount for cause in causes)
    causes.sort(key=lambda cause: -abs(cause.amount))
    return Attribution(total - before, tuple(causes), total - before - alone)


def _as_class(a: ModelValue, b: ModelValue) -> ModelValue | None:
    """Return the first model's config as the second's class, where that class knows all of its keys."""
    assert a.description is not None and b.description is not None
    raw = {key: value for key, value in a.description.raw.items() if key not in ("model_type", "architectures")}
    try:
        built = from_config({**raw, "model_type": b.model_type}, a.source, b.class_name, None)
    except WeighbridgeError:
        return None
    known = set(a.unknown)
    return built if all(key in known for key in built.unknown) else None


def _single_causes(start: ModelValue, other: Mapping[str, Any], keys: list[str]) -> Iterator[Cause]:
    """Yield what each field changes alone; fields that make no model alone are changed with as few others as do."""
    assert start.description is not None
    raw, before = start.description.raw, unique_of(start)
    counted = {key: _count(start, other, (key,)) for key in keys}
    joined: set[str] = set()
    for key in [key for key, number in counted.items() if number is None]:
        if key in joined:
            continue
        others = [other_key for other_key in keys if other_key != key and other_key not in joined]
        for group in (group for size in (1, 2) for group in combinations(others, size)):
            number = _count(start, other, (key, *group))
            if number is not None:
                joined |= {key, *group}
                yield _cause(raw, other, (key, *group), number - before)
                break
    for key, number in counted.items():
        if key not in joined and number is not None and number != before:
            yield _cause(raw, other, (key,), number - before)


def _cause(raw: Mapping[str, Any], other: Mapping[str, Any], keys: tuple[str, ...], amount: int) -> Cause:
    a, b = (", ".join(_shorten(_value_at(values, key)) for key in keys) for values in (raw, other))
    return Cause(keys, a, b, amount)


def _shorten(value: object) -> str:
    text = "–" if value is _ABSENT else str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def _count(start: ModelValue, other: Mapping[str, Any], keys: Iterable[str]) -> int | None:
    assert start.description is not None
    raw = dict(start.description.raw)
    for key in keys:
        value = _value_at(other, key)
        raw = without_key(raw, key) if value is _ABSENT else with_overrides(raw, {key: value})
    try:
        return unique_of(from_config(raw, start.source, start.class_name, None))
    except WeighbridgeError:
        return None


_ABSENT = object()


def _paths(raw: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted paths of a config's values; a list is one value."""
    for key, value in raw.items():
        if isinstance(value, Mapping) and key.endswith("_config"):
            yield from _paths(value, f"{prefix}{key}.")
        elif key not in NO_SIZES and "." not in key:
            yield prefix + key


def _value_at(raw: Mapping[str, Any], path: str) -> Any:
    value: Any = raw
    for piece in path.split("."):
        if not isinstance(value, Mapping) or piece not in value:
            return _ABSENT
        value = value[piece]
    return value
