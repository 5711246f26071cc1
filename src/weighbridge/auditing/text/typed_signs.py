"""Signs as they are typed: full-width ones, separators inside a number, what stands beside a star."""

from __future__ import annotations

_SIGNS = {
    "✕": "×", "⨯": "×", "╳": "×", "⋅": "·", "∙": "·", "∗": "*", "−": "-", "﹣": "-", "‐": "-", "‑": "-", "÷": "/", "∕": "/", "⁄": "/", "≃": "≈", "≅": "≈", "∼": "≈", "～": "≈", "≒": "≈",
    "〜": "≈", "~": "≈", "【": "[", "】": "]", "〔": "(", "〕": ")", "“": '"', "”": '"', "．": ".", "\t": " ", "\u3000": " ", "`": " ", "$": " ", "\r": " ",
}  # fmt: skip


PUNCTUATION = frozenset(":：,，。;；!?、") | {""}
"""A star beside one of these is emphasis and no product."""


def sign_as_read(character: str) -> str:
    """Return the one sign that is read for all that are typed for it."""
    if character in _SIGNS:
        return _SIGNS[character]
    code = ord(character)
    return chr(code - 0xFEE0) if 0xFF01 <= code <= 0xFF5E else character


def is_operand(character: str, others: str) -> bool:
    """Tell whether a character ends or begins an operand: a letter, a digit, or one of *others*."""
    return bool(character) and (character.isalnum() or character in others)


def is_between_groups(raw: str, position: int, width: int = 1) -> bool:
    """Tell whether the sign at *position* stands between a number's groups of three digits."""
    before, after = raw[max(0, position - 3) : position], raw[position + width : position + width + 4]
    return before[-1:].isdigit() and len(after) >= 3 and after[:3].isdigit() and not after[3:4].isdigit()


def is_of_many_groups(raw: str, position: int) -> bool:
    """Tell whether a full-width comma is one of several in a number, or follows an operation sign."""
    start = position
    while start > 0 and (raw[start - 1].isdigit() or raw[start - 1] in "，,") and position - start < 40:
        start -= 1
    end = position
    while end < len(raw) and (raw[end].isdigit() or raw[end] in "，,") and end - position < 40:
        end += 1
    groups = raw[start:end].replace(",", "，").strip("，").split("，")
    regular = 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])
    return regular and (len(groups) > 2 or raw[:start].rstrip()[-1:] in tuple("=＝+＋×*≈"))
