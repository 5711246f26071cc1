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
            spans.setdefault(one.line, []).append((one.start, one.end))
        for found in spans.values():
            found.sort()
        self._starts = {line: [start for start, _ in found] for line, found in spans.items()}
        self._ends = {line: list(accumulate((end for _, end in found), max)) for line, found in spans.items()}

    def holds(self, line: int, begin: int, end: int) -> bool:
        """Tell whether one claim of a line covers these columns."""
        before = bisect_right(self._starts.get(line, ()), begin)
        return before > 0 and self._ends[line][before - 1] >= end
