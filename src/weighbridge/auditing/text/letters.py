"""What single letters mean in a text: ``hidden size (H)``, ``H is the hidden size``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import LETTERS, POSSIBLE, SYMBOLS

_MEANS = frozenset("is 为 是 = : 表示 denotes 代表 for 指 the stands means a be 即 — – -".split())


def meanings(statements: Sequence[Sequence[Token]]) -> dict[str, str]:
    """Return what each single letter means in a text; a letter with two meanings has none.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> meanings([tokens("序列最大长度为N", 0)])["N"]
    'positions'
    """
    found: dict[str, set[str]] = {}
    for statement in statements:
        for letter, word in _definitions(statement):
            found.setdefault(letter, set()).add(word)
    meant = dict(LETTERS)
    for letter, words in found.items():
        if len(words) == 1:
            meant[letter] = min(words)
        else:
            meant.pop(letter, None)
    for letter, word in LETTERS.items():
        if meant.get(letter) == word and letter not in found and word in {w for known, w in meant.items() if known in found}:
            meant.pop(letter)
    return meant


_USUAL = (("h", "hidden"), ("d", "hidden"), ("E", "hidden"))
"""Letters that mean the hidden size where a text squares them and says nothing else about them: ``4h² + 4h``."""


def letter_meanings(statements: Sequence[Sequence[Token]], meant: Mapping[str, str]) -> dict[str, str]:
    """Return what letters mean, with the one a text squares for the hidden size if it defines none.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> letter_meanings([tokens("12h^2 + 13h", 0)], {})["h"]
    'hidden'
    """
    squared = {
        token.text
        for statement in statements
        for token, sign, power in zip(statement, statement[1:], statement[2:], strict=False)
        if token.kind == "name" and sign.text == "^" and power.kind in ("num", "(")
    }
    found = dict(meant)
    hidden = {letter for letter, word in found.items() if word == "hidden" and letter in squared}
    letter = next((letter for letter, _ in _USUAL if letter in squared and letter not in found), None)
    if letter is not None and not hidden:
        found[letter] = "hidden"
        if letter.islower() and "l" not in found:
            found["l"] = "layers"
    return found


def _definitions(statement: Sequence[Token]) -> Iterator[tuple[str, str]]:
    for index, token in enumerate(statement):
        if token.kind != "name" or token.text not in SYMBOLS:
            continue
        for letter in (_letter_after(statement, index), _letter_before(statement, index)):
            if letter is not None:
                yield letter.text, token.text


def _letter_after(statement: Sequence[Token], index: int) -> Token | None:
    """Find the letter in ``hidden size (H)``, ``hidden size H`` or ``词汇表大小为V``."""
    for step in range(1, 4):
        at = index + step
        if at >= len(statement) or statement[at].line != statement[index].line:
            return None
        token = statement[at]
        if _is_letter(token):
            following = statement[at + 1] if at + 1 < len(statement) else None
            free = following is None or following.kind not in ("op", "num") or following.text == "-"
            return token if free else None
        if token.kind != "(" and token.text not in _MEANS and token.text != ",":
            return None
    return None


def _letter_before(statement: Sequence[Token], index: int) -> Token | None:
    """Find the letter in ``H is the hidden size``, ``H(隐藏层大小)`` or ``H = hidden size``."""
    for step in range(1, 5):
        at = index - step
        if at < 0 or statement[at].line != statement[index].line:
            return None
        token = statement[at]
        if _is_letter(token):
            free = step > 1 and (at == 0 or statement[at - 1].kind not in ("op", "num"))
            return token if free else None
        if token.kind != "(" and token.text not in _MEANS:
            return None
    return None


def _is_letter(token: Token) -> bool:
    return token.kind == "name" and len(token.text) == 1 and token.text in POSSIBLE
