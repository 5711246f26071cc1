"""What has been read of a line, kept while its text is audited: several checks ask for it, and long texts repeat their lines."""

from __future__ import annotations

from functools import lru_cache

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from functools import _lru_cache_wrapper
    from typing import TypeVar

    Read = TypeVar("Read")

_KEPT: list[_lru_cache_wrapper[object]] = []


def once_for_each_text(read: Callable[..., Read]) -> _lru_cache_wrapper[Read]:
    """Make a function of strings and other plain values keep its answers until :func:`forget` is called; they must not be changed.

    >>> @once_for_each_text
    ... def words(text):
    ...     return tuple(text.split())
    >>> words("12 layers") is words("12 layers")
    True
    """
    kept = lru_cache(maxsize=1 << 16)(read)
    _KEPT.append(kept)
    return kept


def once_for_each_shape(read: Callable[..., Read]) -> Callable[..., Read]:
    """Make a function of a line keep its answers by the line's shape, in which all digits are alike.

    Lines of one kind differ in their numbers alone, so that long texts have few shapes. Such a function says where something stands and what
    it is called; it is given a line whose digits are all zeros, must not ask which they are, and whoever calls it reads the numbers.

    >>> @once_for_each_shape
    ... def first_word(text):
    ...     return text.split()[0]
    >>> first_word("12 layers"), first_word("24 layers") is first_word("36 layers")
    ('00', True)
    """
    kept = once_for_each_text(read)
    BY_SHAPE.append(read)
    return lambda text, *rest: kept(shape_of(text), *rest)


BY_SHAPE: list[Callable[..., object]] = []
"""The functions that do not ask which digits a line has, as a test tries."""


@once_for_each_text
def shape_of(text: str) -> str:
    """Return a line with zeros for its digits.

    >>> shape_of("12 layers of 7,087,872")
    '00 layers of 0,000,000'
    """
    return text.translate(ZEROS)


ZEROS = str.maketrans("123456789", "000000000")


def once_for_each_scene(read: Callable[..., Read]) -> Callable[..., Read]:
    """Make a function of a whole text, and of plain values, keep its answers until :func:`forget` is called: what is asked of all of it is found once.

    >>> @once_for_each_scene
    ... def longest(lines):
    ...     return max(lines, key=len).split()
    >>> lines = ["12", "24 layers"]
    >>> longest(lines) is longest(lines)
    True
    """
    return _once(read, 1)


def once_for_each_table(read: Callable[..., Read]) -> Callable[..., Read]:
    """Make a function of a whole text, of one of its tables, and of plain values, keep its answers until :func:`forget` is called.

    >>> @once_for_each_table
    ... def longest(lines, table):
    ...     return max((lines[row] for row in table), key=len).split()
    >>> lines, table = ["12", "24 layers"], [0, 1]
    >>> longest(lines, table) is longest(lines, table)
    True
    """
    return _once(read, 2)


def _once(read: Callable[..., Read], many: int) -> Callable[..., Read]:
    """Make a function keep its answers by the identity of its first arguments and the value of the others."""
    kept: dict[tuple[object, ...], tuple[object, Read]] = {}
    _EMPTIED.append(kept.clear)

    def ask(*facts: object) -> Read:
        key = (*map(id, facts[:many]), *facts[many:])
        found = kept.get(key)
        if found is None:
            found = kept[key] = (facts[:many], read(*facts))  # they are kept as well, so that no others have their identity
        return found[1]

    return ask


def set_for_each_text() -> set[object]:
    """Return a set that is emptied by :func:`forget`."""
    _EMPTIED.append((found := set[object]()).clear)
    return found


_EMPTIED: list[Callable[[], None]] = []


def forget() -> None:
    """Let go of all that was read of a text."""
    for kept in _KEPT:
        kept.cache_clear()
    for empty in _EMPTIED:
        empty()
