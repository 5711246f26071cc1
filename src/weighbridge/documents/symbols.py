"""The table of letters that stands above formulas: each with its config key, what it means, and its value."""

from __future__ import annotations

from collections.abc import Iterable

from weighbridge.core.messages import Say
from weighbridge.documents.document import Column, Row, Table


def symbol_table(letters: Iterable[tuple[str, str, str, int]], say: Say) -> Table:
    """Lay letters out.

    Args:
        letters: Of each: the letter, the config key or flag it comes from, its meaning as it is to be read, and its value.
    """
    columns = (Column(say("symbol"), "letter"), Column(say("config key")), Column(say("meaning")), Column(say("value"), "integer"))
    return Table(columns, tuple(map(Row, letters)))
