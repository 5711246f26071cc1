"""True sentences on memory, caches, work, adapters, shares and comparisons: none is called wrong."""

from pathlib import Path

from weighbridge.auditing import audit

SENTENCES = (Path(__file__).parents[2] / "corpus" / "audit_true.txt").read_text("utf-8").splitlines()[1:]
assert len(SENTENCES) >= 100


def test_a_true_sentence_is_not_called_wrong() -> None:
    alarms = [(sentence, claim.text) for sentence in SENTENCES for claim in audit(sentence.encode()).wrong]
    assert alarms == []
