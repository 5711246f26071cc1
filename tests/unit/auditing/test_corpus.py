"""Fifty texts, right and wrong in known ways: every slip is found, and nothing else is called wrong."""

import json
from pathlib import Path

import pytest

from weighbridge.auditing import audit

CORPUS = Path(__file__).parents[2] / "corpus" / "audit"
TEXTS = sorted(path for path in CORPUS.iterdir() if path.suffix != ".json")
assert len(TEXTS) >= 40


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_slip_is_found_and_nothing_else_is_called_wrong(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
    found = audit(path.read_bytes(), name=path.name)
    assert [(c.line, c.value, c.expected) for c in found.wrong] == [
        (slip["line"], slip["value"], slip["expected"] if slip["expected"] is not None else c.expected)
        for slip, c in zip(expected["wrong"], found.wrong, strict=True)
    ]
    assert sorted({c.line for c in found.claims if c.verdict == "carried"}) == expected["carried"]
    assert len(found.claims) >= expected["least"]
    if expected["model"] is not None:
        assert found.model.endswith(f", {expected['model']}")
    if expected["corrected"] is not None:
        assert found.corrected == expected["corrected"]
    assert set(expected["note"]) <= {c.line for c in found.claims if c.verdict == "note"}


def test_a_corpus_entry_without_its_slip_would_be_noticed() -> None:
    slips = [slip for path in TEXTS for slip in json.loads(path.with_suffix(".json").read_text("utf-8"))["wrong"]]
    assert len(slips) >= 25
