"""Figures of memory beside the products that they are: parameters times the bytes of each, rounded or cut off."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing.byte_thresholds import BUDGET_DIGITS, BUDGET_PRECISION
from weighbridge.auditing.checks.memory_labels import Count, MemoryFigure
from weighbridge.core._namedtuple import NamedTuple

BYTES_OF_EACH = tuple(Fraction(size) for size in (Fraction(1, 2), 1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20))
"""Bytes of each parameter that people reckon with."""


class Reckoned(NamedTuple):
    """A figure, and the product that it is: its parameters and the bytes of each, or none."""

    figure: MemoryFigure
    parameters: Count | None = None
    size: Fraction | None = None

    @property
    def is_witness(self) -> bool:
        """Whether the figure is that product to digits that are no chance."""
        if self.parameters is None or self.size is None:
            return False
        figure, right = self.figure, self.parameters.number * self.size
        step = Fraction(1, 2 * 10**figure.places)
        exact = figure.value * figure.scales[0] == right
        near = any(abs(figure.value * scale - right) <= step * scale + self.parameters.half * self.size for scale in figure.scales)
        return exact or (near and step <= BUDGET_PRECISION * figure.value)


def product_of(one: Reckoned) -> Fraction:
    """Return the product that a figure is, in bytes; zero if it is none."""
    return one.parameters.number * one.size if one.parameters is not None and one.size is not None else Fraction(0)


def reckon(figure: MemoryFigure) -> Reckoned:
    """Return a figure with the product that it is a rounding of, in thousands or in powers of two, or cut off at its last digit."""
    unit = _last_unit(figure)
    for count in figure.counts:
        for size in figure.sizes:
            for scale in figure.scales:
                if abs(figure.value * scale - count.number * size) < unit * scale + count.half * size:
                    return Reckoned(figure, count, size)
    return Reckoned(figure)


def _last_unit(figure: MemoryFigure) -> Fraction:
    """Return what the last digit of a figure counts, if it is no filling zero."""
    written = figure.number.replace(",", "")
    filling = len(written) - len(written.rstrip("0")) if not figure.places and len(written) > BUDGET_DIGITS else 0
    return Fraction(10**filling, 10**figure.places)


def is_product(figure: MemoryFigure, count: Count, size: Fraction) -> bool:
    """Tell whether a figure is so many parameters of so many bytes, rounded."""
    step = Fraction(1, 2 * 10**figure.places)
    return any(abs(figure.value * scale - count.number * size) <= step * scale + count.half * size for scale in figure.scales)


def with_column_sizes(figures: Sequence[MemoryFigure]) -> list[MemoryFigure]:
    """Give the figures of a column, or of a row, that no label explains the bytes of each parameter that all but one of them are exactly."""
    groups: dict[tuple[str, int, int], list[MemoryFigure]] = {}
    for one in figures:
        for group in one.groups if one.counts and one.role != "total" and reckon(one).size is None else ():
            groups.setdefault(group, []).append(one)
    found: dict[tuple[int, int], MemoryFigure] = {}
    for members in groups.values():
        rates = [one.value * one.scales[0] / one.counts[0].number for one in members]
        size = max(BYTES_OF_EACH, key=rates.count)
        if len({one.counts[0].number for one in members}) == len(members) and rates.count(size) >= max(2, len(members) - 1):
            found |= {(one.line, one.start): one._replace(sizes=(size,)) for one in members}
    return [found.get((one.line, one.start), one) for one in figures]
