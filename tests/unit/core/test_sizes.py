"""Sizes: products, exact quotients, rounding up."""

from __future__ import annotations

import pytest

from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.formula import Symbol, evaluate
from weighbridge.core.polynomials import polynomial
from weighbridge.core.sizes import exact, layer_range, product, round_up
from weighbridge.core.tree import Part, Tensor, list_rows


def test_a_scalar_has_one_element_and_an_empty_axis_none() -> None:
    assert product(()) == 1
    assert product((0, 5)) == 0


def test_a_product_is_exact_beyond_64_bits() -> None:
    assert product((2**40, 2**40, 3)) == 3 * 2**80


def test_exact_division_refuses_a_remainder() -> None:
    assert exact(768, 12) == 64
    with pytest.raises(ConfigError, match="770 is not divisible by 12"):
        exact(770, 12)


def test_exact_division_refuses_what_is_no_whole_number() -> None:
    with pytest.raises(ConfigError, match=r"1 / 2\.5: sizes are whole numbers"):
        exact(1, 2.5)  # type: ignore[arg-type]


def test_exact_division_of_symbols_either_way_round() -> None:
    H, A = Symbol("H"), Symbol("A", order=1)
    assert polynomial(exact(H, A) * A) == polynomial(H)
    assert evaluate(exact(64, A), {"A": 4}) == 16


@pytest.mark.parametrize(("size", "multiple", "rounded"), [(1, 64, 64), (64, 64, 64), (65, 64, 128), (0, 8, 0)])
def test_round_up(size: int, multiple: int, rounded: int) -> None:
    assert round_up(size, multiple) == rounded
    assert evaluate(round_up(Symbol("n"), multiple), {"n": size}) == rounded


def test_as_many_layers_are_looked_at_as_is_said_and_no_more() -> None:
    assert len(layer_range(100_000)) == 5 + len(layer_range(5, 100_000)) == 100_000
    for ends in ((100_001,), (5, 100_001)):
        with pytest.raises(UsageError, match="100,001 layers, which are looked at one by one; the most accepted is 100,000"):
            layer_range(*ends)


def test_as_many_tensors_are_listed_as_is_said_and_no_more() -> None:
    layers = Part("", (Part("h", (Tensor("a", (1,)), Part("m", (Tensor("b", (1,)),), repeat=2)), repeat=5),))
    assert len(list_rows(layers, 15)) == 15
    with pytest.raises(UsageError, match=r"15 tensors; at most 14 are listed by name"):
        list_rows(layers, 14)
    with pytest.raises(UsageError, match="1,000,001 tensors; at most 1,000,000 are listed by name"):
        list_rows(Part("", (Part("h", (Tensor("a", (1,)),), repeat=1_000_001),)))
