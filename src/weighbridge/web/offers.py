"""Suggestions for an impossible size: the nearest possible value, or a change of the size that it contradicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from weighbridge.core.errors import ConfigError, WeighbridgeError
from weighbridge.web.query import Query

TRIES = 256
"""How far on either side a number is looked for."""


class Offer(NamedTuple):
    """One way out.

    Attributes:
        key: The field that would change.
        value: What it would be.
        link: The address that has it.
    """

    key: str
    value: int
    link: str


def offers(query: Query, error: WeighbridgeError) -> list[Offer]:
    """Return ways out of a refusal: for each changed field and each field that the refusal names, the nearest value that works.

    >>> from weighbridge.web.query import read_query
    >>> refused = read_query({"source": "bert-base-uncased", "set.hidden_size": "1024"})
    >>> try:
    ...     refused.model()
    ... except ConfigError as error:
    ...     [(offer.key, offer.value) for offer in offers(refused, error)]
    [('num_attention_heads', 16), ('hidden_size', 1020)]
    """
    if not isinstance(error, ConfigError) or not error.key:
        return []
    named = [key.strip() for key in error.key.split(" and ")]
    changed = dict(query.overrides)
    before = query._replace(overrides=tuple((key, value) for key, value in query.overrides if key not in named))
    found = []
    for key in sorted(named, key=lambda key: key in changed):
        value = next(_near_values(query, before, key, named, changed), None)
        if value is not None:
            found.append(Offer(key, value, _with_override(query, key, value).link("/model")))
    return found


def _near_values(query: Query, before: Query, key: str, named: list[str], changed: dict[str, Any]) -> Iterator[int]:
    """Yield values of a field that work, the likeliest first: in the proportion that held before, then the nearest."""
    old = _value(before, key)
    start = changed.get(key, old)
    if not isinstance(start, int) or isinstance(start, bool):
        return
    likely = [start]
    for other in named:
        was, now = _value(before, other), changed.get(other)
        if other != key and isinstance(was, int) and isinstance(now, int) and isinstance(old, int) and was and old * now % was == 0:
            likely.insert(0, old * now // was)
    for step in range(1, TRIES):
        likely += [start - step, start + step]
    for value in dict.fromkeys(likely):
        if value > 0 and _works(_with_override(query, key, value)):
            yield value


def _with_override(query: Query, key: str, value: int) -> Query:
    return query._replace(overrides=(*((name, known) for name, known in query.overrides if name != key), (key, value)))


def _value(query: Query, key: str) -> object:
    """Return the value of a field in a model that can be built."""
    try:
        found = query.model().description
    except WeighbridgeError:
        return None
    if found is None:
        return None
    field = next((field for field in found.family.fields if field.key == key), None)
    return None if field is None else getattr(found.sizes, field.word, None)


def _works(query: Query) -> bool:
    try:
        query.model()
    except WeighbridgeError:
        return False
    return True
