"""A verification as a document and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge.core.messages import Say, mark, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.documents.layer_names import folded_name, pattern
from weighbridge.verification.findings import Finding, Verification

COLUMNS = ((mark("tensor"), "text"), (mark("elements"), "integer"), (mark("reason"), "text"))
VERDICTS = {True: mark("holds"), False: mark("does not hold")}


def as_json(found: Verification) -> dict[str, Any]:
    """Return the answer of ``weigh verify --json``; *matched* counts tensors, all other figures are elements."""
    return {
        "source": found.source,
        "config": found.config,
        "class": found.class_name,
        "holds": found.holds,
        "parameters": found.expected,
        "found": found.found,
        "loaded": found.loaded,
        "matched": found.matched,
        "matched_elements": found.matched_elements,
        "explained": [finding._asdict() for finding in found.explained],
        "unexplained": [finding._asdict() for finding in found.unexplained],
        "residual": found.residual,
        "claims": [claim._asdict() for claim in found.claims],
        "notes": list(found.notes),
    }


def document(found: Verification, lang: str = "en") -> Document:
    """Lay out a verification: matched, explained, unexplained, claims."""
    say = translator(lang)
    rows = [
        Row((say("{name} by its config").format(name=found.class_name), found.expected, say("unique parameters"))),
        Row((say("found in the file"), found.found, say("each storage once"))),
        Row((say("{matched} tensors matched").format(matched=f"{found.matched:,}"), found.matched_elements, say("name and shape"))),
    ]
    if found.loaded is not None:
        reason = say("tensors that the class ties differ here, so loading unties them")
        rows.append(Row((say("{name} loaded from this file").format(name=found.class_name), found.loaded, reason)))
    columns = tuple(Column(say(title), kind) for title, kind in COLUMNS)
    tables = [Table(columns, tuple(rows))]
    for title, findings in ((say("explained"), found.explained), (say("not explained"), found.unexplained)):
        tables += [Table(columns, tuple(_fold_findings(findings, say)), title)] if findings else []
    if found.claims:
        titles = (Column(say("claim")), Column(say("stated")), Column(say("found"), "integer"), Column(say("verdict")))
        rows = [Row((say(claim.name), f"{claim.stated}", claim.found, say(VERDICTS[claim.holds]))) for claim in found.claims]
        tables.append(Table(titles, tuple(rows), say("what the file says of itself")))
    figure = say("all accounted for") if found.holds else say("residual {residual}").format(residual=f"{found.residual:,}")
    title = say("{name} · {source} against {config}").format(name=found.class_name, source=found.source, config=found.config)
    return Document(title, figure, (*tables, *notes([say(text) for text in found.notes])), lang)


def _fold_findings(findings: Sequence[Finding], say: Say) -> list[Row]:
    """Fold findings that differ only by the number of a layer or an expert."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((pattern(finding.name), pattern(finding.reason)), []).append(finding)
    return [
        Row((folded_name([f.name for f in found]), sum(f.elements for f in found), say(reason if len(found) > 1 else found[0].reason)))
        for (_, reason), found in groups.items()
    ]
