"""Find the equations in a text: chains of formulas joined by equals signs, with the words in front of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from weighbridge.auditing.claims import Line
from weighbridge.auditing.text.expressions import Parsed, Term, is_lone, names, parse
from weighbridge.auditing.text.tokens import Token, tokens

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
        labelled: Whether only words stand before the first sign.
    """

    tokens: Sequence[Token]
    sides: tuple[Side, ...]
    start: int
    labelled: bool
    end: int


def statements(lines: Sequence[Line]) -> list[list[Token]]:
    """Split every line into tokens; a line that begins with an equals sign goes on with the one before it.

    >>> from weighbridge.auditing.text.reading import read_lines
    >>> [len(s) for s in statements(read_lines(b"2 + 3"  b"\\n= 5"))]
    [5]
    """
    found: list[list[Token]] = []
    last_line = -9
    for index, line in enumerate(lines):
        here = _without_nouns(_without_remarks(_values_of_words(_one_sign(tokens(line.text, index))))) if line.text else []
        if not here:
            continue
        if found and index - last_line <= 2 and _goes_on(found[-1], here) and len(found[-1]) < 400:
            if found[-1][-1].text in (";", "&"):
                found[-1].pop()
            found[-1].extend(here)
        else:
            found.append(here)
        last_line = index
    return found


def _one_sign(line: list[Token]) -> list[Token]:
    """Read ``= ~`` and ``= about`` as one sign, which says that what follows is near."""
    doubled = {place for place, (token, after) in enumerate(pairwise(line)) if token.text == "=" and after.text == "≈"}
    hedged = {place + 1 for place, (token, after) in enumerate(pairwise(line)) if token.kind == "rel" and after.text.lower() in _NEARLY}
    if not doubled and not hedged:
        return line
    signs = [token._replace(text="≈") if place + 1 in hedged else token for place, token in enumerate(line)]
    return [token for place, token in enumerate(signs) if place not in doubled | hedged]


_NEARLY = frozenset("约 大约 约为 about approximately roughly approx circa".split())


def _values_of_words(line: list[Token]) -> list[Token]:
    """Read ``attn (2.4M) + ffn (4.7M) = 7.1M`` as the sum of the numbers in parentheses."""
    found: list[Token] = []
    index = 0
    while index < len(line):
        if _is_valued_word(line, index):
            found.append(line[index + 2]._replace(spaced=line[index].spaced))
            index += 4
        else:
            found.append(line[index])
            index += 1
    return found


def _is_valued_word(line: Sequence[Token], at: int) -> bool:
    if at + 4 > len(line) or [token.kind for token in line[at : at + 4]][1:] != ["(", "num", ")"] or line[at].kind not in ("word", "name"):
        return False
    before = line[at - 1] if at else None
    after = line[at + 4] if at + 4 < len(line) else None
    added = (before is not None and before.text == "+", after is not None and after.text == "+")
    return any(added) and all(near is None or near.text == "+" or near.kind in ("rel", "sep", "word", "name") for near in (before, after))


def _without_remarks(line: list[Token]) -> list[Token]:
    """Leave out words in parentheses that only remark on a factor: ``768*3072 (4H in the paper) + 3072``."""
    if not any(token.kind == "(" for token in line):
        return line
    kept: list[Token] = []
    index = 0
    while index < len(line):
        token = line[index]
        closing = (
            next((i for i in range(index + 1, min(index + _REMARK, len(line))) if line[i].kind == ")"), None) if token.kind == "(" else None
        )
        if closing is not None and kept and kept[-1].kind in ("num", "name", ")") and closing + 1 < len(line):
            inside, after = line[index + 1 : closing], line[closing + 1]
            worded = any(piece.kind == "word" for piece in inside) and not any(piece.kind in ("rel", "(") for piece in inside)
            if worded and after.kind in ("op", "rel"):
                index = closing + 1
                continue
        kept.append(token)
        index += 1
    return kept


def _without_nouns(line: list[Token]) -> list[Token]:
    """Leave out what the factors of a product count: ``28 layers × 8 KV heads × 128 head_dim = ...``."""
    if not any(token.text == "*" for token in line):
        return line
    kept: list[Token] = []
    index = 0
    while index < len(line):
        kept.append(line[index])
        if line[index].kind == "num":
            end = index + 1
            while end < len(line) and end - index <= _NOUN and _is_noun(line[end]):
                end += 1
            following = line[end] if end < len(line) else None
            factor = (index > 0 and line[index - 1].text == "*") or (following is not None and following.text == "*")
            if end > index + 1 and factor and following is not None and following.kind in ("op", "rel") and following.text != "-":
                index = end - 1
        index += 1
    return kept


_NOUN = 3
"""Words that may say what a factor counts, at most."""
_COUNTED = frozenset("layers heads kv_heads head_dim positions".split())
_JOINING = frozenset("of and or with to per at is are a the in for from by 和 与 的 每 是 为".split())


