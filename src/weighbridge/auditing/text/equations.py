"""Find the equations in a text: chains of formulas joined by equals signs, with the words in front of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.expressions import ParsedTerm, Term, parse
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.values import is_lone, names
from weighbridge.auditing.text.whole_sides import is_followed_by_more, is_rest_of_more
from weighbridge.core._namedtuple import NamedTuple

_FARTHEST = 120
"""Tokens that the left side of an equation may begin before its sign."""


class Side(NamedTuple):
    """One side of an equation: its term, and where its tokens stand in the statement."""

    term: Term
    start: int
    end: int


class Chain(NamedTuple):
    """Sides that are said to be equal.

    Attributes:
        tokens: The statement it stands in.
        sides: One or more; a single one where only words stand before the sign.
        start: Index of the first token of the chain; what is before it in the statement are its words.
    """

    tokens: Sequence[Token]
    sides: tuple[Side, ...]
    start: int
    end: int


def chains(statement: Sequence[Token]) -> Iterator[Chain]:
    """Yield the equations of one statement, in their order."""
    signs = [index for index, token in enumerate(statement) if token.kind == "rel"]
    floor, position = 0, 0
    while position < len(signs):
        sign = signs[position]
        left = _left_side(statement, floor, sign)
        sides = [left] if left else []
        while True:
            nearest = signs[position + 1] if position + 1 < len(signs) else len(statement)
            right = _right_side(statement, signs[position] + 1, nearest)
            if right is None:
                break
            sides.append(right)
            if right.end != nearest or nearest == len(statement):
                break
            position += 1
        position += 1
        end = sides[-1].end if sides else sign + 1
        start = sides[0].start if left else sign
        if left and len(sides) > _SIDES and _is_end_of_formula(statement, floor, start):
            left, sides, start = (
                None,
                sides[1:],
                sides[1].start - 1,
            )  # ``r(d + k) = 16 × 8192 = 131,072``: what follows is equal all the same
        if sides and not (left and (_is_end_of_formula(statement, floor, start) or _is_of_code(statement, floor, sides))):
            yield Chain(statement, tuple(sides), start, end)
        floor = max(end, sign + 1)


def _is_end_of_formula(statement: Sequence[Token], floor: int, start: int) -> bool:
    """Tell whether what stands left of the sign goes on something that cannot be read: then it is not judged in part."""
    if is_rest_of_more(statement, start):
        return True  # ``(s + o)h + 2h^2`` goes on a factor
    if start > floor and statement[start - 1].end == statement[start].start and statement[start - 1].text in (",", ".", "_"):
        return True  # ``37632,000 * 4,096`` begins in the middle of a number
    if start > floor and statement[start - 1].kind == "num" and statement[start - 1].end == statement[start].start:
        return True  # ``18rh / 12h^2`` is no h^2
    if statement[start].kind == "num" and statement[start].text.startswith("00"):
        return True
    if _is_labelled_term(statement, floor, start) or _is_rest_of_number(statement, start):
        return True
    if (start > floor and statement[start - 1].text in ("…", "⋯")) or (
        start - 1 > floor and statement[start - 1].text == statement[start - 2].text == "."
    ):
        return True  # ``… 837,184 + 590,592`` was cut off
    if start > floor and statement[start].kind == "(" and statement[start - 1].kind == "num" and not statement[start - 1].unit:
        return True  # ``12 (H^2 + H)`` may be a product
    return start - floor > 1 and statement[start - 1].text in ("+", "-", "−", "×", "*", "/")


def _is_labelled_term(statement: Sequence[Token], floor: int, start: int) -> bool:
    """Tell whether a label stands before a formula and a sign of addition before that: ``weights(2+4) + states(4+4) = 14`` has terms of which only the last can be read."""
    place = start - 1
    while place > floor and start - place < _LABEL and (statement[place].kind in ("word", "name") or statement[place].text == ":"):
        place -= 1
    return floor < place < start - 1 and statement[place].text == "+" and statement[place].line == statement[start].line


_SIDES = 2
"""Sides of which the first cannot be left away: nothing would be equal to the other."""
_LABEL = 5
"""Tokens of a label at most."""


def _is_rest_of_number(statement: Sequence[Token], start: int) -> bool:
    """Tell whether a formula begins with the last three digits of a number, the others set apart by a space: ``100 278 × 4,096``."""
    first, before = statement[start], statement[start - 1] if start else None
    if before is None or before.kind != "num" or before.unit or before.places or before.line != first.line or len(before.text) > _GROUP:
        return False
    return first.kind == "num" and len(first.text) == _GROUP and first.start - before.end == 1


_GROUP = 3


def _is_of_code(statement: Sequence[Token], floor: int, sides: Sequence[Side]) -> bool:
    """Tell whether a sign claims nothing: behind an index or an argument, ``shape[-1] == 2``, or behind a name's number, ``β1 = 0.95``."""
    left = statement[sides[0].start : sides[0].end]
    if len(left) == _BRACKETED and left[0].kind == "(" and left[1].text in ("-", "−") and left[2].kind == "num":
        return True
    before = statement[sides[0].start - 1] if sides[0].start > floor else None
    if before is None or len(left) != 1 or left[0].kind != "num" or before.line != left[0].line or before.end != left[0].start:
        return False
    return _GREEK.fullmatch(before.text) is not None


_GREEK = pattern("[α-ωΑ-Ω]+")
_BRACKETED = 4
"""Tokens of a negative number in brackets."""


