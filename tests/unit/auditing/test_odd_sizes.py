"""Sizes one digit off a model's own, in clauses that other checks leave: which are wrong, and what must stay without an alarm."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit


def wrong_numbers(text: str) -> list[str]:
    return [claim.text for claim in audit(text).claims if claim.verdict == "wrong"]


WRONG = {
    "BERT-base pads every sentence. In all twelve layers a token keeps a residual stream that is exactly 868 channels wide.": "868",
    "Mistral 7B and Llama 2 7B are close relatives.\n\nBoth project into a feed-forward space; Llama's is 11,009 wide at its peak channels: 11,018 channels.": "11,018",
    "# GPT-2\n\nIts byte-level BPE knows 57,257 pieces of text.": "57,257",
    "bert-base-chinese：分词器里一共有 21528 个字，覆盖常用汉字。": "21528",
    "# Falcon-7B notes\n\n- It was trained with a context length of 3,048 tokens.": "3,048",
    "RoBERTa-large follows BERT-large: every hidden vector is 1025-d there, and the feed-forward bottleneck is 4196 channels wide.": "4196",
    "Qwen2.5-0.5B 的说明\n\n该模型原生的上下文长度为 42,768 个 token。": "42,768",
    "bge-large-zh-v1.5 的向量表示\n\n输出向量（dim）：1034": "1034",
}  # fmt: skip


@pytest.mark.parametrize(("text", "number"), WRONG.items())
def test_odd_size_is_wrong(text: str, number: str) -> None:
    assert wrong_numbers(text) == [number]


TRUE = (
    "BERT-base has a hidden size of 768; our probe concatenates 868 features of another kind.",
    "GPT-2 was released in 2019, five years before 2024, with a context window of 1024 tokens.",
    "We extend the 50,257-token vocabulary of GPT-2 to 50,357 tokens with 100 new words for proteins.",
    "Fine-tuning bert-base-uncased on 868 documents took 12 minutes; the hidden states were cached.",
    "The batch of 868 sequences was split over eight GPUs, each with its own copy of bert-base-uncased.",
    "We prune BERT-base to a width of 668 channels per layer.",
    "PCA brings the 768 features of BERT-base down to 168 dimensions.",
    "Images of 868 pixels are resized before ViT-Base embeds their patches.",
    "bert-base-chinese 的词表有 21128 个字，我们的语料里另有 21528 篇文章。",
    "在 3072 张卡上训练 Llama 2 70B，耗时 35 天，共 3172 小时的日志。",
    "Llama 2 7B has a context length of 4096 tokens; prompts of 4196 tokens are refused.",
    "The API of text-davinci-003 takes 4,097 tokens, one more than the context length of GPT-3.5's base of 4,096.",
    "RoBERTa-base keeps 514 positions, of which 512 are used.",
    "The tokenizer of Llama 2 has 32,000 entries and one more for padding makes 32,001.",
    "Longformer's 4098 positions come from 4096 and two for padding.",
    "GPT-2's vocabulary of 50,257 is padded to 50,304 rows for speed.",
    "Word2vec gives 300-dimensional vectors where BERT-base gives 768-dimensional ones.",
    "gpt2-medium's hidden size is 1024, which is 256 more than the 768 of gpt2.",
    "A random projection maps the 768 features of all-mpnet-base-v2 to 128 bits in 967 milliseconds.",
    "The index of bert-base-uncased embeddings holds 868 vectors and 1,868 passages.",
    "A logistic regression on 868 features beats gpt2, whose width is 768.",
    "bge-small-zh-v1.5 的维度是 512，召回的前 612 条向量送入重排。",
)  # fmt: skip


@pytest.mark.parametrize("text", TRUE)
def test_no_alarm_on_what_may_be_true(text: str) -> None:
    assert wrong_numbers(text) == []
