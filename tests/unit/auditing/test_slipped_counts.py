"""Counts of a whole model with one digit off: wrong where a sentence names the model, left where they may be another's."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit


def wrong_numbers(text: str) -> list[str]:
    return [claim.text for claim in audit(text).claims if claim.verdict == "wrong"]


WRONG = {
    "# BLOOM-7B1\n\nIt keeps ALiBi in place of positions.\n\nAll in all the checkpoint holds 8,069,016,064 parameters.": "8,069,016,064",
    "DeepSeek-V3 pairs latent attention with experts, of which 39 billion parameters are active for a token.": "39 billion",
    "# vit-base-patch16-224\n\nvit-base-patch16-224 is a vision transformer with 96.6M parameters, pre-trained on ImageNet.": "96.6M",
    "Phi-2, a decoder-only model of 3.7B parameters, came out in December.": "3.7B",
}  # fmt: skip


@pytest.mark.parametrize(("text", "number"), WRONG.items())
def test_count_with_one_digit_off_is_wrong(text: str, number: str) -> None:
    assert wrong_numbers(text) == [number]


TRUE = (
    "# Filmer 9\n\nA 22B parameter model for films.\n\n96 GB are needed, owing to the 22B parameter transformer.\n\nIts prompts go through Gemma 3 12B.",
    "## Gemma 3 12B as a reader of prompts\n\nA 22B parameter model paints what it has read.",
    "Llama 3 8B costs more than a 9 billion parameter model of the last generation would.",
    "Mixtral 8x7B is as fast as a 14B model.",
    "The name Mixtral 8x22B suggests 176B parameters.",
    "Llama 2 70B is no 60B model, whatever its name says.",
    "GPT-3 has 175B parameters, and AI21 followed with a 178B parameter model.",
    "DeepSeek-V3 activates 38B parameters with its drafting layer.",
    "A 5 billion parameter model is what fits beside Llama 3 8B.",
    "For an 80 billion parameter model, two cards are needed; Llama 2 70B fits too.",
    "Qwen2.5-7B（76 亿参数）比 80 亿参数的模型小一点。",
    "Llama 3 8B 之外，还有 90 亿参数级别的 Gemma 2。",
    "We distilled Llama 3 8B into a 5 billion parameter student.",
    "Falcon-40B needs 90 GB, as an 80 billion parameter model does in 8 bits.",
)  # fmt: skip


@pytest.mark.parametrize("text", TRUE)
def test_no_alarm_on_what_may_be_anothers(text: str) -> None:
    assert wrong_numbers(text) == []
