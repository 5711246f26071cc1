"""Whether a side of an equation was read whole: an expression of which only a part can be read is not judged in part."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token

_FUNCTIONS = frozenset("sqrt log ln exp sin cos tan max min ceil floor round abs gcd lcm".split())
_MODULO = frozenset(("mod", "modulo", "%", "bmod", "pmod"))
_ARROW = pattern(r"(?:[Ll]ong|[Ll]eft)*[Rr]ightarrow|implies|iff|to|therefore|because|ldots|dots|\\*")
"""Commands of TeX behind which something else begins."""
_MOST_OF_A_FACTOR = 1000
_MOST_OF_A_FACTORIAL = 30


def is_rest_of_more(statement: Sequence[Token], start: int) -> bool:
    """Tell whether a left side goes on something before it that was not read: ``√(4)``, ``w(0)``, ``8(3 / 5)``, ``2907 mod 1000``.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> is_rest_of_more(tokens("2907 mod 1000 = 907", 0), 2)
    True
    """
    before = statement[start - 1] if start else None
    if before is None or before.line != statement[start].line:
        return False
    if before.text.lower() in _MODULO or (before.kind == "num" and before.unit == "%" and statement[start].kind == "num"):
        return True
    if before.kind == statement[start].kind == "num" and statement[start + 1].kind == "rel":
        return True  # ``224 16 = 14`` was a fraction
    opens = statement[start].kind == "("
    if before.end != statement[start].start:
        if opens and (before.kind == ")" or before.text in _FUNCTIONS):
            return True
        return before.text in ("√", "∑", "∏") or (statement[start].kind in ("num", "(") and _is_power(statement, start))
    if before.kind == ")" or before.text in ("√", "!", "∑", "∏"):
        return True
    if opens and before.kind == "num":
        return not before.unit
    return opens and before.kind in ("word", "name") and (len(before.text) == 1 or before.text[0].isdigit() or before.text in _FUNCTIONS)


def is_followed_by_more(statement: Sequence[Token], end: int, limit: int) -> bool:
    """Tell whether a right side goes on with something that was not read: ``2^9 3^9``, ``141(2/3)``, ``49√3``, ``9!``, ``0 mod 8``.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> is_followed_by_more(tokens("6^9 = 2^9 3^9", 0), 7, 10)
    True
    """
    last, following = statement[end - 1], statement[end] if end < len(statement) else None
    if following is None or following.line != last.line or end > limit:
        return False
    if following.text == "\\":
        command = statement[end + 1] if end + 1 < len(statement) else None
        return command is not None and command.start == following.end and not _ARROW.fullmatch(command.text)
    if following.text.lower() in _MODULO or following.text in ("√", "π"):
        return True
    if following.text == "|" and _is_power(statement, end):
        return end + 2 < len(statement) and statement[end + 2].text == "^"  # ``2^1 | 2^0`` joins bits
    glued = following.start == last.end
    if following.text == "!":
        return glued and last.kind == "num" and last.value is not None and last.value < _MOST_OF_A_FACTORIAL
    if following.kind == "(" and glued:
        return _is_factor(statement, end, last)
    if following.kind in ("num", "("):
        return _is_power(statement, end) and not following.unit
    return last.kind == ")" and following.kind in ("name", "word") and len(following.text) == 1 and following.text.isascii()


def _is_factor(statement: Sequence[Token], opening: int, last: Token) -> bool:
    """Tell whether parentheses right behind a side hold a factor and no remark: nothing but numbers, and more than one."""
    if last.kind == "num" and (last.unit or last.places or last.value is None or last.value >= _MOST_OF_A_FACTOR):
        return False
    depth, found = 0, 0
    for token in statement[opening:]:
        depth += (token.kind == "(") - (token.kind == ")")
        found += token.kind in ("num", "name")
        if token.kind not in ("num", "name", "op", "(", ")") or token.unit:
            return False
        if not depth:
            return found > 1 or last.kind == ")"
    return False


def _is_power(statement: Sequence[Token], end: int) -> bool:
    """Tell whether a side ends with an exponent: ``2^9``, ``2^(9)``."""
    place = end - 1
    while place > 0 and statement[place].kind in (")", "num", "name") and end - place <= _EXPONENT:
        if statement[place - 1].text == "^":
            return True
        place -= 1
        if statement[place].kind == "(":
            return place > 0 and statement[place - 1].text == "^"
    return False


_EXPONENT = 3
"""Tokens of an exponent at most, with its parentheses."""
