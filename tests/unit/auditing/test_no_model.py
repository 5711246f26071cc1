"""A text whose sizes fit no model is held against itself alone."""

from __future__ import annotations

from weighbridge.auditing import audit


def test_sizes_that_fit_no_model_are_no_error() -> None:
    text = "BERT with hidden_size 768, num_attention_heads 109482240, vocab_size 30522, 12 layers.\n\n2 + 2 = 5\n"
    found = audit(text)
    assert [claim.verdict for claim in found.claims if claim.kind == "arithmetic"] == ["wrong"]
