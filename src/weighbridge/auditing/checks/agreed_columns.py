"""Columns of a table of models whose heads say nothing, told by what they hold: ``Dec. no.`` above the layers of every model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weighbridge.auditing.checks.count_subjects import Subject
from weighbridge.auditing.checks.scene import words_of
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.table_thresholds import AGREED_COLUMN, AGREED_VALUES
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.tables import Cell, Row
from weighbridge.auditing.text.tokens import tokens

_WORDS = ("layers", "heads", "hidden", "mlp", "kv_heads", "vocab")
_LEAST_COUNT = 1_000_000


def kinds_by_agreement(kinds: Sequence[str], rows: Sequence[tuple[Row, Subject]]) -> list[str]:
    """Return what each column holds; one whose head says nothing holds the size, or the count, that nearly all of its rows have there.

    Args:
        kinds: What the heads say.
        rows: The rows that are about one model each.
    """
    found = list(kinds)
    firm = [(row, subject) for row, subject in rows if subject.firm]
    for place, kind in enumerate(kinds if len(firm) >= AGREED_COLUMN else ()):
        cells = [(row.cells[place], subject) for row, subject in firm if place < len(row.cells)] if kind in ("", "other") else []
        figures = [(figure, subject) for cell, subject in cells if (figure := _figure(cell)) is not None]
        sizes = [(int(figure.value or 0), words_of(subject.models[0])) for figure, subject in figures if not figure.unit]
        fitting = [word for word in _WORDS if not kind and word not in found and _is_held(word, sizes)]
        if len(fitting) == 1:
            found[place] = fitting[0]
        elif "total" not in kinds and _are_totals(figures):
            found[place] = "total"
    return found


def _figure(cell: Cell) -> Token | None:
    """Return the number that a cell begins with, but for marks."""
    text = cell.text.lstrip("*`~≈$ ")
    found = tokens(text, cell.line) if text[:1].isdigit() else ()
    return found[0] if found and found[0].kind == "num" and found[0].value and not (found[0].places and not found[0].unit) else None


def _is_held(word: str, told: Sequence[tuple[int, Mapping[str, int]]]) -> bool:
    """Tell whether all numbers of a column but one are a size of their models, and are several numbers."""
    right = [number for number, own in told if own.get(word) == number]
    return len(told) >= AGREED_COLUMN and len(told) - len(right) <= 1 and len(set(right)) >= AGREED_VALUES


def _are_totals(figures: Sequence[tuple[Token, Subject]]) -> bool:
    """Tell whether all figures of a column but one are the counts of their models, and are several."""
    counts = [
        (one, subject) for one, subject in figures if one.unit in ("m", "b", "t") or (not one.unit and (one.value or 0) >= _LEAST_COUNT)
    ]
    if len(counts) < AGREED_COLUMN or len(counts) < len(figures):
        return False
    right = [one.value for one, subject in counts if settle(one, subject.models, whole=True) is not None]
    return len(counts) - len(right) <= 1 and len(set(right)) >= AGREED_VALUES
