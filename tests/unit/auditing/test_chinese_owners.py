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
        ("DeepSeek 发布了 DeepSeek-V3,它是一个混合专家模型,总参数量达到 {} 亿。", "6710", "5710"),
        ("妙处在于:DeepSeek-V3 一共 671B,每个词元只激活 {}B。", "37", "47"),
        ("Mixtral 8x7B 总参数 46.7B,但推理时只激活 {}B。", "12.9", "10.0"),
        ("Qwen3-235B-A22B 正式开源,以 {} 亿总参数的规模位居前列。", "2350", "9350"),
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


def test_a_paper_sets_its_own_model_beside_another() -> None:
    said = "隐藏维度与 Qwen2-7B 相同(3584 维、28 隐藏层、{} 注意力头——本文模型为 8 层)。"
    assert [[claim.text for claim in audit(said.format(heads)).wrong] for heads in (28, 26)] == [[], ["26"]]


def test_packed_weights_explain_no_figure_of_one_digit() -> None:
    table = "| 模型 | 参数量 | 层数 | 隐藏维度 |\n|---|---|---|---|\n| Llama2-7B | {} | 32 | 4096 |\n| Llama2-13B | 13B | 40 | 5120 |\n"
    assert [[claim.text for claim in audit(table.format(said)).wrong] for said in ("7B", "3.5B", "4B")] == [[], [], ["4B"]]


@pytest.mark.parametrize(("words", "wrong"), [(30522, []), (37522, ["37522"])])
def test_a_vocabulary_contains_its_words(words: int, wrong: list[str]) -> None:
    text = f"以 BERT-base 为例,模型使用的词表包含 {words} 个 token,每个 token 是 768 维向量,共有 12 层,输入序列最长为 512。"
    assert [claim.text for claim in audit(text).wrong] == wrong
