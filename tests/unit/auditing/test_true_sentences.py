"""True sentences on memory, caches, work, adapters, shares and comparisons, and true texts of several lines: none is called wrong."""

from pathlib import Path

import pytest

from weighbridge.auditing import audit

CORPUS = Path(__file__).parents[2] / "corpus"
SENTENCES = (CORPUS / "audit_true.txt").read_text("utf-8").splitlines()[1:]
TEXTS = dict(entry.split("\n", 1) for entry in (CORPUS / "audit_true_texts.txt").read_text("utf-8").split("\n=== ")[1:])
assert len(SENTENCES) >= 100


def test_a_true_sentence_is_not_called_wrong() -> None:
    alarms = [(sentence, claim.text) for sentence in SENTENCES for claim in audit(sentence.encode()).wrong]
    assert alarms == []


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_true_text_is_not_called_wrong(text: str) -> None:
    found = audit(text.encode())
    assert [claim.text for claim in found.wrong] == []
    assert found.claims
