"""Tables of reStructuredText: rules of equals signs say where the columns are, and what is their head."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.claims import Line
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.tables import Cell, Row, Table

_RULE = pattern(r"\s*=+(?: +=+)+\s*")
_MOST_ROWS = 400


def ruled_tables(lines: Sequence[Line]) -> list[Table]:
    """Return the tables between such rules: a rule, the head, a rule, the rows, a rule.

    >>> rows = ["===== ======", "Model Layers", "===== ======", "gpt2  12", "===== ======"]
    >>> found = ruled_tables([Line(i, text, text, ()) for i, text in enumerate(rows)])
    >>> [[cell.text for cell in row.cells] for row in (*found[0].head, *found[0].rows)]
    [['Model', 'Layers'], ['gpt2', '12']]
    """
    rules = [index for index, line in enumerate(lines) if "= =" in line.text and _RULE.fullmatch(line.text)]
    found: list[Table] = []
    while len(rules) >= len(("above", "below", "end")):
        first, second, last = rules[:3]
        spans = [match.span() for match in re.finditer("=+", lines[first].text)]
        body = range(second + 1, last)
        if second - first < 2 or not body or len(body) > _MOST_ROWS or any(_RULE.sub("", lines[i].text) == "" for i in body):
            rules = rules[1:]
            continue
        head = tuple(_row(lines[index], index, spans) for index in range(first + 1, second))
        rows = tuple(_row(lines[index], index, spans) for index in body)
        found.append(Table(head, rows, frozenset(range(first, last + 1)), first + 1))
        rules = rules[3:]
    return found


def _row(line: Line, index: int, spans: Sequence[tuple[int, int]]) -> Row:
    """Cut a line where its columns begin; the last goes on to its end."""
    cells = []
    for place, (start, _) in enumerate(spans):
        stop = spans[place + 1][0] if place + 1 < len(spans) else len(line.text)
        piece = line.text[start:stop]
        left = start + len(piece) - len(piece.lstrip())
        cells.append(Cell(piece.strip(), left, left + len(piece.strip()), index))
    return Row(index, tuple(cells))
