"""Products that a text leaves uncomputed, layers written as calls, and bytes right behind a character, each held against the model."""

import pytest

from weighbridge.auditing import audit

STEPS = """手推 BERT-base 的参数量

1. Token Embeddings: 30522 × 768
2. Position Embeddings: 512 × 768 (最大序列长度为512)
3. Segment Embeddings: 2 × 768
4. Layer Normalization: 2 × 768 (gamma和beta参数)
5. Output projection: 768 × 768
6. First layer: 768 × 3072 + 3072 (权重+偏置)
7. Second layer: 3072 × 768 + 768 (权重+偏置)
"""
CALLS = """### Bert large

Q，K，V和拼接Linear都是Linear(1024,1024)，

FFN为Linear(1024,4096)以及Linear(4096,1024)。
"""
TRUE = [
    STEPS,
    CALLS,
    # heads, tasks and layers of one's own beside the model's
    CALLS + "\n分类层为Linear(1024,2)，抽取式问答再加一个Linear(1024,384)。\n",
    STEPS + "\n我们在后面加了一个分类层：768 × 10 + 10，以及一个 LSTM：4 × (768 × 256 + 256 × 256)。\n",
    STEPS + "\n如果把位置扩展到 1024：1024 × 768；若词表换成 21128：21128 × 768。\n",
    STEPS.replace("BERT-base", "ALBERT-base").replace("30522 × 768", "30000 × 128").replace("512 × 768", "512 × 128"),
    "GPT-2 small\n\nwte: 50257 × 768\nwpe: 1024 × 768\nc_attn: 768 × 2304 + 2304\nc_proj: 768 × 768 + 768\n",
    "LLaMA-7B\n\nembed_tokens: 32000 × 4096\nq_proj: 4096 × 4096\ngate_proj: 4096 × 11008\nlora_A: 8 × 4096\nlora_B: 4096 × 8\n",
    "bert-base-chinese\n\n词嵌入: 21128 × 768\n位置嵌入: 512 × 768\n一个批次的词向量: 32 × 128 × 768\n注意力分数: 12 × 128 × 128\n",
    "BERT-base 中每个头的参数是 768 × 64 × 3，12 个头是 768 × 64 × 3 × 12，再加上输出 768 × 768。",
    # bytes
    "对于一个70亿参数的LLM，FP16格式需要约14GB显存，而INT4量化后仅需约3.5GB。",
    "LLaMA-7B需要约14GB显存（FP16格式），训练时需要约112GB显存，一张24GB显存的显卡放不下。",
    "训练一个7B模型需要60GB显存，推理只要16GB显存就够（INT8）。",
    "llama-13b 模型参数占用了26GB（fp16），40GB显存的A100还剩14GB显存。",
    "一个70亿参数的模型，FP16格式加上KV缓存和激活一共需要约18GB显存。",
    "BERT-base(110M参数):12个Transformer编码器,每个编码器包含12个自注意力头,隐藏层大小为768,词汇表大小为30,000。",
    "# Qwen2.5-7B\n该模型拥有76.1亿总参数,非嵌入参数达65.3亿,适用于本地部署。\n它不仅在参数总量上达到 76.1 亿,更关键的是其非嵌入参数数量高达 65.3 亿。",
]


@pytest.mark.parametrize("text", TRUE, ids=lambda text: repr(text)[:40])
def test_what_is_right_is_not_called_wrong(text: str) -> None:
    assert [(claim.text, claim.expected) for claim in audit(text).wrong] == []


@pytest.mark.parametrize(
    ("text", "right", "slip"),
    [
        (STEPS, "512 × 768 (", "522 × 768 ("),
        (STEPS, "2. Position Embeddings: 512 × 768", "2. Position Embeddings: 512 × 786"),
        (STEPS, "5. Output projection: 768 × 768", "5. Output projection: 748 × 768"),
        (STEPS, "768 × 3072 + 3072", "768 × 3082 + 3072"),
        (STEPS, "3072 × 768 + 768", "3702 × 768 + 768"),
        (CALLS, "Linear(1024,4096)", "Linear(1024,4906)"),
        (CALLS, "Linear(4096,1024)", "Linear(4069,1024)"),
        (TRUE[10], "约14GB", "约18GB"),
        ("LLaMA-7B需要约14GB显存（FP16格式）", "14", "24"),
    ],
)
def test_a_mistyped_factor_is_found(text: str, right: str, slip: str) -> None:
    assert len(audit(text.replace(right, slip, 1)).wrong) == 1
