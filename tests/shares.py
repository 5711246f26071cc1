"""Of very many cases that are alike the ordinary run makes a share; the sweep makes the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest


def share(cases: Iterable[Any], of: int, name: Callable[[Any], str] = str) -> list[Any]:
    """Return the cases as parameters: one *of* so many is the ordinary run's, by turns, so that of kinds that stand together each has some.

    >>> [len(case.marks) for case in share("abcdef", 3)]
    [0, 1, 1, 0, 1, 1]
    """
    return [pytest.param(case, id=name(case), marks=pytest.mark.sweep if place % of else ()) for place, case in enumerate(cases)]


def groups(cases: Iterable[Any], size: int = 20) -> list[Any]:
    """Return small cases in lists of so many, each list one test: as tests of their own they would take more time to be kept account of than to be tried.

    >>> [case.values for case in groups("abcde", 2)]
    [(['a', 'b'],), (['c', 'd'],), (['e'],)]
    """
    every = list(cases)
    return [pytest.param(every[first : first + size], id=f"{first}") for first in range(0, len(every), size)]
