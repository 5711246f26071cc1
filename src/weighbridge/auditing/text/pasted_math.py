"""Undo formulas that a page's math typesetting pasted two or three times over.

Copying from such a page gives the formula as drawn, its TeX, and the formula as drawn again, glued
together: ``30522×768=23,440,89630522 \\times 768 = 23,440,89630522×768=23,440,896``. Written without spaces,
braces and superscripts the copies are equal; so the split is found where they agree, and the TeX is kept,
since only it still knows that ``7682`` was a square.
"""

from __future__ import annotations

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.drawn_math import Drawn, drawn_characters, drawn_line
from weighbridge.auditing.text.memory import once_for_each_text, shape_of

_WINDOW = 600
_MOST_STEPS = 50_000_000
"""Characters of a line that are held against each other in search of copies: about a second, and more than any formula pasted twice takes."""


def repeats(raw: str) -> list[tuple[int, int]]:
    """Return the column ranges of *raw* that only repeat a formula.

    >>> repeats(r"V×HV \\times HV×H")
    [(0, 3), (13, 16)]
    >>> repeats("23,844,60823,844,60823,844,608")
    [(10, 20), (20, 30)]
    """
    if len(raw) < 5:
        return []
    shape = shape_of(raw)
    found = _repeats(raw) if ("=" in raw or "," in raw) and _may_run_twice(shape) else []
    found += _repeated_symbols(raw) if "_{" in raw else []
    if not _may_be_pasted(shape):
        return found
    flat, position, steps = drawn_line(shape, raw), 0, [0]
    while position < len(flat.text) and steps[0] < _MOST_STEPS:
        step = _tex_copies(flat, position, steps) if flat.tex[position] else None
        if step is None:
            position += 1
            continue
        period, first, copies, kept = step
        for copy in range(copies):
            if copy != kept:
                begin = first + copy * period
                found.append((flat.starts[begin], flat.ends[begin + period - 1]))
        position = first + copies * period
    return sorted(found)


def _repeated_symbols(raw: str) -> list[tuple[int, int]]:
    """Find letters with a subscript that stand about their TeX: ``nlayersn_{layers}nlayers``.

    >>> _repeated_symbols("dmodeld_{model}dmodel 4096")
    [(0, 6), (15, 21)]
    """
    return [
        found.span(name)
        for found in _SYMBOL.finditer(raw)
        if found["drawn"] == "".join(one for one in found["tex"] if one.isalnum())
        for name in ("drawn", "again")
    ]


_SYMBOL = pattern(r"(?<!\w)(?P<drawn>[A-Za-z]{2,30})(?P<tex>[A-Za-z]_\{[A-Za-z]{1,29}\})(?P<again>(?P=drawn))(?![\w])")


@once_for_each_text
def _may_run_twice(shape: str) -> bool:
    """Tell whether a line whose digits are taken for alike has a run that is its half twice; else none of its shape has."""
    return bool(_repeats(shape))


@once_for_each_text
def _may_be_pasted(shape: str) -> bool:
    """Tell whether a line whose digits are taken for alike has a stretch, with TeX in it, right behind its like; else none of its shape has."""
    drawn = "\\" in shape or "^" in shape
    if not drawn and (shape.count("=") < 2 or not any(0 < shape.count(f" {sign}") < shape.count(sign) for sign in "=+-")):
        return False  # TeX is told by its commands, or, in an equation, by signs that it spaces and the drawn copy does not
    flat, steps = drawn_characters(shape), 0
    for anchor in (place for place, drawn in enumerate(flat.tex) if drawn):
        places = _places(flat.text, flat.text[anchor], max(0, anchor - _WINDOW), min(len(flat.text), anchor + _WINDOW))
        for other in places:
            if flat.tex[other]:
                continue
            left, right, period = _alike(flat.text, anchor, other)
            steps += right - left
            if period > 1 and right - left >= period:
                return True
        if len(places) >= _MOST_PLACES or steps > _MOST_STEPS // 50:
            return True  # the digits tell which places are looked at
    return False


