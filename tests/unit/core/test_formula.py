"""Formulas: the ring, with SymPy as the oracle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from tests.property.strategies import LETTERS, SYMBOLS, expressions, large_numbers
from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import evaluate, times, total
from weighbridge.core.polynomials import Polynomial, polynomial
from weighbridge.core.sizes import Size, exact, round_up

H, A, L = SYMBOLS["H"], SYMBOLS["A"], SYMBOLS["L"]


def oracle(size: Size) -> Any:
    import sympy

    names = {letter: sympy.Symbol(letter) for letter in LETTERS}
    return sympy.sympify(str(size).replace("^", "**").replace(",", ""), locals=names)


@given(expressions)
@settings(max_examples=150, deadline=None)
def test_the_polynomial_is_what_sympy_expands_to(size: Size) -> None:
    assert (oracle(size) - oracle(polynomial(size).expression())).expand() == 0


@given(expressions, large_numbers)
@settings(max_examples=150, deadline=None)
def test_expression_and_polynomial_have_the_same_value(size: Size, given_values: dict[str, int]) -> None:
    assert evaluate(size, given_values) == evaluate(polynomial(size).expression(), given_values)


@given(expressions, expressions)
@settings(max_examples=100, deadline=None)
def test_a_product_divides_by_its_factor(a: Size, b: Size) -> None:
    left, right = polynomial(a), polynomial(b)
    if right.terms:
        assert (left * right).over(right) == left


def test_equal_formulas_are_equal_polynomials_and_unequal_ones_are_not() -> None:
    assert polynomial(4 * (H * H + H)) == polynomial(H * 4 + H * H * 4)
    assert polynomial(3 * H * H) != polynomial(exact(3 * H * H, A))
    assert hash(polynomial(H + 1)) == hash(polynomial(1 + H))


def test_terms_stand_highest_degree_first() -> None:
    assert str(polynomial(3 * H + L * H * H - 7)) == "H^2*L + 3*H - 7"


def test_an_unexpanded_expression_stays_as_written() -> None:
    assert str(4 * (H * H + H)) == "4*(H^2 + H)"
    assert str(total(())) == "0"
    assert str(times((0, H))) == "0"
    assert str(-1 * H + 3) == "-H + 3"


def test_exact_quotients_cancel() -> None:
    assert polynomial(A * exact(H, A)) == polynomial(H)
    assert str(polynomial(3 * exact(H, A) * H)) == "3*H^2/A"
    assert str(polynomial(exact(H, 2))) == "H/2"
    assert polynomial(exact(H * H - 1, H - 1)) == polynomial(H + 1)


def test_a_quotient_rounded_down_is_opaque_unless_it_is_whole() -> None:
    assert str(polynomial(round_up(H, 64))) == "64*((H + 63) // 64)"
    assert polynomial((4 * H) // 2) == polynomial(2 * H)
    assert polynomial(round_up(H, 64)) == polynomial(64 * ((63 + H) // 64))


@pytest.mark.parametrize("act", [bool, int, range, float])
def test_a_symbol_cannot_be_asked_what_it_is(act: type) -> None:
    with pytest.raises(TypeError):
        act(H)
    with pytest.raises(TypeError):
        sorted([H, A])  # type: ignore[type-var]


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ConfigError, match="no value for the symbol H"):
        evaluate(H, {})


def test_nothing_else_is_a_formula() -> None:
    with pytest.raises(TypeError):
        polynomial("H")  # type: ignore[arg-type]
    assert Polynomial({}).over(Polynomial({})) is None
