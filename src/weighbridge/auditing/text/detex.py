"""Undo the typesetting of one line: TeX, full-width signs, superscripts, emphasis; every character keeps its column."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.drawn_math import SIGNS
from weighbridge.auditing.text.markup import NOTHING, THIN, Writer, read_entity, read_star, read_tag
from weighbridge.auditing.text.memory import once_for_each_text, shape_of
from weighbridge.auditing.text.pasted_math import repeats
from weighbridge.auditing.text.typed_signs import (
    is_between_groups,
    is_of_many_groups,
    respell,
    sign_as_read,
    simplify,
)

_SUPERSCRIPTS = {"⁰": "0", "¹": "1", "²": "2", "³": "3", "⁴": "4", "⁵": "5", "⁶": "6", "⁷": "7", "⁸": "8", "⁹": "9", "⁻": "-"}
_CONTENT = frozenset(
    """text textbf textit textrm texttt mathrm mathbf mathit mathtt mathsf mathcal operatorname mbox hbox boxed underline overline bm
    displaystyle textstyle underbrace overbrace left right big Big bigg Bigg bigl bigr Bigl Bigr label tag color""".split()
)
_KEPT = {"sim": "≈", "simeq": "≈", "approx": "≈", "div": "/", "times": "×", "cdot": "·"}
_DEEPEST = 24
_ORDINARY = pattern(r"[A-Za-z0-9 _.,;:()\[\]/+=%|#\"'!?@\-\u4e00-\u9fff×·≈。、]+")
"""Characters that are read as they stand, wherever they stand."""
_MIXED = pattern(r"\d?,\d{3}$")
"""A number whose groups another comma divides ends at a full-width one: ``1,152，755.6 M``."""


@once_for_each_text  # pages repeat their lines: table rules, headings, formulas pasted again
def strip_tex(raw: str) -> tuple[str, tuple[int, ...]]:
    """Return the line as it is read, and for each character its column in *raw*.

    >>> strip_tex(r"$4 \\times \\text{hidden_size}^2$")[0]
    ' 4 × hidden_size^2 '
    >>> strip_tex("４×７６８² ＝ 2，359，296")[0]
    '4×768^2 = 2,359,296'
    >>> strip_tex(r"\\frac{H}{2}")[0]
    '((H)/(2))'
    """
    if raw.isascii() and not any(sign in raw for sign in "\\^*`$~<{&"):
        copies = repeats(raw) if "=" in raw or "," in raw else []
        if not copies:
            return respell(raw).replace("\t", " ").replace("\r", " "), tuple(range(len(raw)))
    else:
        copies = repeats(raw)
    if "&" in raw or "colspan" in raw:
        return _undo(raw, copies)  # a sign by its number, so many cells
    text, at, digits = _undo_shape(shape_of(raw), tuple(copies))
    written = list(text)
    for place in digits:
        written[place] = raw[at[place]]
    return "".join(written), at


@once_for_each_text
def _undo_shape(shape: str, copies: tuple[tuple[int, int], ...]) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Read all lines that differ in their digits alone, and say where those go."""
    text, at = _undo(shape, copies)
    return text, at, tuple(place for place, column in enumerate(at) if text[place] == shape[column] == "0")


def _undo(raw: str, copies: Sequence[tuple[int, int]]) -> tuple[str, tuple[int, ...]]:
    writer = Writer(raw, copies)
    _convert(writer, 0, len(raw), 0)
    return respell(simplify("".join(writer.text))), tuple(writer.at)


def _convert(writer: Writer, start: int, end: int, depth: int) -> None:
    raw, position = writer.raw, start
    while position < end:
        run = None if writer.skip else _ORDINARY.match(raw, position, end)
        if run is not None:
            writer.text.extend(run[0])
            writer.at.extend(range(position, run.end()))
            position = run.end()
            continue
        character = raw[position]
        if position in writer.skip and writer.skip[position] <= end:
            writer.put(" ", position)
            position = writer.skip[position]
        elif character == "\\":
            position = _command(writer, position, end, depth)
        elif character == "^" and raw[position + 1 : position + 2] == "{":
            position = _write_power(writer, position, end, depth)
        elif character in _SUPERSCRIPTS:
            position = _superscript(writer, position, end)
        elif character == "<":
            position = read_tag(writer, position, end)
        elif character == "&":
            position = read_entity(writer, position, end)
        elif character == "*":
            position = read_star(writer, position)
        elif character == "{" and raw[max(0, position - 2) : position] == "|_":
            position = max(_group(raw, position, end)[1], position + 1)  # at which point: ``y'|_{x=0}``
        elif character in "{}":
            if raw[position : position + 3] == "{,}":
                writer.put(",", position)
                position += 2
            position += 1
        elif character in THIN:
            writer.put("," if is_between_groups(raw, position) else " ", position)
            position += 1
        elif character == "，":
            grouped = is_between_groups(raw, position) and is_of_many_groups(raw, position) and not _MIXED.search(raw[:position][-4:])
            writer.put("," if grouped else "，", position)
            position += 1
        else:
            if character not in NOTHING:
                writer.put(sign_as_read(character), position)
            position += 1


