"""Formulas in any letters that a line says to be equal, ``2 × B × S × H × H = 2BSH²``: both expanded and compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from weighbridge.auditing.checks.scene import Scene, claim
from weighbridge.auditing.claims import Claim, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.expressions import parse
from weighbridge.auditing.text.memory import once_for_each_shape
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.polynomial_terms import polynomial, write_difference
from weighbridge.core.messages import mark
from weighbridge.core.polynomials import Polynomial

_LONGEST = 2000
"""Characters of a line that is looked at."""
_ENDS = pattern(r"[,，。;；:：|$≈<>&\\\u4e00-\u9fff]|\.(?!\d)")
_PIECE = pattern(
    r"\s*(?:(?P<num>\d{1,18}(?:\.\d{1,6})?)(?![\d.]*\d)|(?P<name>[A-Za-z]_[A-Za-z]{1,10})(?![A-Za-z_])|(?P<run>[A-Za-z]{2,4}(?![A-Za-z_])|[A-Za-z](?![A-Za-z_(]))|(?P<op>[+\-*/^×·])|(?P<open>\()|(?P<close>\)))"
)
_SIGNS = {"×": "*", "·": "*"}
_KINDS = {"open": "(", "close": ")", "run": "op"}
_LEAD = pattern(r"\s*(?:[A-Za-z]{2,20}\s+)+(?=[\d(])")
"""Words before a formula."""
_LETTER = pattern("[A-Za-z]")
_LETTERS = 2
"""Letters that both sides must have: ``x = 2x`` sets one anew."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check the formulas of every line that are read whole and have the same letters on both sides."""
    for index, line in enumerate(scene.lines):
        if "=" in line.text and len(line.text) <= _LONGEST and re.search(r"[*^×·+]", line.text):
            yield from _of_line(scene, index)


def _of_line(scene: Scene, index: int) -> Iterator[Claim]:
    text = scene.lines[index].text
    for first, end, begin, last in _sides(text):
        if re.fullmatch(r"\s*[A-Za-z_]{2,}\s*", text[first:end]) and text[first:end].strip() in text[begin:last]:
            continue  # ``dim = dim * 2`` sets a name anew
        ours, theirs = _expand(text[first:end]), _expand(text[begin:last])
        if ours is None or theirs is None or ours.symbols() != theirs.symbols() or not ours.symbols():
            continue
        if ours != theirs and "/" in text[first:last]:
            continue  # what of ``18rh / 12h^2`` stands below the stroke?
        facts: dict[str, object] = {"value": str(theirs), "expected": str(ours)}
        if ours != theirs:
            facts |= {"reason": because(mark("it is {right}"), right=str(ours)), "difference": write_difference(theirs, ours)}
        left, right = (_without_spaces(text, index, *span) for span in ((first, end), (begin, last)))
        yield claim(scene.lines, left, right, "symbolic", "exact" if ours == theirs else "wrong", **facts)


@once_for_each_shape
def _sides(text: str) -> tuple[tuple[int, int, int, int], ...]:
    """Return where the two sides of each equation of a line stand that have letters enough."""
    at = 0
    spans, found = [], []
    for piece in text.split("="):
        spans.append((at, at + len(piece.rstrip(" ;"))))  # rows of an aligned formula
        at += len(piece) + 1
    if any(not text[start:end].strip() for start, end in spans[1:-1]):
        return ()  # ``==`` compares, and says nothing
    for (start, end), (begin, stop) in pairwise(spans):
        first = max((match.end() for match in _ENDS.finditer(text, start, end)), default=start)
        lead = _LEAD.match(text, first, end)
        first = lead.end() if lead is not None else first
        last = next((match.start() for match in _ENDS.finditer(text, begin, stop)), stop)
        if _has_letters(text, (first, end), (begin, last)):
            found.append((first, end, begin, last))
    return tuple(found)


def _has_letters(text: str, *sides: tuple[int, int]) -> bool:
    """Tell whether both sides have letters enough, or the first is a sum in them: ``2x + 2x + 12x = 16x``."""
    counts = [len(_LETTER.findall(text, *side)) for side in sides]
    return min(counts) >= _LETTERS or (min(counts) > 0 and counts[0] > _LETTERS and "+" in text[slice(*sides[0])])


def _without_spaces(text: str, line: int, start: int, end: int) -> Token:
    """Return the place of a formula without the spaces about it."""
    inside = text[start:end]
    return Token("word", "", line, start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip()))


def _is_letter_x(text: str, end: int) -> bool:
    """Tell whether an x before a place is a letter: behind a digit, and no factor behind it."""
    return text[end - 2 : end - 1].isdigit() and not re.match(r"\s*[\w(.]", text[end:])


@lru_cache(maxsize=4096)
def _expand(text: str) -> Polynomial | None:
    """Return what a formula expands to, if it is nothing but numbers, letters and signs."""
    tokens = _read(text)
    parsed = parse(tokens, 0, len(tokens)) if len(tokens) > 1 else None
    return polynomial(parsed.term, {}) if parsed is not None and not parsed.dangling and parsed.end == len(tokens) else None


def _read(text: str) -> list[Token]:
    """Return a formula's tokens as if no spaces stood between them, or none if it is more than a formula."""
    found: list[Token] = []
    at = 0
    while text[at:].strip():
        match = _PIECE.match(text, at)
        if match is None:
            return []
        kind, word = str(match.lastgroup), match[str(match.lastgroup)]
        named = kind == "run" and (word != "x" or _is_letter_x(text, match.end()))
        word = "*" if word == "x" and not _is_letter_x(text, match.end()) else word
        if kind in ("open", "run", "name") and found and found[-1].kind in ((")",) if kind != "open" else ("name", "num", ")")):
            found.append(Token("op", "*", 0, len(found), len(found) + 1))
        for piece in word if named else (word,):
            value = Fraction(word) if kind == "num" else None
            place = len(found)
            found.append(Token("name" if named else _KINDS.get(kind, kind), _SIGNS.get(piece, piece), 0, place, place + 1, value))
        at = match.end()
    return found
