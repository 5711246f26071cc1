"""Notations: the same formula in text, Unicode, LaTeX, MathML and JSON."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from weighbridge.core.formula import TEXT, Expression, Notation, Symbol, as_expression, write
from weighbridge.core.notation import LATEX, UNICODE, as_json, mathml
from weighbridge.core.sizes import exact, round_up

H, A = Symbol("H"), Symbol("A", order=1)
H_v = Symbol("H_vision", order=2)


@pytest.mark.parametrize(
    ("notation", "text"),
    [(TEXT, "4*(H^2 - H)"), (UNICODE, "4 × (H² − H)"), (LATEX, r"4 \times \left(H^{2} - H\right)")],
)
def test_one_formula_in_each_notation(notation: Notation, text: str) -> None:
    assert write(4 * (H * H - H), notation) == text


def test_numbers_stand_where_letters_stood() -> None:
    formula = 4 * (H * H + H)
    assert write(formula, UNICODE, {"H": 768}) == "4 × (768² + 768)"
    assert write(H * 1000, UNICODE, {"H": 30522}) == "1,000 × 30,522"
    assert write(H * 1000, LATEX, {"H": 30522}) == r"1{,}000 \times 30{,}522"


def test_quotients_are_bracketed_only_where_needed() -> None:
    assert write(as_expression(exact(H + 1, A)), TEXT) == "(H + 1)/A"
    assert write(as_expression(exact(H, A * H)), TEXT) == "H/(A*H)"
    assert write(as_expression(exact(H, A) * 3), TEXT) == "3*(H/A)"
    assert write(as_expression(exact(H + 1, A)), LATEX) == r"\frac{H + 1}{A}"
    assert write(as_expression(round_up(H, 8)), UNICODE) == "8 × ⌊(H + 7) / 8⌋"


def test_an_index_is_set_as_one() -> None:
    assert write(H_v, TEXT) == "H_vision"
    assert write(H_v, LATEX) == r"H_{\mathrm{vision}}"


@pytest.mark.parametrize("formula", [4 * (H * H - H), exact(H, A), round_up(H, 8), -1 * H + 3, H_v + 1])
def test_mathml_is_well_formed(formula: Expression) -> None:
    assert ElementTree.fromstring(mathml(formula)).tag == "math"
    assert ElementTree.fromstring(mathml(formula, {"H": 768, "A": 12, "H_vision": 7})).tag == "math"


def test_json_is_nested_lists() -> None:
    assert as_json(4 * (H * H + exact(H, A)) + round_up(H, 8)) == [
        "+",
        ["*", 4, ["+", ["*", "H", "H"], ["/", "H", "A"]]],
        ["*", 8, ["//", ["+", "H", 7], 8]],
    ]
