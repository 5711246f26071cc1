"""A small precedence parser: from tokens to a term, and from a term to an exact number or a polynomial.

Nothing is evaluated but the four operations and bounded powers; depth, length and size are bounded, so that no
text can make it hang.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

_DEEPEST = 40
LARGEST = 10**60
_LONGEST = 400
"""Tokens; a longer formula is no formula that a person wrote."""


class Binary(NamedTuple):
    """An operation on two terms."""

    operation: str
    left: Term
    right: Term


class Negative(NamedTuple):
    """A term with a minus sign."""

    term: Term


Term: TypeAlias = "Token | Binary | Negative"
"""A number or a name (a token), or an operation on terms."""


class ParsedTerm(NamedTuple):
    """A term, where it ends, and whether an operation follows it that leads nowhere."""

    term: Term
    end: int
    dangling: bool


class _Unreadable(Exception):
    """There is no term here."""


def parse(tokens: Sequence[Token], start: int, end: int) -> ParsedTerm | None:
    """Read the longest term that starts at *start*.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> parse(tokens("2 * (3 + 4) words", 0), 0, 8).end
    7
    """
    if start < end and tokens[start].kind == "num" and (start + 1 == end or tokens[start + 1].kind not in ("op", "name", "(")):
        return ParsedTerm(tokens[start], start + 1, False)  # a number alone, as most are
    if all(token.kind == "(" for token in tokens[start : start + _DEEPEST]):
        return None
    try:
        term, position, dangling = _sum(tokens, start, min(end, start + _LONGEST), 0)
    except _Unreadable:
        return None
    return ParsedTerm(term, position, dangling)


def _sum(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int, bool]:
    if depth > _DEEPEST:
        raise _Unreadable
    negative = at < end and tokens[at].kind == "op" and tokens[at].text == "-"
    term, at, dangling = _product(tokens, at + negative, end, depth)
    term = Negative(term) if negative else term
    while not dangling and at < end and tokens[at].kind == "op" and tokens[at].text in "+-":
        operation = tokens[at].text
        try:
            right, after, dangling = _product(tokens, at + 1, end, depth)
        except _Unreadable:
            return term, at, True
        term, at = Binary(operation, term, right), after
    return term, at, dangling


def _product(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int, bool]:
    term, at = _power(tokens, at, end, depth)
    while at < end:
        token = tokens[at]
        if token.kind == "op" and token.text in "*/":
            try:
                right, after = _power(tokens, at + 1, end, depth)
            except _Unreadable:
                return term, at, True
            if token.text == "/" and _is_scientific(tokens, at + 1, end):
                power, after = _power(tokens, at + 3, end, depth)
                right = Binary("*", right, power)
            term, at = Binary(token.text, term, right), after
            continue
        if not _multiplies(tokens, at, end, term):
            break
        try:
            right, after = _power(tokens, at, end, depth)
        except _Unreadable:
            break
        term, at = Binary("*", term, right), after
    return term, at, False


def _is_scientific(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Tell whether a number with its power of ten begins here, which is divided by as a whole: ``3×10^23 / 1.5×10^17``."""
    pieces = tokens[at : min(end, at + 4)]
    return len(pieces) == 4 and [piece.text for piece in pieces[1:]] == ["*", "10", "^"] and pieces[0].kind == "num"


def _power(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int]:
    term, at = _operand(tokens, at, end, depth)
    if at + 1 < end and tokens[at].kind == "op" and tokens[at].text == "^":
        right, at = _operand(tokens, at + 1, end, depth)
        return Binary("^", term, right), at
    return term, at


def _operand(tokens: Sequence[Token], at: int, end: int, depth: int) -> tuple[Term, int]:
    if at >= end:
        raise _Unreadable
    token = tokens[at]
    if token.kind in ("num", "name"):
        return token, at + 1
    if token.kind != "(":
        raise _Unreadable
    term, at, dangling = _sum(tokens, at + 1, end, depth + 1)
    if dangling or at >= end or tokens[at].kind != ")":
        raise _Unreadable
    return term, at + 1


def _multiplies(tokens: Sequence[Token], at: int, end: int, left: Term) -> bool:
    """Tell whether what follows without a sign is a factor: ``4H``, ``12LH``, ``2(4H + 1)``."""
    token, before = tokens[at], tokens[at - 1]
    if token.start != before.end or token.line != before.line:
        return _is_spaced_product(tokens, at, end)
    if token.kind == "name":
        lettered = len(token.text) == 1 and (before.kind == "num" or (before.kind == "name" and len(before.text) == 1))
        return lettered and before.unit == ""
    if token.kind == "(" and before.kind == "name" and before.text in ("l", "L", "N", "n"):
        return True  # ``l(12h^2 + 13h)``: so many layers
    if token.kind != "(" or before.kind not in ("num", ")") or before.unit:
        return False
    if before.kind == "num" and (before.value is None or before.value >= 1000 or before.places):
        return False
    return _holds_sum(tokens, at, end)


def _is_spaced_product(tokens: Sequence[Token], at: int, end: int) -> bool:
    """Tell whether a number and a letter with a space between them are a term of a sum: ``7,084,800 + 4 H = ...``."""
    token, before = tokens[at], tokens[at - 1]
    lettered = token.kind == "name" and len(token.text) == 1 and before.kind == "num" and not before.unit and token.line == before.line
    after = tokens[at + 1] if at + 1 < len(tokens) else None
    closed = after is None or after.kind in ("op", "rel", ")") or after.line != token.line
    return lettered and closed and at > 1 and tokens[at - 2].kind == "op" and tokens[at - 2].line == token.line


def _holds_sum(tokens: Sequence[Token], at: int, end: int) -> bool:
    for place in range(at + 1, min(end, at + 40)):
        if tokens[place].kind == ")":
            return False
        if tokens[place].kind == "op" and tokens[place].text in "+-":
            return True
        if tokens[place].kind not in ("num", "name", "op", "("):
            return False
    return False