def _left_side(statement: Sequence[Token], floor: int, sign: int) -> Side | None:
    """Find the longest formula that ends right before the sign."""
    start = sign
    while start > max(floor, sign - _FARTHEST) and _is_piece(statement, start - 1):
        start -= 1
    for begin in range(start, sign):
        before = statement[begin - 1] if begin > floor else None
        if before is not None and begin > start and before.kind == "op" and not _is_bullet(statement, begin - 1):
            continue
        if statement[begin].kind == "op":
            continue
        parsed = parse(statement, begin, sign)
        if parsed is not None and parsed.end == sign and not parsed.dangling:
            if _is_name_of_it(statement, parsed.term, begin, floor) or _is_remark(statement, parsed.term, begin, floor):
                return None
            if begin > floor and statement[begin - 1].kind == "op" and not _is_bullet(statement, begin - 1):
                return None
            return Side(parsed.term, begin, sign)
    return None


def _is_piece(statement: Sequence[Token], at: int) -> bool:
    return statement[at].kind in ("num", "name", "op", "(", ")")


def _is_bullet(statement: Sequence[Token], at: int) -> bool:
    """Tell whether a minus or star only introduces an item, or is a dash between words."""
    token = statement[at]
    if token.text not in "-*+" or token.kind != "op":
        return False
    first = at == 0 or statement[at - 1].line != token.line
    after = at + 1 < len(statement) and statement[at + 1].spaced
    dash = token.text == "-" and at > 0 and token.spaced and statement[at - 1].kind in ("word", ")") and after
    return after and (first or dash)


def _is_name_of_it(statement: Sequence[Token], term: Term, begin: int, floor: int) -> bool:
    """Tell whether a single name or small number is only the end of the words before the sign."""
    if not is_lone(term) or not isinstance(term, Token):
        return False
    before = statement[begin - 1] if begin > floor else None
    if before is None or before.line != statement[begin].line:
        return False
    worded = before.kind in ("word", "name") or (before.kind == ")" and term.kind == "name")
    if term.kind == "name":
        return worded
    return worded and term.value is not None and term.value < 1000 and not term.unit


def _is_remark(statement: Sequence[Token], term: Term, begin: int, floor: int) -> bool:
    """Tell whether a small number in parentheses only says what the word before it is: ``× precision_size (2 Bytes) =``."""
    small = isinstance(term, Token) and term.kind == "num" and term.value is not None and term.value < _SMALL
    return small and statement[begin].kind == "(" and begin > floor and statement[begin - 1].kind in ("word", "name")


_SMALL = 1000


def _right_side(statement: Sequence[Token], start: int, limit: int) -> Side | None:
    parsed = parse(statement, start, limit)
    if parsed is None or (parsed.dangling and not (_is_dash(statement, parsed.end, limit) or _is_rate(statement, parsed.end))):
        return None
    end = parsed.end
    if is_followed_by_more(statement, end, limit):
        return None
    following = statement[end] if end < len(statement) else None
    if following is not None and end < limit and following.line == statement[end - 1].line:
        glued = following.start == statement[end - 1].end
        if glued and (following.kind == "num" or (following.text == "," and _has_digit_after(statement, end))):
            return None
        if following.kind == "op" and not _is_rate(statement, end) and not _is_dash(statement, end, limit):
            return None
        if following.kind == "word" and _goes_on_behind(statement, end):
            return None
        if following.kind == "(" and glued and _goes_on_in(statement, parsed, end):
            return None
        if following.kind in ("word", "name") and glued and statement[end - 1].kind in ("name", "num") and following.text.isascii():
            return None  # ``5rh`` is no 5
    return Side(parsed.term, start, end)


def _is_rate(statement: Sequence[Token], at: int) -> bool:
    """Tell whether a stroke only says what an amount is for: ``0.5 MB/token``."""
    return at + 1 < len(statement) and statement[at].text == "/" and statement[at + 1].kind == "word"


def _goes_on_behind(statement: Sequence[Token], end: int) -> bool:
    """Tell whether a sum goes on behind words: ``65,535 - 8 bytes UDP header - 20 bytes``; a part of it is not judged."""
    for at in range(end, min(end + _WORDS, len(statement) - 1)):
        if statement[at].line != statement[end].line:
            return False
        if statement[at].kind != "word":
            return statement[at].kind == "op" and statement[at + 1].kind in ("num", "name")
    return False


_WORDS = 4
"""Words that may stand between two numbers of a sum."""


def _goes_on_in(statement: Sequence[Token], parsed: ParsedTerm, end: int) -> bool:
    """Tell whether parentheses right behind a term are a factor of it, ``4(s + o)``, or a name's, and no remark."""
    if isinstance(parsed.term, Token) and parsed.term.kind == "name":
        return True
    inside = next((token for token in statement[end + 1 : end + 3] if token.kind == "op"), None)
    return inside is not None and statement[end - 1].kind == "num" and not statement[end - 1].unit and bool(names(parsed.term))


def _is_dash(statement: Sequence[Token], at: int, limit: int) -> bool:
    """Tell whether a minus is a dash before words."""
    if at >= limit or statement[at].text != "-" or at + 1 >= limit:
        return at < limit and statement[at].kind == "op" and statement[at].text == "*" and at + 1 == limit
    return statement[at].spaced and statement[at + 1].spaced and statement[at + 1].kind == "word"


def _has_digit_after(statement: Sequence[Token], at: int) -> bool:
    return at + 1 < len(statement) and statement[at + 1].kind == "num" and statement[at + 1].start == statement[at].end
