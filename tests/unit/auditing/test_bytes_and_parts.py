"""Bytes, parts and steps in running text: each true sentence is without an alarm, and its number in braces, changed, is found."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

SENTENCES = [
    ("Phi-2 has 32 layers. In fp32 that's {11.1 GB} of weights.", "41.1 GB"),
    ("Mixtral-8x22B is large.\n\nTo serve it in fp16 you need {281 GB} just for the weights.", "128 GB"),
    ("The weights of OPT-6.7B take 13.3 GB in fp16; 4-bit brings that down to about {3.3 GB}.", "9.3 GB"),
    ("用 fp32 存 BERT-large 需要 {1341MB} 显存；用 Adam 训练还要两份动量。", "3141MB"),
    ("LLaMA-13B 有 40 层。\n\nFP16 下权重占 {26 GB}，INT8 占 13 GB。", "62 GB"),
    ("The cache costs 2 × 40 × 5120 × 2 bytes = 819,200 bytes per token, so a 2K context needs about {1.6 GB}.", "6.1 GB"),
    ("That is 98,304 bytes per token, i.e. {768 MB} at 8K.", "678 MB"),
    ("每个 token 的 KV cache 为 114688 字节；序列长度 4096、batch 为 2 时约 {0.875 GB}。", "8.75 GB"),
    ("In GPT-2 medium a block has 12,596,224 parameters: the attention 4,198,400 and the MLP {8,393,728}.", "8,933,728"),
    ("BERT-large：每层 12596224，24 层共 302309376，加上 pooler 的 {1049600}。", "1094600"),
    ("Llama-3-8B has 8 KV heads. Its KV cache takes 0.5 GB at 4K and {16 GB} at 128K.", "61 GB"),
    ("Llama-3-8B 有 8 个 KV 头，4K 上下文的 KV 缓存约 0.5 GB，128K 时约 {16 GB}。", "61 GB"),
    ("每层注意力 67.1M，MLP 135.3M，所以每层约 {202.4M}，32 层约 6.48B。", "220.4M"),
    ("The experts of one layer hold 1.41B and all 32 layers {45.1B}.", "54.1B"),
    ("A block has 12,288 in its norms, 4,194,304 in its attention and 8,388,608 in its MLP, i.e. {12,595,200} in total.", "12,559,200"),
    ("词嵌入 512×32=16384，位置 128×32=4096，合计 {20480}。", "24080"),
    ("每层 3152384，6 层共 {18914304}。", "19814304"),
    ("LLaMA-7B: attention 67.1M per layer and the MLP {135.3M}, 202.4M per block.", "153.3M"),
]
TRUE = [
    "The 7B needs 0.5 MB per token; a 4096-token context takes 2 GB, and with 8 users it is 16 GB.",
    "At 16,384 bytes per layer and token that is 512 KB/token and ~16 GB at 32K context, not 512 MB.",
    "The KV cache for one token is 2 × 2 bytes × 32 layers × 4096 = 524,288 bytes = 0.5 MB, so a 4096-token sequence needs 4096 × 0.5 MB = 2 GB.",
    "Each layer has 12.6M parameters: 4.2M in self-attention and 8.4M in the feed-forward network. That makes 302M for the 24 layers.",
    "The attention has 2.4M and the MLP 4.7M; without the norms, 7.2M in total are left over from 12 layers of 85M.",
    "Llama 3 8B: attention 41.9M and the MLP 176M per layer. The K and V projections add 8.4M, the experts of one layer hold 1.41B.",
]


@pytest.mark.parametrize(("sentence", "slip"), SENTENCES)
def test_a_slip_is_found(sentence: str, slip: str) -> None:
    before, _, rest = sentence.partition("{")
    number, _, after = rest.partition("}")
    assert not audit(before + number + after).wrong
    assert [claim.text.strip() for claim in audit(before + slip + after).wrong] == [slip]


@pytest.mark.parametrize("text", TRUE)
def test_a_true_text_is_left_alone(text: str) -> None:
    assert not audit(text).wrong


def test_bytes_are_written_in_a_unit_that_shows_them() -> None:
    claim = audit("Phi-2 has 32 layers. In fp16 that's 55.6 MB of weights.").wrong[0]
    assert dict(claim.reason[0].values)["right"] == "5,559.4 MB"


def test_a_count_without_embeddings_may_leave_out_one_table_or_two() -> None:
    card = "# Qwen2.5-32B\n\n- Number of Parameters: 32.5B\n- Number of Parameters (Non-Embedding): {}\n- Number of Layers: 64\n"
    assert not audit(card.format("31.0B")).wrong
    assert [claim.text for claim in audit(card.format("13.0B")).wrong] == ["13.0B"]
