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


def forget() -> None:
    """Let go of all that was read of a text."""
    for kept in _KEPT:
        kept.cache_clear()
