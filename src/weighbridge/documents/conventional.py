"""Arithmetic by a tool's or a paper's custom, and what explains a published figure: as a report, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.core.messages import Say, mark, translator
from weighbridge.core.notation import with_sign
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.headline import headline

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs
    from weighbridge.conventions.arithmetic import Arithmetic
    from weighbridge.conventions.pieces import Piece
    from weighbridge.conventions.reconcile_flops import FlopsMatch, FlopsReconciliation
    from weighbridge.value import ModelValue


def as_json(model: ModelValue, given: Inputs, found: Arithmetic) -> dict[str, Any]:
    """Return the answer of ``weigh flops --convention NAME --json``."""
    custom = found.custom
    return {
        "source": model.source,
        "class": model.class_name or None,
        **given._asdict(),
        "convention": custom.key,
        "value": found.value,
        "unit": custom.unit,
        "definition": custom.definition,
        "custom_of": custom.source,
        "pieces": _pieces(found.pieces),
    }


def document(model: ModelValue, found: Arithmetic, lang: str = "en") -> Document:
    """Lay one custom's number out: what it is made of, what it counts, where it is found."""
    say, custom = translator(lang), found.custom
    columns = (Column(say(mark("what"))), Column(say(custom.unit), "integer"))
    table = Table(columns, tuple(Row((say(piece.what), piece.amount)) for piece in found.pieces))
    return Document(headline(model, say), f"{found.value:,}", (table, *notes((say(custom.definition), say(custom.source)))), lang)


def answer_json(answer: FlopsReconciliation) -> dict[str, Any]:
    """Return the answer of ``weigh reconcile --flops NUMBER SOURCE --json``."""
    return {
        "number": answer.number,
        "class": answer.class_name,
        "forward_matmul": answer.forward_matmul,
        "matches": [_match_json(way) for way in answer.matches],
        "nearest": {**_match_json(answer.nearest), "residual": answer.residual} if answer.nearest else None,
    }


def answer_document(answer: FlopsReconciliation, lang: str = "en") -> Document:
    """Lay out the conventions that give a number of FLOPs, each with its terms."""
    say = translator(lang)
    head = say(mark("{number} against one pass of {name}")).format(number=answer.number, name=answer.class_name)
    columns = (
        Column(say(mark("convention"))),
        Column(say(mark("value")), "integer"),
        Column(say(mark("unit"))),
        Column(say(mark("how it comes about"))),
    )
    ways = answer.matches or ((answer.nearest,) if answer.nearest else ())
    rows = tuple(Row((way.key, way.value, say(way.unit), _steps(way.steps, say))) for way in ways)
    remarks: list[str] = []
    if answer.nearest is not None:
        off = with_sign(answer.residual)
        remarks = [say("No convention gives this number; the nearest is off by {difference}.").format(difference=off)]
    figure = say(mark("{value} FLOPs forward as torch counts them")).format(value=f"{answer.forward_matmul:,}")
    return Document(head, figure, (*((Table(columns, rows),) if rows else ()), *notes(remarks)), lang)


def _match_json(way: FlopsMatch) -> dict[str, Any]:
    return {"convention": way.key, "fit": way.how, "value": way.value, "unit": way.unit, "steps": _pieces(way.steps), "cost": way.cost}


def _pieces(pieces: tuple[Piece, ...]) -> list[dict[str, Any]]:
    return [{"what": piece.what, "count": piece.amount} for piece in pieces]


def _steps(pieces: tuple[Piece, ...], say: Say) -> str:
    """Write what a number is made of: ``16,848,500,736 (products with weights) + ...``."""
    text = ""
    for piece in pieces:
        sign = "− " if piece.amount < 0 else "+ " if text else ""
        text += f"{' ' if text else ''}{sign}{abs(piece.amount):,} ({say(piece.what)})"
    return text
