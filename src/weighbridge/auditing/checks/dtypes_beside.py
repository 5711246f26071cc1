"""Which dtype is said of a figure in bytes: beside it, before it, or above its table."""

from __future__ import annotations

import re
from fractions import Fraction

from weighbridge.auditing import patterns
from weighbridge.auditing.checks.amounts import SENTENCE, after_figure
from weighbridge.auditing.checks.caches import OF_CACHE
from weighbridge.auditing.checks.column_kinds import column_heads
from weighbridge.auditing.checks.dtypes import DTYPES, bytes_each, dtype_sizes
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.text.memory import once_for_each_table
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Table

_ABOVE = 4
"""Lines above a table or a line within which a label or a heading may say the dtype of what stands there."""
_BEHIND = 20
"""Characters behind a figure within which its dtype may be said."""


def nearest_dtype(text: str, token: Token, start: int) -> list[Fraction]:
    """Return the bytes of the dtype that is said of a figure: right behind it, or else last before it."""
    if not dtype_sizes(text):
        return []
    for size, pattern in DTYPES:
        match = pattern.search(text, token.end, token.end + _BEHIND)
        if match and not re.search(r"[,，;；。:：]|\.(?=\s)", text[token.end : match.start()]):
            return [size]
    since = max(start, after_figure(text, token.start))
    before = [
        (match.start(), size)
        for size, pattern in DTYPES
        for match in pattern.finditer(text, since, token.start)
        if not _AGAINST.search(text, since, match.start())
    ]
    return [max(before)[1]] if before else []


def is_anothers_dtype(sentence: str, figure: str) -> bool:
    """Tell whether the dtype of a sentence stands in a clause with a figure of its own: ``需要 140GB，Q4_K_M 量化为 43GB``."""
    clauses = re.split(r"[,，;；、]", sentence)
    return any(dtype_sizes(clause) and figure not in clause and _BYTES.search(clause) for clause in clauses)


_BYTES = patterns.pattern(r"\d\s?(?:[KMGT]i?B|G)(?![A-Za-z])")
_AGAINST = patterns.pattern(
    r"(?:\b(?:as|than|instead of|compared (?:to|with)|relative to|of|vs\.?|versus|half)(?: the| that of)?|比)\s?$", re.IGNORECASE
)
"""Before a dtype with which another is only compared: ``fp16 takes half as much as fp32: 220 MB``."""


def dtype_before(text: str) -> list[Fraction]:
    """Return the bytes of the one dtype that the sentences before on a line say of each parameter."""
    told = {*dtype_sizes(text), *bytes_each(text)}
    return list(told) if len(told) == 1 else []


def words_around(scene: Scene, line: int, table: Table | None, *, own: bool) -> str:
    """Return the words that are said of a whole table or list: its head, and the label above it."""
    return _words_around(scene, table, -1 if table is not None else line, own)


@once_for_each_table
def _words_around(scene: Scene, table: Table | None, line: int, own: bool) -> str:
    first = (table.head or table.rows)[0].line if table is not None else line
    heads = column_heads(table) if table is not None else []
    head = " ".join(one for one in heads if own or not OF_CACHE.search(one))  # another column's cache is not this one's
    above = (scene.lines[index] for index in range(first - 1, max(-1, first - 1 - _ABOVE), -1))
    label = next((one.text for one in above if one.heading or one.text.rstrip("* ").endswith(":")), "")
    near = scene.lines[max(0, first - 2) : first] if table is not None else ()
    lead = next((one.text for one in reversed(near) if one.text.strip()), "")
    return f"{head} {label} {lead[:SENTENCE]}"
