"""The notations other than plain text: Unicode, LaTeX, MathML and JSON. Each is a handful of strings."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.core.formula import TEXT, Expression, Floor, Notation, Number, Product, Quotient, Sum, Symbol, write

__all__ = ["LATEX", "MATHML", "TEXT", "UNICODE", "Notation", "as_json", "mathml", "with_sign", "write"]

UNICODE = Notation(
    "unicode", minus=" − ", negative="−{}", multiply=" × ", power="{}{}", quotient="{} / {}", floor="⌊{} / {}⌋", separator=","
)
LATEX = Notation(
    "latex",
    multiply=r" \times ",
    group=r"\left({}\right)",
    power="{}^{{{}}}",
    quotient=r"\frac{{{}}}{{{}}}",
    floor=r"\left\lfloor\frac{{{}}}{{{}}}\right\rfloor",
    separator="{,}",
    stacked_quotient=True,
    indexed=r"{}_{{\mathrm{{{}}}}}",
)
MATHML = Notation(
    "mathml",
    plus="<mo>+</mo>",
    minus="<mo>−</mo>",
    negative="<mo>−</mo>{}",
    multiply="<mo>×</mo>",
    group="<mrow><mo>(</mo>{}<mo>)</mo></mrow>",
    power="<msup>{}<mn>{}</mn></msup>",
    quotient="<mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac>",
    floor="<mrow><mo>⌊</mo><mfrac><mrow>{}</mrow><mrow>{}</mrow></mfrac><mo>⌋</mo></mrow>",
    number="<mn>{}</mn>",
    symbol="<mi>{}</mi>",
    row="<mrow>{}</mrow>",
    separator=",",
    stacked_quotient=True,
    indexed="<msub>{}<mtext>{}</mtext></msub>",
)


def with_sign(number: int) -> str:
    """Write a difference: thousands separated, with its sign.

    >>> with_sign(-7168), with_sign(512)
    ('−7,168', '+512')
    """
    return f"{number:+,}".replace("-", "−")


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