def _command(writer: Writer, position: int, end: int, depth: int) -> int:
    """Read a TeX command; return where reading goes on."""
    raw, after = writer.raw, position + 1
    while after < end and raw[after].isascii() and raw[after].isalpha():
        after += 1
    name = raw[position + 1 : after]
    if not name:
        return _read_escape(writer, position, end)
    if name in ("frac", "dfrac", "tfrac", "cfrac") and depth < _DEEPEST:
        return _fraction(writer, position, after, end, depth)
    if name in ("begin", "end"):
        writer.put(" ", position)
        return _group(raw, after, end)[1]
    if name in _KEPT or name in SIGNS:
        writer.put(f"{_KEPT.get(name, SIGNS.get(name, ' '))}", position)
    elif name in ("quad", "qquad"):
        writer.put("  ", position)
    elif name in ("label", "tag", "color"):
        return _group(raw, after, end)[1]
    elif name not in _CONTENT:
        writer.put(f"\\{name}", position)
    elif name in ("underbrace", "overbrace"):
        inside, closing = _group(raw, after, end)
        if depth < _DEEPEST:
            _convert(writer, after + 1, inside, depth + 1)
        if raw[closing : closing + 2] in ("_{", "^{"):
            closing = _group(raw, closing + 1, end)[1]
        writer.put(" ", closing - 1)
        return closing
    return after


_NAME = pattern("[a-zA-Z]+")
_ESCAPED = frozenset(("frac", "dfrac", "text", "mathrm", "left", "right"))


def _read_escape(writer: Writer, position: int, end: int) -> int:
    """Read a backslash and the sign after it."""
    raw = writer.raw
    following = raw[position + 1 : position + 2]
    if following in (",", ";", "!", ":", " "):
        between = following == "," and is_between_groups(raw, position, 2)
        writer.put("," if between else "" if following == "!" else " ", position)
    elif following == "\\":
        if (name := _NAME.match(raw, position + 2)) is not None and (name[0] in _KEPT or name[0] in SIGNS or name[0] in _ESCAPED):
            return position + 1  # written for JSON: ``3^2 \\\\times 7``
        writer.put(";", position)
    elif following and following in "_%#$&{}*~":
        writer.put(" " if following == "$" else following, position)
    elif following and following in "()[]":
        writer.put(" ", position)
    else:
        writer.put("\\", position)
        return position + 1
    return min(end, position + 2)


def _fraction(writer: Writer, position: int, after: int, end: int, depth: int) -> int:
    writer.put("((", position)
    middle = _argument(writer, after, end, depth)
    writer.put(")/(", middle - 1)
    closing = _argument(writer, middle, end, depth)
    writer.put("))", closing - 1)
    return max(closing, after)


def _argument(writer: Writer, position: int, end: int, depth: int) -> int:
    """Write an argument of a command, in braces or a single sign, ``\\frac12``; return where reading goes on."""
    raw = writer.raw
    while position < end and raw[position] == " ":
        position += 1
    inside, closing = _group(raw, position, end)
    if raw[position : position + 1] == "{":
        _convert(writer, min(position + 1, inside), inside, depth + 1)
        return closing
    if raw[position : position + 1].isalnum():
        _convert(writer, position, position + 1, depth + 1)
        return position + 1
    return position


def _group(raw: str, position: int, end: int) -> tuple[int, int]:
    """Return where the braces that open at *position* close, and what comes after; without braces, nothing."""
    while position < end and raw[position] == " ":
        position += 1
    if raw[position : position + 1] != "{":
        return position, position
    depth = 0
    for place in range(position, min(end, position + 2000)):
        depth += (raw[place] == "{") - (raw[place] == "}")
        if not depth:
            return place, place + 1
    return position, position + 1


def _write_power(writer: Writer, position: int, end: int, depth: int) -> int:
    inside, closing = _group(writer.raw, position + 1, end)
    writer.put("^(", position)
    if depth < _DEEPEST:
        _convert(writer, position + 2, inside, depth + 1)
    writer.put(")", inside)
    return max(closing, position + 2)


def _superscript(writer: Writer, position: int, end: int) -> int:
    writer.put("^", position)
    while position < end and writer.raw[position] in _SUPERSCRIPTS:
        writer.put(_SUPERSCRIPTS[writer.raw[position]], position)
        position += 1
    return position
