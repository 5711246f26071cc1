"""Sizes said in words, lists of settings, experts; counts in the wrong power of ten; what must not be called wrong."""

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.text.field_words import label_before, label_of_line, read_fields


def verdicts(text: str) -> list[tuple[int, str, object]]:
    return [(claim.line, claim.verdict, claim.value) for claim in audit(text).claims if claim.kind == "configuration"]


def wrong(text: str) -> list[tuple[int, object, object]]:
    return [(claim.line, claim.value, claim.expected) for claim in audit(text).wrong]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("128 experts, 8 activated per token", [("experts", 128), ("active", 8)]),
        ("activates 8 of 256 routed experts and 1 shared expert", [("experts", 256), ("shared", 1)]),
        ("注意力头数量(GQA):Q 为 32 个,KV 为 4 个", [("heads", 32), ("kv_heads", 4)]),
        ("包含128个专家,每个token激活8个专家,共48层", [("experts", 128), ("active", 8), ("layers", 48)]),
        ("64 query heads, 8 key-value heads, 80 layers", [("heads", 64), ("kv_heads", 8), ("layers", 80)]),
        ("top-2 routing over 8 experts", [("active", 2), ("experts", 8)]),
        ("12 × 768 layers, 3-4 layers, 2.5 layers, 8 experts × 3", [("experts", 8)]),
        ("n_audio_head=6,", [("heads", 6)]),
        ("768-dimensional", [("width", 768)]),
    ],
)
def test_sizes_are_read_in_words(text: str, expected: list[tuple[str, int]]) -> None:
    assert [(found.word, found.value) for found in read_fields(text)] == expected


def test_a_label_is_the_longest_phrase_right_before() -> None:
    assert label_before("the number of attention heads", 29) == "heads"
    assert label_before("12 layers", 9) is None  # they are the number's
    assert label_of_line("**Number of Experts**") == "experts"
    assert label_of_line("Chapter 3 layers") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("DeepSeek-V3 has 128 experts in each MoE layer.", [(1, 128, 256)]),
        ("Deepseek-V3采用混合专家架构,通过128个专家模块实现", [(1, 128, 256)]),
        ("DeepSeek-V3 activates 6 experts per token.", [(1, 6, 8)]),
        ("# Gemma 2 2B\n\nHidden Size\n2304\nNumber of Layers\n26\nKey-Value Heads\n4\nAttention Heads\n16\n", [(10, 16, 8)]),
        ("GPT-2 Large 架构包含:\n- 16层结构\n- hidden_size: 1280\n- 20个注意力头\n", [(2, 16, 36)]),
        ("BERT-base has 110 billion parameters.", [(1, 110 * 10**9, 109_482_240)]),
        ("BERT base模型具有110亿个参数。", [(1, 11 * 10**9, 109_482_240)]),
        ("| Model | Q heads | KV heads |\n|---|---|---|\n| Llama 2 70B | 64 | 8 |\n| Mistral 7B | 32 | 4 |\n", [(4, 4, 8)]),
    ],
)
def test_a_size_that_is_not_the_models_is_wrong(text: str, expected: list[tuple[int, object, object]]) -> None:
    assert wrong(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "DeepSeek-V3 deploys 8 experts per GPU and 32 experts per node.",
        "Mixtral 8x7B, unlike others, could have 16 experts.",
        "We train a smaller DeepSeek-V3 with 64 experts.",
        "如果 DeepSeek-V3 只有128个专家,会怎样?",
        "DeepSeek-V3 has 257 experts with the shared one, 9 active.",
        "# Our BERT-base from scratch\n- Layers: 4\n- Hidden size: 768\n- Vocab size: 30522\n",
        "gpt-oss-120b has 117B parameters, of which 5.1B are active per token.",
        "Qwen3-30B-A3B 总参数达305亿但实际激活参数仅33亿",
        "Qwen3-30B-A3B has 30.5B in total and 3.3B activated parameters.",
        "DeepSeek-V3 activates 37B of its 671B parameters per token.",
        "Llama-2-7B has 6.7M parameters in adapters.",
        "| Backbone | # of Params (M) |\n|---|---|\n| ViT_b_16 | 70.9 |\n| ConvNext Tiny | 99.5 |\n| Swin Tiny | 28.3 |\n",
    ],
)
def test_what_may_be_meant_otherwise_is_not_wrong(text: str) -> None:
    assert wrong(text) == []


def test_sizes_of_the_nearest_model_are_confirmed_once() -> None:
    text = "Qwen3-235B-A22B has 94 layers, 64 query heads and 4 KV heads, 128 experts and 8 activated."
    assert verdicts(text) == [(1, "exact", value) for value in (94, 64, 4, 128, 8)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("13B 模型\n每个参数 2 字节(FP16)\n显存约 26 GB", (3, "rounded")),
        ("| Component | Precision | Bytes |\n|---|---|---|\n| Parameters | FP32 | 4 bytes |", (3, "exact")),
        ("T5-Efficient\nParameter Count 222.93M parameters\nMemory 891.73 MB (FP32)", (3, "rounded")),
    ],
)
def test_bytes_that_the_text_explains_are_confirmed(text: str, expected: tuple[int, str]) -> None:
    assert expected in [(claim.line, claim.verdict) for claim in audit(text).claims]


def test_parts_of_a_model_in_a_table_are_confirmed() -> None:
    text = "| T5 | Params | Encoder params | Decoder params |\n|---|---|---|---|\n| T5-Small | 76,956,160 | 35,330,816 | 41,625,344 |"
    assert [claim.verdict for claim in audit(text).claims] == ["convention"] * 3


@pytest.mark.parametrize(
    "text",
    [
        "a <trigger-name> and a <trigger-kind>",
        "weight [0, 768] 1\n",
        "==31751== D1  miss rate:  0.2% ( 0.1% + 0.4%)",
        "== 384156  vex x86->IR: 0x67 0xE8",
        "每条数据长度L为512,共12层,12 × 768 = 9,216",
        "Qwen3-30B-A3B 的计算量从300亿参数降至75-150亿参数",
        "Kimi K2 has 1.04 trillion total parameters.",
    ],
)
def test_what_other_texts_hold_neither_crashes_nor_alarms(text: str) -> None:
    assert wrong(text) == []
