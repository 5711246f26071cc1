"""Sentences that give one part of a model a rounded count: what is true is no alarm, and what is far off is one."""

from __future__ import annotations

import pytest

from weighbridge import audit

TRUE = """\
Each layer of BERT-base has about 7M parameters.
The attention of each BERT-base layer has 2.36M parameters.
The attention layers of BERT-base have 28M parameters.
The feed-forward network of BERT-base has 56.7M parameters.
The FFN of BERT-base has 4.7M parameters.
The embedding layer of bert-base-uncased has 23.4M parameters.
The encoder of BERT-base has 85M parameters.
The encoder of BERT-base has 86M parameters.
The MLP of llama-2-7b has 135M parameters.
The up projection of llama-2-7b has 45M parameters.
The key projection of llama-3-8b has 4.2M parameters.
The embeddings of llama-3-8b have 1.05B parameters.
The MLP layers of Mixtral 8x7B have 45B parameters.
The encoder of T5-base has 110M parameters.
Each layer of DeepSeek-V3 has 11.5B parameters.
BERT-base 的每一层有 709 万参数。
llama-2-7b 每层的 MLP 有 1.35 亿参数。
In llama-2-7b, 32 × 202.4M = 6476.3M.
"""


@pytest.mark.parametrize("text", TRUE.splitlines())
def test_a_true_count_of_a_part_is_no_alarm(text: str) -> None:
    assert not [claim for claim in audit(text).claims if claim.verdict == "wrong"]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Each transformer layer of llama-2-7b has about 702.4M parameters.", 202_383_360),
        ("The feed-forward network of each llama-3-70b layer has 104.6M parameters.", 704_643_072),
        ("In llama-2-7b each attention block holds 37.1M parameters and each MLP 135.3M.", 67_108_864),
    ],
)
def test_a_count_of_a_part_is_wrong_however_far_off(text: str, right: int) -> None:
    assert [claim.expected for claim in audit(text).claims if claim.verdict == "wrong"] == [right]


def test_two_counts_of_one_row_are_of_two_models() -> None:
    rows = "| Falcon 3 | 1B, 3B |\n| Phi 1.5 & 2 | 1.3B, 2.7B |\n| Phi 4 | 14B |\n| Mistral 7B | 7.24B |\n| Llama 2 7B | 6.74B |\n"
    assert not [claim for claim in audit("| Model | Model size |\n|---|---|\n" + rows).claims if claim.verdict == "wrong"]