def _alike(text: str, anchor: int, other: int) -> tuple[int, int, int]:
    """Return the stretch about a character that is said again so many characters later: its beginning and end, and that distance."""
    low, period = min(anchor, other), abs(anchor - other)
    left, right = low, low + 1
    while left > 0 and low - left < _WINDOW and text[left - 1] == text[left - 1 + period]:
        left -= 1
    while right + period < len(text) and right - low < _WINDOW and text[right] == text[right + period]:
        right += 1
    return left, right, period


def _tex_copies(flat: Drawn, anchor: int, steps: list[int]) -> tuple[int, int, int, int] | None:
    """Find the copies around a character that TeX drew: period, start, number of copies, and which is the TeX; *steps* counts the comparisons."""
    text, best = flat.text, None
    sign = text[anchor]
    for other in _places(text, sign, max(0, anchor - _WINDOW), min(len(text), anchor + _WINDOW)):
        if flat.tex[other]:
            continue
        left, right, period = _alike(text, anchor, other)
        length = right - left + period
        steps[0] += length - period
        if length < 2 * period or period < 2:
            continue
        copies = min(3, length // period)
        for start in range(left, left + min(length - copies * period, 40) + 1):
            steps[0] += copies * period
            kept = _tex_copy(flat, start, period, copies)
            if kept is not None and start <= anchor < start + copies * period and _is_formula(flat, start, period, kept):
                rank = (copies * period, _is_edge(flat, start), -start)
                if best is None or rank > best[0]:
                    best = (rank, (period, start, copies, kept))
    return best[1] if best else None


def _places(text: str, sign: str, low: int, high: int) -> list[int]:
    places: list[int] = []
    at = text.find(sign, low, high)
    while at >= 0 and len(places) < _MOST_PLACES:
        places.append(at)
        at = text.find(sign, at + 1, high)
    return places


_MOST_PLACES = 40


def _tex_copy(flat: Drawn, start: int, period: int, copies: int) -> int | None:
    """Return which copy is the TeX: exactly one must be."""
    typeset = [copy for copy in range(copies) if any(flat.tex[start + copy * period : start + (copy + 1) * period])]
    return typeset[0] if len(typeset) == 1 else None


def _is_formula(flat: Drawn, start: int, period: int, kept: int) -> bool:
    """Whether a copy is a formula, and not a term that happens to stand twice in one; spaces alone say less than TeX."""
    piece = flat.text[start : start + period]
    begin = start + kept * period
    drawn = any(flat.tex[at] and flat.text[at] not in "=+-" for at in range(begin, begin + period))
    whole = (piece[0].isalnum() or piece[0] in '(["') and (piece[-1].isalnum() or piece[-1] in ")]%")
    return whole and ("=" in piece or (drawn and any(sign in "×·*+-/→≈" for sign in piece)))


def _is_edge(flat: Drawn, start: int) -> bool:
    """Whether a formula may start here: not in the middle of a word or a number."""
    if start == 0 or flat.starts[start] != flat.ends[start - 1]:
        return True
    before, after = flat.text[start - 1], flat.text[start]
    return not ((before.isascii() and before.isalnum()) and (after.isascii() and after.isalnum()))


_RUN = pattern(r"[\x00-\x08\x0e-\x1b!-\[\]-\x7f×·⋅≈−]{10,}")
"""Characters without spaces or TeX's backslash, as many as the shortest repetition has."""


def _repeats(raw: str) -> list[tuple[int, int]]:
    """Find runs without spaces that are one equation, or one number with separators, twice or three times over."""
    found = []
    for match in _RUN.finditer(raw):
        run, start = match[0], match.start()
        for copies in (3, 2):
            size, rest = divmod(len(run), copies)
            if 5 <= size <= _WINDOW and not rest and run == run[:size] * copies and _is_repeat(run[:size]):
                found += [(start + copy * size, start + (copy + 1) * size) for copy in range(1, copies)]
                break
    return found


def _is_repeat(piece: str) -> bool:
    if not (piece[0].isalnum() or piece[0] in "([") or not (piece[-1].isalnum() or piece[-1] in ")]"):
        return False
    if "=" in piece:
        return True
    groups = piece.split(",")
    return len(groups) > 1 and all(group.isdigit() for group in groups) and all(len(group) == 3 for group in groups[1:])
