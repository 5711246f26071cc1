"""Formulas whose letters stand side by side for a product, ``34bsh + 5bs^2a``, at values of the letters."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from weighbridge.auditing.patterns import pattern

_PIECE = pattern(r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<letter>[bshlandV])|(?P<sign>[-+*/^()×·]))")


def evaluate(formula: str, values: Mapping[str, int]) -> Fraction | None:
    """Evaluate a formula whose letters stand side by side for a product; None if it cannot be read whole.

    >>> evaluate("(34bsh + 5bs^2a)*l", {"b": 1, "s": 2, "h": 3, "a": 4, "l": 5}), evaluate("34bsh + 2Q", {"b": 1, "s": 2, "h": 3})
    (Fraction(1420, 1), None)
    """
    pieces, place = [], 0
    plain = formula.rstrip()
    while place < len(plain):
        match = _PIECE.match(plain, place)
        if match is None:
            return None
        pieces.append(match[0].strip().replace("×", "*").replace("·", "*"))
        place = match.end()
    found, rest = _sum(pieces, values)
    return found if not rest else None


def _sum(pieces: list[str], values: Mapping[str, int]) -> tuple[Fraction | None, list[str]]:
    total, pieces = _product(pieces, values)
    while total is not None and pieces[:1] in (["+"], ["-"]):
        sign, (term, rest) = pieces[0], _product(pieces[1:], values)
        if term is None:
            return None, rest
        total, pieces = total + term if sign == "+" else total - term, rest
    return total, pieces


def _product(pieces: list[str], values: Mapping[str, int]) -> tuple[Fraction | None, list[str]]:
    total, pieces = _power(pieces, values)
    while total is not None and pieces and pieces[0] not in ("+", "-", ")"):
        divides = pieces[0] == "/"
        term, pieces = _power(pieces[1:] if pieces[0] in "*/" else pieces, values)
        if not term:
            return None, pieces
        total = total / term if divides else total * term
    return total, pieces


def _power(pieces: list[str], values: Mapping[str, int]) -> tuple[Fraction | None, list[str]]:
    if not pieces:
        return None, pieces
    head, rest = pieces[0], pieces[1:]
    found: Fraction | None
    if head == "(":
        found, rest = _sum(rest, values)
        if found is None or rest[:1] != [")"]:
            return None, rest
        rest = rest[1:]
    elif head in values:
        found = Fraction(values[head])
    else:
        found = Fraction(head) if head[0].isdigit() else None
    if found is not None and rest[:1] == ["^"]:
        if len(rest) < 2 or rest[1] not in ("2", "3"):
            return None, rest
        found, rest = found ** int(rest[1]), rest[2:]
    return found, rest
