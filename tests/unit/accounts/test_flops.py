"""What is counted beside products of matrices, and the ends of what may be asked."""

from __future__ import annotations

from weighbridge import model
from weighbridge.accounts.flops import flops
from weighbridge.core.parts import layer_norm, linear
from weighbridge.core.tree import Part


def test_forward_counts_biases_gains_and_shifts_once_for_each_token() -> None:
    found = flops(Part("", (linear("dense", 8, 4), layer_norm("norm", 4))), {"seq": 3}, 2)
    assert found.forward_matmul == 2 * 8 * 4 * 3 * 2
    assert found.forward == found.forward_matmul + (4 + 4 + 4) * 3 * 2
    assert found.backward == 2 * found.forward_matmul


def test_a_question_may_be_the_whole_text() -> None:
    raw = {"model_type": "longformer", "num_hidden_layers": 1, "attention_window": [4]}
    assert model(raw, "LongformerForQuestionAnswering").flops(seq=16, question=16).forward_matmul
