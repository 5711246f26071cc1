"""From a line to tokens: numbers with their units, names of sizes, signs; whatever else is a word, and no formula."""

from __future__ import annotations

import re
from functools import lru_cache

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.chinese_tokens import chinese_token, has_sign_after, is_product
from weighbridge.auditing.text.memory import once_for_each_text, shape_of
from weighbridge.auditing.text.numbers import NUMBER, WORD, Token, read_number, value_and_decimals
from weighbridge.auditing.text.size_words import LOOSE, NOUNS, POSSIBLE, begins_size, size_at

_ADDRESS = pattern(r"(?:https?|ftp)://[!-~]{1,2000}|www\.[!-~]{1,2000}")
_MARKED = pattern(r"\s*==+(?:\d+==+)?")
_SHAPE = pattern(r"(?:[Ss]ize)?[(]?\[\s*\d+(?:\s*[,x×]\s*\d+)*,?\s*\][)]?|(?<![A-Za-z0-9_)])\(\d+, ?\d+,?\)|(?<![A-Za-z0-9_)])\(\d+,\)")
_OPERATIONS = {"×": "*", "·": "*", "*": "*", "+": "+", "-": "-", "/": "/", "^": "^"}
_SURE = frozenset("×*+-/^")
"""Signs that are operations wherever they stand alone."""
_FACTORS = frozenset("HVLAISTNlhbsd")
"""Letters that are sizes where several run together in a formula."""
_TWO = frozenset(("!=", "<=", ">=", "+=", "-=", "*=", "/=", "=>", "->", ":=", "=~", "<-", "--"))


def tokens(text: str, line: int) -> list[Token]:
    """Split one line as read; every character that is no space belongs to a token.

    >>> [(t.kind, t.text) for t in tokens("4 × (H^2 + H) = 2,362,368", 0)][-3:]
    [(')', ')'), ('rel', '='), ('num', '2,362,368')]
    """
    return list(_tokens(text, line))


@once_for_each_text
def _tokens(text: str, line: int) -> tuple[Token, ...]:
    """Return the tokens of a line or a cell, for which several checks ask; one that has the shape of another before is not read again."""
    shape = shape_of(text)
    known = _first_of(shape)
    if not known or "0e" in shape or "0E" in shape or "0^0" in shape:  # a power of ten moves the point
        known[:] = [_read(text, line)]
        return known[0]
    found = []
    for kind, written, _, start, end, value, unit, places, spaced in known[0]:
        if not written.isalpha():
            written = text[start:end] if kind in _WRITTEN else written
            if kind == "num":
                value, places = value_and_decimals(written)
        found.append(_make(Token, (kind, written, line, start, end, value, unit, places, spaced)))
    return tuple(found)


_WRITTEN = frozenset(("num", "word", "shape", "sep"))
"""The kinds of tokens whose text is as the line has it; that of the others, a sign or our word for a size, has no digits."""


@once_for_each_text
def _first_of(shape: str) -> list[tuple[Token, ...]]:
    """Return where the tokens of the first line of a shape are kept."""
    return []


def _read(text: str, line: int) -> tuple[Token, ...]:
    found: list[Token] = []
    position, length, noun = 0, len(text), False
    mark = _MARKED.match(text)
    if mark is not None:  # ``==31751== refs`` begins the lines of a log
        found.append(Token("sep", mark.group(), line, 0, mark.end()))
        position = mark.end()
    while position < length:
        character = text[position]
        if character == " ":
            position += 1
            continue
        spaced = position > 0 and text[position - 1] == " "
        if character in _PLAIN:
            found.append(_make(Token, ("sep", character, line, position, position + 1, None, "", 0, spaced)))
            position += 1
            continue
        word = WORD.match(text, position) if character in _LETTERS else None
        if word is not None and _is_plain_word(word.group()):
            end = word.end()
            if text[end : end + 1] in (".", "-") and text[end + 1 : end + 2].isalnum() and text[end + 1 : end + 2].isascii():
                end = _compound(text, end)
            found.append(_make(Token, ("word", text[position:end], line, position, end, None, "", 0, spaced)))
            position = end
            continue
        token = _token(text, position, line, found)
        noun = noun or token.kind == "noun"
        found.append(_make(Token, (*token[:-1], True)) if spaced else token)
        position = token.end
    return tuple(token for token in found if token.kind != "noun") if noun else tuple(found)


_make = tuple.__new__
_PLAIN = frozenset(",.;'\"`|{}#_$%&@?\\，。、；！？（）：“”")
"""Signs that begin nothing longer and are no operation, bracket or relation."""
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")


@lru_cache(maxsize=1 << 14)
def _is_plain_word(letters: str) -> bool:
    """Tell whether a word is one wherever it stands: no size begins with it, and no factor, sign, noun of a product or address is written so."""
    lower = letters.lower()
    return (
        len(letters) > 1
        and letters[0] not in "xX"
        and lower not in NOUNS
        and lower not in ("times", "http", "https", "ftp", "www")
        and not begins_size(letters)
        and not (letters[0] in POSSIBLE and len(letters) <= 4 and all(letter in _FACTORS for letter in letters))
    )


