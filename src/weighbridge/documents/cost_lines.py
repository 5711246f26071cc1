"""Lines of a derivation that several costs share: letters, groups of equal terms, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.core.formula import Number, Product, Sum
from weighbridge.documents.document import Block, Equation, Paragraph
from weighbridge.explain.evaluation_steps import chain
from weighbridge.explain.traced import formula_of

if TYPE_CHECKING:
    from weighbridge.core.formula import Expression
    from weighbridge.explain.traced import Lettered


class Group(NamedTuple):
    """Terms that came about in the same way: how many, the bytes of one, and what they are."""

    times: int
    each: int
    label: str

    @property
    def bytes(self) -> int:
        """All of them."""
        return int(self.times) * int(self.each)


def letters_line(lettered: Lettered) -> Paragraph:
    """Say what the letters of the inputs are."""
    return Paragraph(1, ", ".join(f"{letter} = {lettered.values[letter]:,}" for letter in lettered.lengths))


def grouped(terms: Iterable[tuple[int, int, str]]) -> list[Group]:
    """Put terms of one formula and label together: copies, bytes of one, and what they are.

    >>> grouped([(2, 8, "bias"), (3, 8, "bias"), (1, 4, "weight")])
    [Group(times=5, each=8, label='bias'), Group(times=1, each=4, label='weight')]
    """
    found: dict[tuple[str, str], Group] = {}
    for times, each, label in terms:
        key = str(formula_of(each)), label
        known = found.get(key)
        found[key] = Group(int(times), each, label) if known is None else known._replace(times=known.times + int(times))
    return list(found.values())


def equation(group: Group, lettered: Lettered, level: int) -> Equation:
    """Derive the bytes of a group: formula, substitution, number."""
    formula: Expression = formula_of(group.each)
    if group.times != 1:
        formula = Product((Number(group.times), formula))
    return Equation(level, chain(formula, lettered.values), f"{group.label}: " if group.label else "")


def sum_line(amounts: list[int], level: int, label: str) -> Iterator[Block]:
    """Add up, if there is more than one."""
    if len(amounts) > 1:
        yield Equation(level, (Sum(tuple(Number(int(amount)) for amount in amounts)), Number(sum(map(int, amounts)))), label)
