"""A verification as a report and as JSON."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from weighbridge.documents.document import Column, Report, Row, Table
from weighbridge.verification.findings import Finding, Verification

_NUMBER = re.compile(r"(?:(?<=[._/])|^)\d+(?=[._/]|$)")
COLUMNS = (Column("tensor"), Column("elements", "integer"), Column("reason"))


def as_json(found: Verification) -> dict[str, Any]:
    """Return the answer of ``weigh verify --json``; *matched* counts tensors, all other figures are elements."""
    return {
        "source": found.source,
        "config": found.config,
        "class": found.class_name,
        "holds": found.holds,
        "parameters": found.expected,
        "loaded": found.loaded,
        "found": found.found,
        "matched": found.matched,
        "matched_elements": found.matched_elements,
        "explained": [finding._asdict() for finding in found.explained],
        "unexplained": [finding._asdict() for finding in found.unexplained],
        "residual": found.residual,
        "claims": [claim._asdict() for claim in found.claims],
        "notes": list(found.notes),
    }


def report(found: Verification) -> Report:
    """Lay out a verification: matched, explained, unexplained, claims."""
    headline = f"{found.class_name} · {found.source} against {found.config}"
    rows = [
        Row((f"{found.class_name} by its config", found.expected, "unique parameters")),
        Row(("found in the file", found.found, "each storage once")),
        Row((f"{found.matched:,} tensors matched", found.matched_elements, "name and shape")),
    ]
    if found.loaded is not None:
        rows.append(
            Row(
                (
                    f"{found.class_name} loaded from this file",
                    found.loaded,
                    "tensors that the class ties differ here, so loading unties them",
                )
            )
        )
    tables = [Table(COLUMNS, tuple(rows))]
    for title, findings in (("explained", found.explained), ("not explained", found.unexplained)):
        if findings:
            tables.append(Table(COLUMNS, tuple(_folded(findings)), title))
    if found.claims:
        columns = (Column("claim"), Column("stated"), Column("found", "integer"), Column("verdict"))
        rows = [Row((claim.name, f"{claim.stated}", claim.found, "holds" if claim.holds else "does not hold")) for claim in found.claims]
        tables.append(Table(columns, tuple(rows), "what the file says of itself"))
    figure = "all accounted for" if found.holds else f"residual {found.residual:,}"
    return Report(headline, figure, tuple(tables), found.notes)


def _folded(findings: Sequence[Finding]) -> list[Row]:
    """Fold findings that differ only by the number of a layer or an expert."""
    groups: dict[tuple[str, str], list[int]] = {}
    for finding in findings:
        key = (_NUMBER.sub("*", finding.name), _NUMBER.sub("*", finding.reason))
        groups.setdefault(key, []).append(finding.elements)
    rows = []
    for (name, reason), amounts in groups.items():
        rows.append(Row((f"{name} × {len(amounts)}" if len(amounts) > 1 else name, sum(amounts), reason)))
    return rows