def _token(text: str, at: int, line: int, found: list[Token]) -> Token:
    character = text[at]
    if character.isdigit() and character.isascii():
        return read_number(text, at, line, found)
    if character.isascii() and character.isalpha():
        return _word(text, at, line, found)
    pair = text[at : at + 2]
    if character in _SURE and pair not in _TWO:
        return Token("op", _OPERATIONS[character], line, at, at + 1)
    if character in "([":
        shape = _SHAPE.match(text, at) if text[at + 1 : at + 2] in tuple(" [0123456789") else None
        if shape and _is_shape(text, shape, found):
            return Token("shape", shape.group(), line, at, shape.end())
        return Token("(", character, line, at, at + 1)
    if character in ")]":
        return Token(")", character, line, at, at + 1)
    if pair in ("≈=", "=≈"):
        return Token("rel", "≈", line, at, at + 2)
    if pair in _TWO:
        return Token("sep", pair, line, at, at + 2)
    if character in "=≈":
        return Token("rel", character, line, at, at + 1 + (pair == "=="))
    if character == "·" and _is_separator(text, at):
        return Token("sep", character, line, at, at + 1)
    if character in _OPERATIONS:
        return Token("op", _OPERATIONS[character], line, at, at + 1)
    if "\u4e00" <= character <= "\u9fff":
        return chinese_token(text, at, line, found)
    return Token("sep", character, line, at, at + 1)


def _is_separator(text: str, at: int) -> bool:
    """Tell whether a dot stands between a number and its share: ``2,362,368 · 25.9%``."""
    number = NUMBER.match(text, at + 2) if text[at - 1 : at] == text[at + 1 : at + 2] == " " else None
    return number is not None and text[number.end() : number.end() + 1] == "%"


def _is_shape(text: str, shape: re.Match[str], found: list[Token]) -> bool:
    """Tell a shape from a number in parentheses, from a bracketed formula, and from the indices of layers: ``× 2 [1, 2]``."""
    if len(found) > 1 and found[-1].kind == "num" and found[-2].kind == "op":
        return False
    inside = shape.group().removeprefix("Size").removeprefix("size").strip("()[] ")
    if "," not in inside.strip(","):
        said = bool(found) and found[-1].text.lower() in ("size", "shape", "torch.size") and "," not in inside
        return said or _is_behind_a_tensor(found)
    groups = [group.strip() for group in inside.strip(",").split(",")]
    return "[" in shape.group() or not (len(groups) > 2 or (" " not in inside and found and found[-1].kind == "rel"))


def _is_behind_a_tensor(found: list[Token]) -> bool:
    """Tell whether the name of a tensor stands right before a place, with nothing but its dtype and the edges of cells between."""
    for token in reversed(found[-_BETWEEN:]):
        if token.kind == "word" and _TENSOR.search(token.text):
            return True
        if not (token.text in "|:`" or _DTYPE.fullmatch(token.text)):
            return False
    return False


_BETWEEN = 5
_TENSOR = pattern(r"\.(?:weight|bias|gamma|beta|scale)$")
_DTYPE = pattern(r"(?:torch\.)?(?:B?FP?\d+(?:_\w+)?|b?float\d*|half|U?I(?:nt)?\d+)", re.IGNORECASE)


def _word(text: str, at: int, line: int, found: list[Token]) -> Token:
    address = _ADDRESS.match(text, at) if text[at] in "hfw" else None
    if address:
        return Token("sep", address.group(), line, at, address.end())
    if text[at] in "xX" and is_product(text, at, found):
        return Token("op", "*", line, at, at + 1)
    size = size_at(text, at)
    word = WORD.match(text, at)
    assert word is not None
    end = word.end()
    if word.group().lower() == "times" and is_product(text, end - 1, found):
        return Token("op", "*", line, at, end)
    if found and found[-1].kind == "num" and word.group().lower() in NOUNS and has_sign_after(text, end):
        return Token("noun", word.group(), line, at, end)
    if size is not None and size.end >= end and (size.phrase not in LOOSE or _is_beside_sign(text, at, size.end, found)):
        return Token("name", size.word, line, at, size.end)
    letters = word.group()
    if len(letters) == 1 and letters in POSSIBLE:
        return Token("name", letters, line, at, end)
    if letters[0] in POSSIBLE and len(letters) <= 4 and all(letter in _FACTORS for letter in letters) and _in_formula(text, at, end, found):
        return Token("name", letters[0], line, at, at + 1)
    if text[end : end + 1] in (".", "-") and text[end + 1 : end + 2].isalnum() and text[end + 1 : end + 2].isascii():
        end = _compound(text, end)
    return Token("word", text[at:end], line, at, end)


def _compound(text: str, end: int) -> int:
    """Read on through a dotted or hyphenated name, such as ``bert-base-chinese`` or ``torch.nn``."""
    while end < len(text) and text[end].isascii() and (text[end].isalnum() or text[end] in "_.-"):
        end += 1
    while text[end - 1] in ".-":
        end -= 1
    return end


def _in_formula(text: str, at: int, end: int, found: list[Token]) -> bool:
    """Tell whether letters that run together are a product: a number or a sign must stand beside them."""
    before = found[-1] if found else None
    after = text[end : end + 2].strip()[:1]
    glued = before is not None and before.end == at and before.kind in ("num", "name", "(")
    return (
        glued
        or after == "^"
        or (before is not None and before.kind == "op" and before.text in "*+" and after in ("", "+", "*", "×", "=", ")", ","))
    )


def _is_beside_sign(text: str, start: int, end: int, found: list[Token]) -> bool:
    if found and found[-1].kind in ("op",) and found[-1].text != "-":
        return True
    return text[end : end + 2].strip()[:1] in tuple("×*·+=^:")
