"""Units that the head of a column says for all its figures: ``109.48`` below ``Params (M)``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table

_UNIT = pattern(
    r"(?:^|[_ ])(?P<mega>m)[ _]?params?$|(?:[(\[（]|[,，:：/] ?|(?<=params )|(?<=parameters )|\bin )\s*(?:in )?"
    r"(?:[×x]?\s*10\^?\(?(?P<power>\d+)\)?|(?P<word>millions?|billions?|[MBK]|百万|亿|万|十亿))(?: (?:of )?param\w*)?\s*(?:[)\]）]|$)",
    re.IGNORECASE,
)
_OF_COUNTS = pattern(r"param|参数", re.IGNORECASE)
_OF_CACHE = pattern(r"kv|cache|缓存|(?:bytes|[KM]i?B)\s?(?:/|per)\s?token|每(?:个)?\s?token", re.IGNORECASE)
_IN_BYTES = pattern(r"(?:[(（\[,，/]|\bin\b|^)\s*(?P<unit>[KMG]i?B|bytes|字节)(?![A-Za-z])", re.IGNORECASE)
"""What a column of caches counts in: ``KV cache per token (KB)``, ``Bytes per token``."""
_LARGEST = 100_000
"""A whole number from which on it is a count by itself, whatever its column's head says."""


def in_unit_of(token: Token, head: str) -> Token:
    """Return a figure in the unit that the head of its column says.

    >>> from weighbridge.auditing.text.tokens import tokens
    >>> in_unit_of(tokens("109.48", 0)[0], "Params (M)").unit
    'm'
    """
    if token.unit or token.value is None:
        return token
    of_cache, word = _units_of(head)
    if of_cache:
        return token._replace(unit=of_cache.lower(), text=f"{token.text} {of_cache}")
    return token._replace(unit=word, text=f"{token.text}{word.upper()}") if word and (token.value < _LARGEST or token.places) else token


@once_for_each_text
def _units_of(head: str) -> tuple[str, str]:
    """Return the unit in which a head says that its column counts caches, and the one of any others, or the empty string."""
    cache = _IN_BYTES.search(head) if _OF_CACHE.search(head) else None
    unit = _UNIT.search(head)
    return cache["unit"] if cache is not None else "", _word(unit) if unit is not None else ""


def _word(found: re.Match[str]) -> str:
    if found["power"]:
        return {"3": "k", "6": "m", "9": "b"}.get(found["power"], "")
    word = (found["word"] or found["mega"]).lower()
    return {"millions": "m", "million": "m", "billions": "b", "billion": "b"}.get(word, word)


def with_head_units(statements: Sequence[list[Token]], tables: Sequence[Table]) -> list[list[Token]]:
    """Return statements whose counts in tables have the unit that the heads of their columns say."""
    heads: dict[int, list[tuple[int, int, str]]] = {}
    for table in tables:
        for place in range(max((len(row.cells) for row in table.head), default=0)):
            head = " ".join(row.cells[place].text for row in table.head if place < len(row.cells))
            if (_OF_COUNTS.search(head) and _UNIT.search(head)) or (_OF_CACHE.search(head) and _IN_BYTES.search(head)):
                for cell in (row.cells[place] for row in table.rows if place < len(row.cells)):
                    heads.setdefault(cell.line, []).append((cell.start, cell.end, head))
    return [[_with_unit(token, heads) for token in statement] for statement in statements] if heads else list(statements)


def _with_unit(token: Token, heads: dict[int, list[tuple[int, int, str]]]) -> Token:
    if token.kind != "num" or token.line not in heads:
        return token
    return next((in_unit_of(token, head) for start, end, head in heads[token.line] if start <= token.start and token.end <= end), token)
