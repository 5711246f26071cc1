"""The pieces of a sentence on memory or arithmetic work: its clauses, what its parts add up to, and the number of a word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.quantities import ROLES
from weighbridge.auditing.text.quantity_words import Piece

FIGURES = frozenset(("figure", "range", "work"))
"""What a clause is read for."""
_ASIDE = ROLES | {"dtype"}
"""What parentheses behind a figure may say of it."""
SMALL = pattern(r"(\d{1,2})\s?(?:bytes?|字节)", re.IGNORECASE)
"""Bytes of one number, which are no figure of memory."""
_COUNTED_UP = 3
_MOST_OF_PART = 12
"""Bytes of each parameter that a part of training keeps at most: the optimizer's, with its copy of the weights."""
NUMBER = pattern(r"\d[\d,]*(?:\.\d+)?")
_SCALES = (
    ("十亿", 10**9),
    ("百万", 10**6),
    ("万亿", 10**12),
    ("trillion", 10**12),
    ("billion", 10**9),
    ("亿", 10**8),
    ("万", 10**4),
    ("t", 10**12),
    ("b", 10**9),
)


def count_up(text: str, sentence: Sequence[Piece]) -> Fraction | None:
    """Return the bytes of each parameter that a sentence counts up: ``weights (2 bytes), gradients (2 bytes) and states (12 bytes)``."""
    small = [
        int(value_of(text[piece.start : piece.end]))
        for piece in sentence
        if piece.kind == "rate" or (piece.kind == "figure" and SMALL.match(text, piece.start) is not None)
    ]
    if len(small) < _COUNTED_UP or not any(piece.kind in ("gradients", "optimizer", "master") for piece in sentence):
        return None
    for total, parts in ((small[-1], small[:-1]), (small[0], small[1:])):
        if total == sum(parts):
            return Fraction(total)  # which stands behind its parts, or before them
    return Fraction(sum(small)) if max(small) <= _MOST_OF_PART and not any(piece.kind == "total" for piece in sentence) else None


def split_clauses(sentence: Sequence[Piece]) -> list[list[Piece]]:
    """Split a sentence at its signs; parentheses that say what a figure before them is of are part of its clause: ``31.4 GB (stage 1)``."""
    clauses: list[list[Piece]] = []
    clause: list[Piece] = []
    opened = False
    changed = any(piece.kind == "old" for piece in sentence)
    for piece in sentence:
        begins = piece.kind == "old"
        if begins and clause:
            clauses.append(clause)
            clause = []
        if begins or piece.kind not in ("comma", "with", "open", "close", "end", *(("to",) if changed else ())):
            clause.append(piece)
            continue
        if opened and clauses and clause and {p.kind for p in clause} <= _ASIDE and clauses[-1][-1].kind in FIGURES:
            clauses[-1] += clause
        elif clauses and clause and {p.kind for p in clause} <= ROLES and _ends_in_role(clauses[-1]):
            clauses[-1] += clause  # ``21 GB for weights, gradients and optimizer states``
        elif clause:
            clauses.append(clause)
        opened, clause = piece.kind == "open", []
    if clauses and clause and {p.kind for p in clause} <= ROLES and _ends_in_role(clauses[-1]):
        clauses[-1] += clause
        return clauses
    return [*clauses, clause] if clause else clauses


def has_more(sentence: Sequence[Piece], figure: Piece) -> bool:
    """Tell whether something is added to a figure behind it: ``needs 40 GB with its context``."""
    later = [piece for piece in sentence if piece.start > figure.start]
    stop = next((piece.start for piece in later if piece.kind in FIGURES), None)
    return any(piece.kind == "with" and (stop is None or piece.start < stop) for piece in later)


def _ends_in_role(clause: Sequence[Piece]) -> bool:
    """Tell whether a clause says behind its figure what that is of."""
    figures = [place for place, piece in enumerate(clause) if piece.kind in FIGURES]
    return len(figures) == 1 and clause[-1].kind in ROLES and figures[0] < len(clause) - 1


def value_of(text: str) -> Fraction:
    """Return the number of a word: 7,000,000,000 of ``7B``."""
    found = NUMBER.search(text)
    if found is None:
        return Fraction(0)
    behind = text[found.end() :].strip().lower()
    number = Fraction(found[0].replace(",", ""))
    if re.match(r"k(?![a-z])", behind):
        return number * 1000
    return number * next(
        (scale for sign, scale in _SCALES if behind.startswith(sign) and not behind.startswith(("tok", "byte", "bit", "batch"))), 1
    )
