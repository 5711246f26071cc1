"""Lines become statements: a line that begins with a sign goes on with the one before it; words that only remark on a factor are left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from weighbridge.auditing.claims import Line
from weighbridge.auditing.text.memory import once_for_each_text, shape_of
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias


def statements(lines: Sequence[Line]) -> list[list[Token]]:
    """Split every line into tokens; a line that begins with an equals sign goes on with the one before it.

    >>> from weighbridge.auditing.text.reading import read_lines
    >>> [len(s) for s in statements(read_lines(b"2 + 3"  b"\\n= 5"))]
    [5]
    """
    found: list[list[Token]] = []
    last_line = -9
    for index, line in enumerate(lines):
        here = _simple_tokens(line.text, index) if line.text else []
        if not here:
            continue
        if found and index - last_line <= 2 and _continues(found[-1], here) and len(found[-1]) < 400:
            if found[-1][-1].text in (";", "&"):
                found[-1].pop()
            found[-1].extend(here)
        else:
            found.append(here)
        last_line = index
    return found


def _simple_tokens(text: str, index: int) -> list[Token]:
    """Return the tokens of a line, simplified; which of them stay, and how they are read, is told once for each shape."""
    line, shape = tokens(text, index), shape_of(text)
    if "0e" in shape or "0E" in shape:
        return _simplify(line)  # a power of ten is read by its digits
    known = _plan_of(shape)
    if not known:
        simple = _simplify(line)
        places = {token.start: place for place, token in enumerate(line)}
        kept = [(places[token.start], None if token is line[places[token.start]] else (token.text, token.spaced)) for token in simple]
        known.append(None if simple == line else kept)
        return simple
    plan = known[0]
    return line if plan is None else [line[at] if new is None else line[at]._replace(text=new[0], spaced=new[1]) for at, new in plan]


if TYPE_CHECKING:
    _Plan: TypeAlias = list[tuple[int, tuple[str, bool] | None]]


@once_for_each_text
def _plan_of(shape: str) -> list[_Plan | None]:
    """Return where it is kept which tokens of the lines of a shape stay, and the sign and the space of those that are read otherwise."""
    return []


def _simplify(line: list[Token]) -> list[Token]:
    """Read signs that are one as one, and leave out what only remarks on a factor or says what it counts; a line without a sign stays as it is."""
    kinds = {token.kind for token in line}
    if "rel" in kinds:
        line = _one_sign(line)
    if "(" in kinds:
        line = _without_remarks(_values_of_words(line) if "op" in kinds else line)
    return _without_nouns(line) if "op" in kinds else line


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
    if not any(token.text == "+" for token in line):
        return line
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


def _continues(before: Sequence[Token], here: Sequence[Token]) -> bool:
    last, first = before[-1], here[0]
    if last.text in (";", "&") and len(before) > 1:
        last = before[-2]
    if first.text == "&" and len(here) > 1:
        first = here[1]
    if first.text == "≈" and not any(token.kind == "op" or token.text == "=" for token in before):
        return False  # ``~12B`` below ``47B`` is another answer, and no equation
    if first.kind == "rel":
        return last.kind in ("num", "name", ")")
    if first.text == "+" and len(here) > 2 and here[1].kind == "name" and here[2].kind == "rel":
        return False  # ``+ hidden size = 768`` is an item of a list
    if first.text == "+" and len(here) > 1 and here[1].kind in ("num", "name", "(") and any(token.kind == "rel" for token in before):
        return last.kind in ("num", "name", ")")
    opens = first.kind in ("num", "name", "(")
    return opens and last.kind in ("op", "rel") and len(before) > 1 and before[-2].kind in ("num", "name", ")", "word")
