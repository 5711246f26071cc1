"""Counts that a Chinese sentence gives one model, whatever else stands between the name and the number."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        ("Qwen2.5-7B 沿用 Qwen2-7B 的思路,总参数量为 {} 亿。", "76", "66"),
        ("Baichuan-13B 是继 Baichuan-7B 之后发布的、包含 {} 亿参数的模型。", "130", "190"),
        ("Qwen3-8B 在 LLaMA-7B 之后两年发布,参数规模达到 {} 亿。", "82", "92"),
        ("Kimi K2 采用稀疏专家结构,模型参数量是 {}T。", "1", "7"),
        ("Mixtral 8x7B 每次推理激活 {} 亿参数,性能超过 Llama-2-70B。", "129", "192"),
        ("DeepSeek-V3 走的是稀疏路线,它拥有 {} 亿参数。", "6710", "6170"),
    ],
)
def test_a_count_is_its_sentences_model(sentence: str, right: str, wrong: str) -> None:
    assert audit(sentence.format(right)).wrong == ()
    assert [claim.text[: len(wrong)] for claim in audit(sentence.format(wrong)).wrong] == [wrong]


@pytest.mark.parametrize(
    "sentence",
    [
        "LLaMA-7B 经过剪枝后有 54 亿参数。",
        "在 Llama-2-7B 上微调的模型拥有 13 亿参数。",
        "相比 LLaMA-7B,我们的模型只有 13 亿参数。",
        "训练 LLaMA-7B 时,LoRA 只有 420 万参数。",
        "Qwen2.5-7B 的学生模型拥有 15 亿参数。",
        "如果把 LLaMA-7B 换成更小的,参数量为 11 亿。",
        "LLaMA-7B 的词表有限,嵌入层参数量为 1.31 亿。",
        "BERT-large 的参数量是 BERT-base 的三倍。",
        "与 BERT-base 不同,它拥有 15 亿参数。",
        "Llama-2-7B 在 2 万亿个 token 上训练,每层参数量为 2.02 亿。",
    ],
)
def test_nothing_is_wrong_where_another_is_meant(sentence: str) -> None:
    assert audit(sentence).wrong == ()


def test_width_of_hidden_layers_is_no_number_of_layers() -> None:
    assert audit("Llama-2-7b 以 4096 隐藏层维度和 32 层解码器取得平衡。").wrong == ()
