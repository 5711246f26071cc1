"""A reconciliation as a document and as JSON."""

from __future__ import annotations

from typing import Any

from weighbridge.conventions.pieces import Piece
from weighbridge.conventions.reconcile import Match, Reconciliation, explanation
from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.notation import with_sign
from weighbridge.documents.document import Column, Document, Row, Table, notes

HOW = {
    "exact": mark("exact"),
    "rounded": mark("rounded"),
    "truncated": mark("truncated, not rounded"),
    "coarse": mark("rounded, with zeros at the end"),
    "published": mark("as published"),
    "nearest": mark("nearest"),
}

HIDDEN = (
    mark("{number} more conventions lie within what this number can mean: --all."),
    mark("{number} more convention lies within what this number can mean: --all."),
)


def document(answer: Reconciliation, lang: str = "en") -> Document:
    """Lay a reconciliation out: the conventions, how each comes to its number, and how it differs from the model.

    >>> from weighbridge import model
    >>> from weighbridge.conventions.reconcile import reconcile
    >>> document(reconcile(model("bert-base-uncased"), 108808704)).tables[0].rows[0].cells[0]
    'BertModel without linear biases and pooler'
    """
    say = translator(lang)
    head = say("{number} against {name}").format(number=_with_commas(answer.number), name=answer.class_name)
    figure = say("{name} has {value}").format(name=answer.class_name, value=f"{answer.reference:,}")
    columns = (Column(say("convention")), Column(say("value"), "integer"), Column(say("fit")), Column(say("how it comes about")))
    matches = answer.matches or ((answer.nearest.match,) if answer.nearest and not _is_far(answer) else ())
    table = Table(columns, tuple(Row(_cells(match, say)) for match in matches))
    return Document(head, figure, (*((table,) if matches else ()), *notes(_notes(answer, say))), lang)


def as_json(answer: Reconciliation) -> dict[str, Any]:
    """Return a reconciliation as plain data."""
    return {
        "number": answer.number,
        "class": answer.class_name,
        "reference": answer.reference,
        "matches": [_match_json(match) for match in answer.matches],
        "hidden": answer.hidden,
        "hints": list(answer.hints),
        "nearest": {
            **_match_json(answer.nearest.match),
            "residual": answer.nearest.residual,
            "hints": list(answer.nearest.hints),
        }
        if answer.nearest
        else None,
    }


def _match_json(match: Match) -> dict[str, Any]:
    return {
        "class": match.class_name,
        "convention": match.convention,
        "rules": list(match.keys),
        "value": match.value,
        "fit": match.how,
        "unit": match.unit,
        "class_count": match.class_count,
        "leaves_out": _pieces(match.leaves_out),
        "adds": _pieces(match.adds),
        "from_reference": _pieces(match.from_reference),
        "cost": match.cost,
    }


def _pieces(pieces: tuple[Piece, ...]) -> list[dict[str, Any]]:
    return [{"what": piece.what, "count": piece.amount} for piece in pieces]


def _with_commas(number: str) -> str:
    return f"{int(number):,}" if number.isascii() and number.isdigit() and len(number) < 40 else number


def _cells(match: Match, say: Say) -> tuple[str, int, str, str]:
    unit = say(", in units of 2^{power}").format(power=match.unit.bit_length() - 1) if match.unit % 1000 else ""
    how = explanation(match, say)
    return match.convention, match.value, say(HOW[match.how]) + (unit if match.unit > 1 else ""), how if "=" in how else ""


def _is_far(answer: Reconciliation) -> bool:
    """Tell whether even the nearest count is off by more than a quarter, so that how it comes about explains nothing."""
    return answer.nearest is not None and 4 * abs(answer.nearest.residual) > answer.nearest.match.value


def _notes(answer: Reconciliation, say: Say) -> list[str]:
    if answer.nearest is None:
        more = say(HIDDEN[answer.hidden == 1]).format(number=answer.hidden)
        return [*answer.hints[:1], *(f"- {hint}" for hint in answer.hints[1:]), *([more] if answer.hidden else [])]
    residual = answer.nearest.residual
    if _is_far(answer):
        text = say("No convention of this model comes near this number: the nearest, {convention}, has {value}.")
        return [text.format(convention=answer.nearest.match.convention, value=f"{answer.nearest.match.value:,}")]
    first = say("No convention gives this number; the nearest is off by {difference}.").format(difference=with_sign(residual))
    return [first, *(f"- {hint}" for hint in answer.nearest.hints)]
