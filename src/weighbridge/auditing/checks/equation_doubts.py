"""Equations that may hold though their units, the raising of their powers or an item's number went astray."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from weighbridge.auditing.checks.equation_readings import Equation
from weighbridge.auditing.checks.readings import (
    as_one_fraction,
    is_sum,
    raise_last_digits,
    without_item,
)
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.rounding import likeliest_value, value_bounds
from weighbridge.auditing.text.size_words import BYTES, COUNTING
from weighbridge.auditing.text.values import numbers, value


def is_unlike_in_its_unit(chain: Chain, index: int, base: int) -> bool:
    """Tell whether a sum of bytes all in one unit is not what it says, whatever that unit is: ``51GB + 14GB + 14GB = 84GB``."""
    said, term = chain.sides[index].term, chain.sides[base].term
    inner = numbers(chain.sides[base].term)
    if not isinstance(said, Token) or said.unit not in BYTES or len(inner) < 2 or not is_sum(term):
        return False
    if any(token.unit != said.unit or token.value is None for token in inner):
        return False
    plain, low, high = value(term, lambda token: token.value, {}), *value_bounds(said, Fraction(1))
    half = Fraction(1, 2) / 10**said.places
    least, most = (sum((token.value + sign * Fraction(1, 2) / 10**token.places for token in inner), Fraction(0)) for sign in (-1, 1))
    near = least <= high + half and low - half <= most
    cut = plain is not None and said.value is not None and int(plain * 10**said.places) == said.value * 10**said.places
    return plain is not None and not near and not cut


def leaves_units_out(chain: Chain) -> bool:
    """Tell whether a side adds figures that have their units to others that have lost theirs: ``11.41 + 1.19 + 58 × 44.04M``."""
    tokens = chain.tokens
    for side in chain.sides:
        figures = [at for at in range(side.start, side.end) if tokens[at].kind == "num"]
        bare = [
            at
            for at in figures
            if not tokens[at].unit
            and tokens[at].places
            and (at == side.start or tokens[at - 1].text == "+")
            and (at + 1 == side.end or tokens[at + 1].text == "+")
        ]
        if bare and len(figures) > len(bare) and any(tokens[at].unit in COUNTING for at in figures):
            return True
    return False


def holds_otherwise(equation: Equation, index: int, true: Fraction) -> bool:
    """Tell whether the equation holds with squares that lost their raising (``7682``), or without the item's number."""
    for place, side in enumerate(equation.chain.sides):
        if isinstance(side.term, Token) or place > index:
            continue
        said = true if place == index else equation.values[index]
        candidates = [
            t for t in equation.numbers_in(side) if t.places == 0 and not t.unit and len(t.text) in (3, 4, 5) and t.text[-1] in "23"
        ]
        for chosen in product((False, True), repeat=min(3, len(candidates))):
            raised = {t for t, choose in zip(candidates, chosen, strict=False) if choose}
            if raised and value(raise_last_digits(side.term, raised), likeliest_value, equation.sizes) == said:
                return True
        if as_one_fraction(side.term, equation.sizes) == said:
            return True
        listed = without_item(equation.chain.tokens, side.start)
        if listed is not None and value(side.term, listed, equation.sizes) == said:
            return True
    return False
