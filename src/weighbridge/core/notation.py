"""How a formula is written: plain text, Unicode, LaTeX, MathML or JSON, with letters or with numbers.

Each notation is a handful of strings; the walk over the expression is one, so that the
notations cannot come to differ in what they say.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import NamedTuple

from weighbridge.core.formula import Expression, Floor, Number, Product, Quotient, Sum, Symbol

SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Notation(NamedTuple):
    """The strings of one notation. ``{}`` stands for what is written inside."""

    name: str
    plus: str = " + "
    minus: str = " - "
    negative: str = "-{}"
    multiply: str = "*"
    group: str = "({})"
    power: str = "{}^{}"
    quotient: str = "{}/{}"
    floor: str = "({} // {})"
    number: str = "{}"
    symbol: str = "{}"
    row: str = "{}"
    separator: str = ""
    stacked_quotient: bool = False
    indexed: str = ""


TEXT = Notation("text")
UNICODE = Notation(
    "unicode", minus=" − ", negative="−{}", multiply=" × ", power="{}{}", quotient="{} / {}", floor="⌊{} / {}⌋", separator=","
)
LATEX = Notation("latex", multiply=r" \times ", group=r"\left({}\right)", power="{}^{{{}}}", quotient=r"\frac{{{}}}{{{}}}",
                 floor=r"\left\lfloor\frac{{{}}}{{{}}}\right\rfloor", separator="{,}", stacked_quotient=True,
                 indexed=r"{}_{{\mathrm{{{}}}}}")  # fmt: skip
MATHML = Notation("mathml", plus="<mo>+</mo>", minus="<mo>−</mo>", negative="<mo>−</mo>{}", multiply="<mo>×</mo>",
                  group="<mrow><mo>(</mo>{}<mo>)</mo></mrow>", power="<msup>{}<mn>{}</mn></msup>",
                  quotient="<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
                  floor="<mrow><mo>⌊</mo><mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac><mo>⌋</mo></mrow>",
                  number="<mn>{}</mn>", symbol="<mi>{}</mi>", row="<mrow>{}</mrow>", separator=",", stacked_quotient=True,
                  indexed="<msub>{}<mtext>{}</mtext></msub>")  # fmt: skip


def write(expression: Expression, notation: Notation = TEXT, values: Mapping[str, int] | None = None) -> str:
    """Write *expression* in *notation*; with *values*, numbers stand where the letters stood.

    >>> H = Symbol("H")
    >>> write(4 * (H * H + H), UNICODE), write(4 * (H * H + H), UNICODE, {"H": 768})
    ('4 × (H² + H)', '4 × (768² + 768)')
    >>> write(4 * (H * H + H), LATEX)
    '4 \\\\times \\\\left(H^{2} + H\\\\right)'
    """
    match expression:
        case Number():
            return _number(expression.value, notation)
        case Symbol():
            if values is not None and expression.letter in values:
                return _number(values[expression.letter], notation)
            return _letter(expression.letter, notation)
        case Sum():
            return "".join(_signed(term, index, notation, values) for index, term in enumerate(expression.terms))
        case Product():
            return _product(expression, notation, values)
        case Quotient() | Floor():
            above, below = write(expression.numerator, notation, values), write(expression.denominator, notation, values)
            if not notation.stacked_quotient:
                above = _grouped(above, expression.numerator, (Sum,), notation)
                below = _grouped(below, expression.denominator, (Sum, Product, Quotient), notation)
            return (notation.floor if isinstance(expression, Floor) else notation.quotient).format(above, below)
        case _:
            raise TypeError(f"{type(expression).__name__} is no formula")


def mathml(expression: Expression, values: Mapping[str, int] | None = None) -> str:
    """Write a whole ``<math>`` element.

    >>> mathml(Symbol("H") + 1)
    '<math><mrow><mi>H</mi><mo>+</mo><mn>1</mn></mrow></math>'
    >>> mathml(Symbol("H_text") * Symbol("H_text"))
    '<math><mrow><msubsup><mi>H</mi><mtext>text</mtext><mn>2</mn></msubsup></mrow></math>'
    """
    return f"<math><mrow>{write(expression, MATHML, values)}</mrow></math>"


def as_json(expression: Expression) -> object:
    """Write as nested lists: a letter, a number, or ``[operator, operand, ...]``.

    >>> as_json(4 * (Symbol("H") + 1))
    ['*', 4, ['+', 'H', 1]]
    """
    match expression:
        case Number():
            return expression.value
        case Symbol():
            return expression.letter
        case Sum():
            return ["+", *map(as_json, expression.terms)]
        case Product():
            return ["*", *map(as_json, expression.factors)]
        case Quotient():
            return ["/", as_json(expression.numerator), as_json(expression.denominator)]
        case Floor():
            return ["//", as_json(expression.numerator), as_json(expression.denominator)]
        case _:
            raise TypeError(f"{type(expression).__name__} is no formula")


def _letter(letter: str, notation: Notation) -> str:
    head, _, index = letter.partition("_")
    if not index or not notation.indexed:
        return notation.symbol.format(letter)
    return notation.indexed.format(notation.symbol.format(head), index)


def _raised(inner: str, exponent: str, notation: Notation) -> str:
    if notation.name == "mathml" and inner.startswith("<msub>"):
        # An index and an exponent of one letter stand one above the other.
        return inner.replace("msub>", "msubsup>").replace("</mtext>", f"</mtext><mn>{exponent}</mn>")
    return notation.power.format(inner, exponent)


def _number(value: int, notation: Notation) -> str:
    digits = f"{value:,}".replace(",", notation.separator)
    return notation.number.format(digits) if value >= 0 else notation.group.format(notation.number.format(digits))


def _signed(term: Expression, index: int, notation: Notation, values: Mapping[str, int] | None) -> str:
    constant = term.value if isinstance(term, Number) else None
    if isinstance(term, Product) and isinstance(term.factors[0], Number):
        constant = term.factors[0].value
    if constant is None or constant >= 0:
        return (notation.plus if index else "") + write(term, notation, values)
    positive = -1 * term
    flipped = _grouped(write(positive, notation, values), positive, (Sum,), notation)
    return notation.minus + flipped if index else notation.negative.format(flipped)


def _product(expression: Product, notation: Notation, values: Mapping[str, int] | None) -> str:
    pieces = []
    for factor, run in groupby(expression.factors, key=lambda f: f):
        power = sum(1 for _ in run)
        inner = write(factor, notation, values)
        if isinstance(factor, Sum) or (isinstance(factor, Quotient) and (power > 1 or not notation.stacked_quotient)):
            inner = notation.group.format(inner)
        if power > 1:
            exponent = str(power).translate(SUPERSCRIPTS) if notation.name == "unicode" else str(power)
            inner = _raised(inner, exponent, notation)
        pieces.append(inner)
    return notation.multiply.join(pieces)


def _grouped(text: str, expression: Expression, kinds: tuple[type[Expression], ...], notation: Notation) -> str:
    return notation.group.format(text) if isinstance(expression, kinds) else text
