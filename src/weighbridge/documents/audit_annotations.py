"""An audit for a pull request: workflow commands that GitHub shows beside the lines, and SARIF 2.1.0."""

from __future__ import annotations

import json
from collections.abc import Sequence

from weighbridge.auditing.claims import Audit, Claim
from weighbridge.core.messages import Say
from weighbridge.documents.audit import remark

LEVELS = {"wrong": "error", "carried": "warning", "note": "notice"}
"""What is shown, and how loud."""
_SARIF = {"wrong": "error", "carried": "warning", "note": "note"}
_RULES = {"wrong": "A number that is wrong", "carried": "A number that follows from an error", "note": "A number worth a look"}


def as_github(audits: Sequence[tuple[str, Audit]], say: Say) -> str:
    """Write a workflow command for each claim worth showing.

    Source: docs.github.com, workflow commands for GitHub Actions, "Setting an error message".
    """
    return "".join(
        f"::{LEVELS[claim.verdict]} file={_property(name)},line={claim.line},col={claim.start + 1},endColumn={claim.end + 1},"
        f"title=weigh audit::{_message(f'{claim.text}: {remark(claim, say)}')}\n"
        for name, found in audits
        for claim in found.claims
        if claim.verdict in LEVELS
    )


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def as_sarif(audits: Sequence[tuple[str, Audit]], say: Say) -> str:
    """Write a SARIF log with one run (OASIS, Static Analysis Results Interchange Format 2.1.0)."""
    results = [_result(name, claim, say) for name, found in audits for claim in found.claims if claim.verdict in _SARIF]
    rules = [{"id": rule, "shortDescription": {"text": text}} for rule, text in _RULES.items()]
    run = {"tool": {"driver": {"name": "weigh audit", "rules": rules}}, "columnKind": "unicodeCodePoints", "results": results}
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, ensure_ascii=False, indent=1) + "\n"


def _result(name: str, claim: Claim, say: Say) -> dict[str, object]:
    region = {"startLine": claim.line, "startColumn": claim.start + 1, "endColumn": max(claim.end, claim.start + 1) + 1}
    place = {"physicalLocation": {"artifactLocation": {"uri": name.replace("\\", "/")}, "region": region}}
    message = {"text": f"{claim.text}: {remark(claim, say)}"}
    return {"ruleId": claim.verdict, "level": _SARIF[claim.verdict], "message": message, "locations": [place]}
