"""A question whose tokens see the whole text, as Longformer's do."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.core.errors import UsageError

TINY = {
    "model_type": "longformer",
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "attention_window": 4,
}


def test_more_tokens_of_a_question_cost_more_each_alike() -> None:
    found = [model(TINY, "LongformerForQuestionAnswering").flops(seq=16, question=tokens).forward_matmul for tokens in (1, 2, 3)]
    assert found[2] - found[1] == found[1] - found[0]
    assert found[0] != found[1]


def test_the_length_of_a_question_is_asked_for() -> None:
    with pytest.raises(UsageError, match="such as question 12"):
        model(TINY, "LongformerForQuestionAnswering").flops(seq=16)


@pytest.mark.parametrize(
    ("name", "question", "says"),
    [
        ("LongformerForMaskedLM", 2, "sees no more than other tokens"),
        ("LongformerForQuestionAnswering", 17, "longer than the text"),
        ("LongformerForQuestionAnswering", 0, "from 1 to"),
    ],
)
def test_a_question_that_cannot_be_meant_is_refused(name: str, question: int, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        model(TINY, name).flops(seq=16, question=question)
