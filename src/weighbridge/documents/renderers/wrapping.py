"""Breaking texts and formulas into lines: words, numbers and Chinese signs are never broken."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from unicodedata import combining, east_asian_width

_WIDE = r"\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60"
_OPEN, _CLOSE = "（「『“《", "，。、；：？！）》」』”％"
UNITS = re.compile(rf"\s+|[{_OPEN}]*(?![{_OPEN}])[{_WIDE}][{_CLOSE}]*|[{_OPEN}]*(?:\[[\d, ]{{1,28}}\]|[^\s{_WIDE}])+[{_CLOSE}]*|.")
"""What is never broken: a word, a shape in brackets, a Chinese character with the signs about it."""

JOINT = "\ue000"
"""Stands for a space at which no line is broken."""

_FORMULA = re.compile(r"(?:[^\W\d_]\w?[⁰¹²³⁴⁵⁶⁷⁸⁹]*+(?:_\w++)?(?!\w)|\d[\d,]*+[⁰¹²³⁴⁵⁶⁷⁸⁹]*+(?!\w)|[()⌊⌋×+−/ ])++")
"""A closed formula: letters, numbers and signs, no words."""

PHRASES = re.compile(r".+?(?:(?<=[,，、])\s*(?!\d{3}\b)|\s+·\s+|$)")
"""A phrase of a title, with the comma or the middle dot that ends it."""

SEAMS = re.compile(r"(?<=[^\W\d_])(?=[._/])|(?<=,) ")


def measure(text: str) -> int:
    """Return the columns that *text* takes: a Chinese character takes two.

    >>> measure("嵌入层")
    6
    """
    if text.isascii():
        return len(text)
    others = [letter for letter in text if letter > "\x7f"]
    return len(text) - len(others) + sum(2 if east_asian_width(letter) in "WF" else 0 if combining(letter) else 1 for letter in others)


def pad(text: str, size: int, *, right: bool = False) -> str:
    """Fill *text* up to *size* columns."""
    blank = " " * (size - measure(text))
    return blank + text if right else text + blank


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines between words, or between Chinese characters; no line ends with an opening bracket. Its own line breaks stay.

    >>> wrap("one two three", 8), wrap("嵌入层的参数。", 6)
    (['one two', 'three'], ['嵌入层', '的参', '数。'])
    """
    return [line for own in text.split("\n") for line in _fill(own, max(width, 1))]


def wrap_title(text: str, width: int) -> list[str]:
    """Break a title between its phrases (after a comma or a middle dot), so that "12 heads" stays together; inside one only where it must.

    >>> wrap_title("BertModel · 12 layers, hidden 768, 12 heads", 37)
    ['BertModel · 12 layers, hidden 768,', '12 heads']
    """
    phrases = PHRASES.findall(text)
    units = [unit for phrase in phrases for unit in ([phrase] if measure(phrase.rstrip()) <= width else UNITS.findall(phrase))]
    return _fill_units(units, max(width, 1))


def _fill(text: str, width: int) -> list[str]:
    return _fill_units(UNITS.findall(text), width)


def _fill_units(units: Iterable[str], width: int) -> list[str]:
    found, line = [], ""
    for unit in units:
        if unit.isspace():
            line += unit if line else ""
        elif line.strip() and measure(line) + measure(unit.rstrip()) > width:
            found.append(line.rstrip())
            line = unit
        else:
            line += unit
    return [*found, line.rstrip()]


def break_formula(text: str, width: int) -> list[str]:
    """Break a formula before operators: outside all brackets, and inside a bracket only where it alone is too wide."""
    pieces = _addends(text, width)
    if any(measure(piece) > width for piece in pieces):
        return _fill(bind_operators(text), width)
    rows: list[str] = []
    for piece in pieces:
        if rows and measure(rows[-1]) + 1 + measure(piece) <= width:
            rows[-1] += " " + piece
        else:
            rows.append(piece)
    return rows


def _addends(text: str, width: int) -> list[str]:
    """Divide a formula before the operators of its sum; an addend that is too wide is divided inside its widest bracket."""
    cuts, groups = _find_outermost(text)
    pieces = [text[start : end - 1] for start, end in pairwise([0, *cuts, len(text) + 1])]
    if len(pieces) > 1:
        return [part for piece in pieces for part in ([piece] if measure(piece) <= width else _addends(piece, width))]
    if measure(text) <= width or not groups:
        return [text]
    start, end = max(groups, key=lambda group: group[1] - group[0])
    inside = _addends(text[start + 1 : end], max(width - start - 1, 1))
    inside[0] = text[: start + 1] + inside[0]
    inside[-1] += text[end:]
    return inside


def _find_outermost(text: str) -> tuple[list[int], list[tuple[int, int]]]:
    """Return where operators of a sum stand outside all brackets, and where the outermost brackets open and close."""
    cuts, groups, opened, level = [], [], 0, 0
    for at, letter in enumerate(text):
        if letter in "(⌊":
            opened = at if level == 0 else opened
            level += 1
        elif letter in ")⌋":
            level -= 1
            groups += [(opened, at)] if level == 0 else []
        elif level == 0 and letter in "+−" and at and text[at - 1] == " " == text[at + 1 : at + 2]:
            cuts.append(at)
    return cuts, groups


def bind_operators(text: str, *, tight: bool = False) -> str:
    """Tie each operator to what follows it, so that no line ends in one; *tight* ties the factors of a product to each other too."""
    if tight:
        text = text.replace(" × ", f"{JOINT}×{JOINT}").replace(" / ", f"{JOINT}/{JOINT}")
    return re.sub(r" ([+−×/·=-]) ", rf" \1{JOINT}", text)


def break_cell(text: str, width: int) -> list[str]:
    """Break a cell between words; a word wider than *width* at the seams of a dotted name. Indentation is kept."""
    inset = " " * (len(text) - len(text.lstrip()))
    room = max(width - len(inset), 1)
    if " + " in text and _FORMULA.fullmatch(text):
        return [inset + row.replace(JOINT, " ") for row in break_formula(text.lstrip(), room)]
    for tight in (True, False):
        rows = [row.replace(JOINT, " ") for row in wrap(bind_operators(text.lstrip(), tight=tight), room)]
        if all(measure(row) <= room for row in rows):
            break
    else:
        pieces = _fill(SEAMS.sub(lambda seam: seam[0] + " \u2060", text.lstrip()), room)
        rows = [row.replace(" \u2060", "").replace("\u2060", "") for row in pieces]
    return [inset + row for row in rows]