def _is_noun(token: Token) -> bool:
    return token.text in _COUNTED if token.kind == "name" else token.kind == "word" and token.text.lower() not in _JOINING


_REMARK = 14
"""Tokens of a remark in parentheses, at most."""


def _goes_on(before: Sequence[Token], here: Sequence[Token]) -> bool:
    last, first = before[-1], here[0]
    if last.text in (";", "&") and len(before) > 1:
        last = before[-2]
    if first.text == "&" and len(here) > 1:
        first = here[1]
    if first.kind == "rel":
        return last.kind in ("num", "name", ")")
    if first.text == "+" and len(here) > 1 and here[1].kind in ("num", "name", "(") and any(token.kind == "rel" for token in before):
        return last.kind in ("num", "name", ")")
    opens = first.kind in ("num", "name", "(")
    return opens and last.kind in ("op", "rel") and len(before) > 1 and before[-2].kind in ("num", "name", ")", "word")


def chains(statement: Sequence[Token]) -> Iterator[Chain]:
    """Yield the equations of one statement, in their order."""
    signs = [index for index, token in enumerate(statement) if token.kind == "rel"]
    floor, position = 0, 0
    while position < len(signs):
        sign = signs[position]
        left = _left(statement, floor, sign)
        sides = [left] if left else []
        while True:
            nearest = signs[position + 1] if position + 1 < len(signs) else len(statement)
            right = _right(statement, signs[position] + 1, nearest)
            if right is None:
                break
            sides.append(right)
            if right.end != nearest or nearest == len(statement):
                break
            position += 1
        position += 1
        end = sides[-1].end if sides else sign + 1
        start = sides[0].start if left else sign
        if sides and not (left and _is_end_of_formula(statement, floor, start)):
            yield Chain(statement, tuple(sides), start, left is None and _is_label(statement, floor, sign), end)
        floor = max(end, sign + 1)


def _is_end_of_formula(statement: Sequence[Token], floor: int, start: int) -> bool:
    """Tell whether what stands left of the sign goes on something that cannot be read: then it is not judged in part."""
    if start > floor and statement[start - 1].kind == ")" and statement[start - 1].end == statement[start].start:
        return True  # ``(s + o)h + 2h^2`` goes on a factor
    if start > floor and statement[start - 1].end == statement[start].start and statement[start - 1].text in (",", ".", "_"):
        return True  # ``37632,000 * 4,096`` begins in the middle of a number
    if statement[start].kind == "num" and statement[start].text.startswith("00"):
        return True
    if (start > floor and statement[start - 1].text in ("…", "⋯")) or (
        start - 1 > floor and statement[start - 1].text == statement[start - 2].text == "."
    ):
        return True  # ``… 837,184 + 590,592`` was cut off
    if start > floor and statement[start].kind == "(" and statement[start - 1].kind == "num" and not statement[start - 1].unit:
        return True  # ``12 (H^2 + H)`` may be a product
    return start - floor > 1 and statement[start - 1].text in ("+", "-", "−", "×", "*", "/")


def _is_label(statement: Sequence[Token], floor: int, sign: int) -> bool:
    return sign > floor and statement[sign - 1].kind in ("word", "name", "num", ")")


def _left(statement: Sequence[Token], floor: int, sign: int) -> Side | None:
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
            if _is_name_of_it(statement, parsed.term, begin, floor):
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


def _right(statement: Sequence[Token], start: int, limit: int) -> Side | None:
    parsed = parse(statement, start, limit)
    if parsed is None or (parsed.dangling and not _is_dash(statement, parsed.end, limit)):
        return None
    end = parsed.end
    following = statement[end] if end < len(statement) else None
    if following is not None and end < limit and following.line == statement[end - 1].line:
        glued = following.start == statement[end - 1].end
        if glued and (following.kind == "num" or (following.text == "," and _digit_after(statement, end))):
            return None
        per = following.text == "/" and end + 1 < len(statement) and statement[end + 1].kind == "word"  # ``0.5 MB/token``
        if following.kind == "op" and not per and not _is_dash(statement, end, limit):
            return None
        if following.kind == "word" and _goes_on_behind(statement, end):
            return None
        if following.kind == "(" and glued and _goes_on_in(statement, parsed, end):
            return None
        if following.kind in ("word", "name") and glued and statement[end - 1].kind == "name" and following.text.isascii():
            return None
    return Side(parsed.term, start, end)


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


def _goes_on_in(statement: Sequence[Token], parsed: Parsed, end: int) -> bool:
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


def _digit_after(statement: Sequence[Token], at: int) -> bool:
    return at + 1 < len(statement) and statement[at + 1].kind == "num" and statement[at + 1].start == statement[at].end
