"""Closed formulas: the ledger of a symbolic tree collected, with repeats kept factored."""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.accounts.ledger import Entry
from weighbridge.core.formula import Expression, Number, as_expression, times, total
from weighbridge.core.polynomials import Polynomial, polynomial


class ClosedFormula(NamedTuple):
    """A closed formula: a polynomial, and repeats with the closed formula of one copy each.

    It keeps ``L * (...)`` factored, as people write it; :meth:`polynomial` expands it.
    """

    constant: Polynomial
    repeats: tuple[tuple[Expression, ClosedFormula], ...]

    def expression(self) -> Expression:
        """Return the formula as an expression, single parts first, repeats factored."""
        return total((self.constant.expression(), *(times((n, inner.expression())) for n, inner in self.repeats)))

    def polynomial(self) -> Polynomial:
        """Return the fully expanded polynomial."""
        return polynomial(self.expression())

    def __str__(self) -> str:
        return str(self.expression())


def closed_formula(entry: Entry) -> ClosedFormula:
    """Collect the ledger of a symbolic tree into its closed formula."""
    return closed_formulas(entry)[0]


def closed_formulas(entry: Entry) -> list[ClosedFormula]:
    """Collect a ledger into the closed formula of each entry, in the order of :func:`~weighbridge.accounts.ledger.entries`."""
    constant = Polynomial({})
    repeats: dict[Polynomial, tuple[Expression, ClosedFormula]] = {}
    for line in entry.lines:
        constant = constant + polynomial(line.amount)
    below: list[ClosedFormula] = []
    for child in entry.children:
        inside = closed_formulas(child)
        constant = _join(child, inside[0], constant, repeats)
        below += inside
    return [ClosedFormula(constant, tuple(repeats.values())), *below]


def _join(
    child: Entry, inner: ClosedFormula, constant: Polynomial, repeats: dict[Polynomial, tuple[Expression, ClosedFormula]]
) -> Polynomial:
    count = as_expression(child.times)
    if child.part.experts is not None and polynomial(child.amount) != polynomial(count) * inner.polynomial():
        return constant + polynomial(child.amount)
    if isinstance(count, Number):
        constant = constant + polynomial(count) * inner.constant
        inner_repeats = tuple((times((count, n)), c) for n, c in inner.repeats)
    else:
        inner_repeats = ((count, inner),)
    for n, formula in inner_repeats:
        key = polynomial(n)
        if formula.constant.terms or formula.repeats:
            repeats[key] = (n, _sum(repeats[key][1], formula) if key in repeats else formula)
    return constant


def _sum(left: ClosedFormula, right: ClosedFormula) -> ClosedFormula:
    repeats = {polynomial(n): (n, inner) for n, inner in left.repeats}
    for n, inner in right.repeats:
        key = polynomial(n)
        repeats[key] = (n, _sum(repeats[key][1], inner) if key in repeats else inner)
    return ClosedFormula(left.constant + right.constant, tuple(repeats.values()))
