"""The whole number of a table's cell, beside its measure or a remark."""

from __future__ import annotations

import re

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.auditing.text.tables import Cell


def whole_number(cell: Cell) -> int | None:
    """Return the whole number that a cell holds and nothing else but a remark, or None.

    >>> whole_number(Cell("32,768 (GQA)", 0, 6)), whole_number(Cell("128K", 0, 4)), whole_number(Cell("12-16", 0, 5))
    (32768, None, None)
    >>> whole_number(Cell("8头(GQA)", 0, 7))
    8
    """
    return _whole_number(cell.text)


@once_for_each_text
def _whole_number(text: str) -> int | None:
    bare = _REMARK.sub("", text.strip("*`~≈$\\ †‡^"))
    plain = _MEASURE.sub("", bare).strip("*`~ ").replace(",", "")
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 12 else None


_MEASURE = pattern(r"\s*(?:[层维头]|个?(?:头|层|专家|词元?|tokens?)|个|个?\s?/\s?(?:层|layers?)|/?每层)$", re.IGNORECASE)
"""Behind a number, what it counts: ``28层``, ``151,936 个词元``, ``8/层`` of experts."""
_REMARK = pattern(
    r"\s*[(（\[][^()（）\[\]]*[)）\]]$|\s+(?:layers?|heads?|dims?|dimensions?|tokens?|blocks?|units|experts?|[层个维])$", re.IGNORECASE
)
