"""Lines of a derivation that several costs share: letters, groups of equal terms, and what they add up to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import Number, Product, Sum, letters
from weighbridge.core.messages import mark
from weighbridge.documents.document import Block, Equation, Table
from weighbridge.documents.symbols import symbol_table
from weighbridge.explain.traced_ints import formula_of

if TYPE_CHECKING:
    from weighbridge.core.formula import Expression
    from weighbridge.core.messages import Say
    from weighbridge.explain.traced_ints import LetteredModel


class Group(NamedTuple):
    """Equal terms: how many, the bytes of one, and what they are."""

    times: int
    each: int
    label: str

    @property
    def bytes(self) -> int:
        """All of them."""
        return int(self.times) * int(self.each)


FLAGS = (("--batch", mark("examples")), ("--seq", mark("tokens")), ("--decoder-seq", mark("tokens of the decoder")))
"""Where the letters of what is put in come from, in the order in which they stand."""


def letter_table(blocks: Iterable[Block], lettered: LetteredModel, say: Say) -> Table:
    """Say what the letters stand for that *blocks* use."""
    used = {letter for block in blocks if isinstance(block, Equation) for letter in letters(block.steps[0])}
    put_in = ((letter, flag, say(meaning)) for letter, (flag, meaning) in zip(lettered.lengths, FLAGS, strict=False))
    sizes = ((letter, symbol.key, say(symbol.meaning)) for letter, symbol in lettered.table.items())
    return symbol_table(((*entry, lettered.values[entry[0]]) for entry in (*put_in, *sizes) if entry[0] in used), say)


def group_terms(terms: Iterable[tuple[int, int, str]]) -> list[Group]:
    """Put terms of one formula and label together: copies, bytes of one, and what they are.

    >>> group_terms([(2, 8, "bias"), (3, 8, "bias"), (1, 4, "weight")])
    [Group(times=5, each=8, label='bias'), Group(times=1, each=4, label='weight')]
    """
    found: dict[tuple[str, str], Group] = {}
    for times, each, label in terms:
        key = str(formula_of(each)), label
        known = found.get(key)
        found[key] = Group(int(times), each, label) if known is None else known._replace(times=known.times + int(times))
    return list(found.values())


def equation(group: Group, lettered: LetteredModel, level: int) -> Equation:
    """Derive the bytes of a group: formula, substitution, number."""
    formula: Expression = formula_of(group.each)
    if group.times != 1:
        formula = Product((Number(group.times), formula))
    return Equation(level, chain(formula, lettered.values), f"{group.label}: " if group.label else "")


def sum_line(amounts: list[int], level: int, label: str) -> Iterator[Block]:
    """Yield the sum of several amounts; nothing for a single one."""
    if len(amounts) > 1:
        yield Equation(level, (Sum(tuple(Number(int(amount)) for amount in amounts)), Number(sum(map(int, amounts)))), label)
