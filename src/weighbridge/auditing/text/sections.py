"""Which component a part of a text is about: from headings, numbered lines and lines that end with a colon."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.claims import Line
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.component_words import find_components, subject

_NUMBERED = pattern(
    r"^(?:\d{1,2}(?:\.\d{1,2}){0,3}[.、)]?|[一二三四五六七八九十]{1,3}、|\(?[一二三四五六七八九十\d]\)|step \d+[:.]?)\s*\D", re.IGNORECASE
)
_BIG = pattern(r"\d{4}|=")


def sections(lines: Sequence[Line]) -> list[str | None]:
    """Return for each line the component its section is about, or None.

    >>> sections([Line(1, "", "2. Pooler", ()), Line(2, "", "768 * 768", ())])
    ['pooler', 'pooler']
    """
    found: list[str | None] = []
    current: str | None = None
    outer: str | None = None
    for line in lines:
        text = line.text.strip().strip("*-•+ ").strip()
        if text and (line.heading or (len(text) <= 60 and _NUMBERED.match(text) and not _BIG.search(text))):
            current = outer = _topic(text)
        elif text.endswith(":") and len(text) <= 60 and not _BIG.search(text):
            current = _topic(text) or (None if find_components(text) else current) or outer
        found.append(current)
    return found


def _topic(text: str) -> str | None:
    return subject(text)[0]
