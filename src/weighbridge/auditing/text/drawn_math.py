"""The characters of a line of formulas as they are drawn: TeX's commands are one sign each, spaces, braces and superscripts are none."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.core._namedtuple import NamedTuple

SIGNS = {
    "times": "×", "cdot": "·", "ast": "*", "div": "÷", "approx": "≈", "to": "→", "rightarrow": "→", "sim": "∼", "le": "≤", "leq": "≤",
    "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "ldots": "…", "cdots": "⋯", "dots": "…", "pm": "±", "Rightarrow": "⇒", "simeq": "≃",
}  # fmt: skip
"""TeX commands that are drawn as one sign."""
_SAME = {"⋅": "·", "−": "-", "∗": "*", "∙": "·", "（": "(", "）": ")", "～": "∼", "~": "∼", "：": ":", "，": ","}
_DROPPED = frozenset(" \t\u00a0\u2009\u202f\u200b\u200c\u200d\u2061\u2062\u2063\ufeff{}$_")


class Drawn(NamedTuple):
    """The characters of a line as drawn, where each stands, and whether TeX drew it."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    tex: Sequence[bool]


def drawn_line(shape: str, raw: str) -> Drawn:
    """Return a line as drawn, by what is known of its shape."""
    flat, digits = _drawn_shape(shape)
    text = list(flat.text)
    for place in digits:
        text[place] = raw[flat.starts[place]]
    return flat._replace(text="".join(text))


@once_for_each_text
def _drawn_shape(shape: str) -> tuple[Drawn, tuple[int, ...]]:
    flat = drawn_characters(shape)
    return flat, tuple(place for place, sign in enumerate(flat.text) if sign == "0")


def drawn_characters(raw: str) -> Drawn:
    """Return a line as drawn.

    >>> drawn_characters(r"d_{model} \\times 4").text
    'dmodel×4'
    """
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    tex: list[bool] = []
    pending, position = False, 0
    while position < len(raw):
        character, start = raw[position], position
        position += 1
        if character == "\\":
            end = position
            while end < len(raw) and raw[end].isascii() and raw[end].isalpha():
                end += 1
            name, pending = raw[position:end], True
            if name not in SIGNS:
                position = end if end > position else position + (raw[position : position + 1] in (",", ";", "!", ":", " "))
                continue
            character, position = SIGNS[name], end
        elif character in _DROPPED or character == "^":
            pending = pending or character == "^"
            continue
        spaced = start > 0 and raw[start - 1] == " " and character in "=+-"
        pending = pending or spaced
        text.append(_SAME.get(character, character))
        starts.append(start)
        ends.append(position)
        tex.append(pending)
        pending = False
    return Drawn("".join(text), starts, ends, tex)
