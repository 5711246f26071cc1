"""Which places of a text the claims found so far cover."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from weighbridge.auditing.claims import Claim


class ClaimSpans:
    """The spans of claims by line, to be asked for one that holds a place without walking them all.

    >>> ClaimSpans([Claim(1, 4, 9, "", "total", "exact")]).holds(1, 5, 9)
    True
    """

    def __init__(self, claims: Iterable[Claim]) -> None:
        spans: dict[int, list[tuple[int, int]]] = {}
        for one in claims:
            if one.line in spans:
                spans[one.line].append((one.start, one.end))
            else:
                spans[one.line] = [(one.start, one.end)]
        self._spans = spans
        self._reach: dict[int, tuple[list[int], list[int]]] = {}

    def holds(self, line: int, begin: int, end: int) -> bool:
        """Tell whether one claim of a line covers these columns."""
        found = self._spans.get(line)
        if found is None:
            return False
        if len(found) <= _FEW:
            return any(start <= begin and stop >= end for start, stop in found)
        if line not in self._reach:
            found.sort()
            self._reach[line] = [start for start, _ in found], list(accumulate((stop for _, stop in found), max))
        starts, stops = self._reach[line]
        before = bisect_right(starts, begin)
        return before > 0 and stops[before - 1] >= end


_FEW = 8
"""Claims of a line that are walked sooner than put in order."""
