"""A size one digit off its model's in a text that says enough else of that model, and what must stay without an alarm."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

BERT = "# BERT-base\n\nThe model has 12 layers, a hidden size of 768 and 110M parameters.\n\n"


def wrong_numbers(text: str) -> list[str]:
    return [claim.text for claim in audit(text).claims if claim.verdict == "wrong"]


WRONG = {
    BERT + "There are in total 22 attention heads, and every one has its own projections.": "22",
    BERT + "In the Keras implementation this is easy to see.\n\nThe attention is split into 14 heads.": "14",
    "# Llama 3 8B\n\nIt has 32 layers and a hidden size of 4096.\n\nAn optimized tokenizer with a 228,000-token vocabulary came with it.": "228,000",
    "# Mixtral-8x7B\n\nThe hidden size is 4096, with 32 layers and 32 heads.\n\nIt utilizes 9 experts in the place of one MLP.": "9",
    "# Qwen3-0.6B\n\n隐藏维度为 1024，有 16 个注意力头。\n\n## 整体架构：38 层的精简设计": "38",
    "RoBERTa-large is a model with 34 layers that improves on BERT-large.\n\nRoBERTa-large has 16 heads and a hidden size of 1024.": "34",
}


@pytest.mark.parametrize(("text", "number"), WRONG.items())
def test_dissenting_size_is_wrong(text: str, number: str) -> None:
    assert wrong_numbers(text) == [number]


TRUE = (
    BERT + "We freeze the first 10 layers and train the rest.",
    BERT + "A classifier of 2 layers stands on top.",
    BERT + "Our student keeps 11 layers of it.",
    BERT + "- `transfo-xl-wt103`: English, 18-layer, 1024-hidden, 16-heads",
    BERT + "The large one has 24 layers.",
    BERT + "BERT-large has 24 layers and 16 heads.",
    BERT + "If it had 14 heads, the width would not divide.",
    BERT + "Pruning removes heads until 10 heads remain.",
    BERT + "Compared with this, a model of 22 layers is slow.",
    BERT + "For example, 32 heads of 24 dimensions would cost the same.",
    BERT + "We append a CRF and a BiLSTM with 11 layers.",
    BERT + "The CNN baseline has 13 layers.",
    BERT + "The decoder we train from scratch has 2 layers.",
    BERT + "Up to 10 layers may be dropped at inference.",
    BERT + "我们只训练最后 2 层。",
    BERT + "教师模型有 22 层，学生模型有 10 层。",
    BERT + "如果改成 14 个头，维度就除不尽了。",
    BERT + "相比之下，另一个模型有 32 个头。",
    "RoBERTa-large adopts 24 layers, where BERT-base has 12. Both heads divide the width, 1024 and 768.",
    "DistilBERT keeps 6 of the 12 layers of BERT-base, a hidden size of 768 and 12 heads.",
    "BERT-base has 12 layers and 12 heads of 64; TinyBERT was built from it with 14 layers in an early try.",
    "GPT-2 medium has 24 layers, 16 heads and a width of 1024, and unlike GPT-2 it was not cut to 22 layers.",
    "Yi-6B 有 32 层，隐藏维度 4096；复制后面的 16 层，得到 48 层的 Yi-9B。",
    "从 Llama 2 7B（32 层，隐藏维度 4096）里去掉 2 层后，剩下 30 层。",
    "Falcon-7B has 32 layers and a width of 4544; changes to the stack of BLOOM-7B1 gave 30 layers there.",
    "# Mixtral-8x7B\n\n32 layers, hidden size 4096.\n\nOf these, 6 experts sit idle for each token.",
    "# Mixtral-8x7B\n\n32 layers, hidden size 4096.\n\nDeepSeek's design has more: 9 experts in all would be few there.",
    "# Llama 3 8B\n\n32 layers, hidden size 4096.\n\nThe trained tokenizer was cut to a 120,000-token vocabulary for our languages.",
)  # fmt: skip


@pytest.mark.parametrize("text", TRUE)
def test_no_alarm_on_what_may_be_true(text: str) -> None:
    assert wrong_numbers(text) == []
