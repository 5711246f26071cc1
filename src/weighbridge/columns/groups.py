"""Rows of configs, grouped so that each group is one blueprint evaluated once over columns.

Within a group only sizes differ. Everything a blueprint may branch on is the same in all its rows: switches, names and
lists by their values, and what the fields compute from sizes (the kinds of the layers, whether two widths differ) by computing it
for every distinct combination of the sizes it reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.config.bind import bind, find_sub_config, with_overrides
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]


class Group(NamedTuple):
    """Rows that differ in sizes alone.

    Attributes:
        rows: Their indices.
        like: The first of them, bound to ints: what every row may be branched on.
    """

    rows: Rows
    like: Config


def group(known: Family, single: Mapping[str, Any], many: Mapping[str, NDArray[np.int64]], rows: Rows) -> Iterator[Group]:
    """Split the rows of a table into groups within which every concrete fact is the same.

    Args:
        known: The family of all rows.
        single: What is the same in all rows.
        many: By key path, the sizes that differ, one value a row of the whole table.
        rows: The numbers of all rows.

    Raises:
        ConfigError: A row that makes no model; the text names it.
    """
    import numpy as np

    deciding = [key for key in many if key in deciding_keys(known, single, many, int(rows[0]))]
    if not deciding:
        yield Group(rows, _bind_row(known, single, many, int(rows[0])))
        return
    combinations, first = _combinations([many[key] for key in deciding])
    likes = [_bind_row(known, single, many, int(row)) for row in first]
    numbers: dict[str, int] = {}
    kind = np.array([numbers.setdefault(repr(switch_values(known.fields, like)), len(numbers)) for like in likes])
    if len(numbers) == 1:
        yield Group(rows, likes[0])
        return
    of_row = kind[combinations]
    for number in range(len(numbers)):
        yield Group(rows[of_row == number], likes[int(np.argmax(kind == number))])


def _combinations(columns: list[NDArray[np.int64]]) -> tuple[Rows, Rows]:
    """Number the distinct combinations of values: the number of each row's, and the first row of each."""
    import numpy as np

    codes = np.zeros(len(columns[0]), dtype=np.intp)
    for values in columns:
        low, spread = int(values.min()), int(values.max() - values.min()) + 1
        if spread <= 4 * len(values) + 1024:  # a table of what occurs is quicker than sorting
            occurs = np.zeros(spread, dtype=np.intp)
            occurs[values - low] = 1
            distinct, own = int(occurs.sum()), (np.cumsum(occurs) - 1)[values - low]
        else:
            found, own = np.unique(values, return_inverse=True)
            distinct = len(found)
        # Numbered anew each time, so that no product of many columns leaves 64 bits.
        _, codes = np.unique(codes * distinct + own, return_inverse=True) if codes.any() else (None, own)
    first = np.empty(int(codes.max()) + 1, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, first


def deciding_keys(known: Family, single: Mapping[str, Any], many: Mapping[str, Any], row: int) -> set[str]:
    """Return which columns some concrete fact is computed from, directly or through derived sizes.

    A rule is run once on ints while a note is taken of what it reads. If nothing that it read differs between rows, it
    takes the same way through its code in all of them.
    """
    raw = with_overrides(single, {key: int(values[row]) for key, values in many.items()})
    return _deciding_keys(known.fields, raw, bind(known.fields, raw), frozenset(many), "")


def _deciding_keys(fields: tuple[Field, ...], raw: Mapping[str, Any], sizes: Config, many: frozenset[str], path: str) -> set[str]:
    sources: dict[str, set[str]] = {}  # from a word to the columns that its value comes from
    deciding: set[str] = set()
    for field in fields:
        own = {path + key for key in (field.key, *field.aliases) if key and path + key in many and field.kind != "derived"}
        if field.kind == "nested":
            inner = find_sub_config(field, raw)
            prefix = f"{path}{field.key}."
            if inner is not None and any(key.startswith(prefix) for key in many):
                own |= {key for key in many if key.startswith(prefix)}
                deciding |= _deciding_keys(inner.fields, inner.raw, getattr(sizes, field.word), many, prefix)
        for rule in (field.default, field.null):
            if callable(rule):
                own |= {key for word in _read_words(rule, sizes) for key in sources.get(word, ())}
        sources[field.word] = own
        if field.kind not in ("size", "derived", "nested", "labels"):
            deciding |= own
    return deciding


def _read_words(rule: Any, sizes: Config) -> set[str]:
    """Return the words that a rule reads."""
    words: set[str] = set()
    # A rule that fails has been decided by what it read before it failed.
    with suppress(ConfigError, AttributeError, TypeError, AssertionError):
        rule(_WatchedConfig(sizes, words))
    return words


class _WatchedConfig(Config):
    """Sizes that take note of what is read."""

    def __init__(self, sizes: Config, words: set[str]) -> None:
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "words", words)

    def __getattribute__(self, word: str) -> Any:
        sizes: Config = object.__getattribute__(self, "sizes")
        words: set[str] = object.__getattribute__(self, "words")
        if word == "__dict__":  # whoever looks through all of them reads all of them
            words.update(vars(sizes))
            return vars(sizes)
        words.add(word)
        return getattr(sizes, word)


def switch_values(fields: tuple[Field, ...], sizes: Config) -> list[Any]:
    """Return everything that a blueprint may branch on, sub-configs included."""
    found: list[Any] = []
    for field in fields:
        value = getattr(sizes, field.word)
        if field.kind == "nested":
            inner = None if value is None else [concrete_values(value)]
            found.append(inner)
        elif field.kind not in ("size", "derived", "labels"):
            found.append(value)
        elif type(value) is not int:
            found.append(type(value).__name__)
    return found


def concrete_values(sizes: Config) -> list[Any]:
    """Return what is no plain int among bound sizes, whose fields are not at hand, sub-configs included."""
    return [
        (word, concrete_values(value) if isinstance(value, Config) else value)
        for word, value in vars(sizes).items()
        if type(value) is not int
    ]


def _bind_row(known: Family, single: Mapping[str, Any], many: Mapping[str, Any], row: int) -> Config:
    raw = with_overrides(single, {key: int(values[row]) for key, values in many.items()})
    try:
        return bind(known.fields, raw)
    except ConfigError as error:
        raise ConfigError(Text("row {row}: {error}", row=row, error=error), value=error.value) from None
