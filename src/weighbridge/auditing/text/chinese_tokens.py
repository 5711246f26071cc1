"""The tokens of Chinese words: signs that are spoken, measures, names of sizes."""

from __future__ import annotations

from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import LOOSE, MEASURES, POSSIBLE, SIZES, size_at


def is_product(text: str, at: int, found: list[Token]) -> bool:
    """Tell whether the letter x stands between two operands."""
    counted = len(found) > 1 and found[-1].kind == "word" and found[-2].kind == "num"  # ``32 layers x 32 heads``
    if not found or (found[-1].kind not in ("num", "name", ")") and not counted):
        return False
    after = at + 1
    while text[after : after + 1] == " ":
        after += 1
    following = text[after : after + 1]
    if counted and after == at + 1:
        return False  # ``384156 vex x86``
    if following.isdigit() or following == "(":
        return True
    return after > at + 1 and following.isascii() and following.isalpha() and (following in POSSIBLE or size_at(text, after) is not None)


def has_sign_after(text: str, end: int) -> bool:
    """Tell whether a sign of arithmetic stands behind a word."""
    return text[end : end + 4].strip()[:1] in tuple("×*·)+=≈")


def chinese_token(text: str, at: int, line: int, found: list[Token]) -> Token:
    """Return the token that begins with a Chinese character: a spoken sign, a measure, a size's name, or words."""
    size = _size_in_chinese(text, at)
    if text.startswith("乘以", at) and is_product(text, at + 1, found):
        return Token("op", "*", line, at, at + 2)
    if found and found[-1].kind == "num" and text[at] in MEASURES and has_sign_after(text, at + 1):
        return Token("noun", text[at], line, at, at + 1)
    if size is not None:
        return Token("name", size[0], line, at, size[1])
    end = at + 1
    while end < len(text) and "\u4e00" <= text[end] <= "\u9fff" and _size_in_chinese(text, end) is None:
        end += 1
    return Token("word", text[at:end], line, at, end)


_FIRST = frozenset(phrase[0] for phrase in SIZES)


def _size_in_chinese(text: str, at: int) -> tuple[str, int] | None:
    if text[at] not in _FIRST:
        return None
    size = size_at(text, at)
    return (size.word, size.end) if size and size.phrase not in LOOSE else None
