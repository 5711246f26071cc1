"""Sizes of running text: each true passage is without an alarm, and each of its sizes, changed alone, is found."""

from __future__ import annotations

import re

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.text.described_sizes import find_described_sizes

PASSAGES = [
    "Google's Gemma 2B stacks {18} decoder blocks over a hidden size of {2048}. Its {8} query heads share one key-value head, each of dimension {256}, and the vocabulary has {256,000} entries.",
    "OPT-1.3B is a decoder with {24} layers, a width of {2048} and {32} attention heads; the feed-forward size is {8192}.",
    "GPT-2 Large 由 {36} 层组成，隐藏维度 {1280}，共 {20} 个头，词表 {50257}。",
    "LLaMA-7B has 32 layers of width 4096; LLaMA-65B stacks {80} layers of {8192} dimensions with {64} heads (65.2B parameters).",
    "BERT-Large stacks {24} encoder layers. The hidden size is {1024}, there are {16} heads (so {64} dimensions per head) and the feed-forward layer has {4096} units.",
    "DeepSeek-V3 共有 {61} 层，隐藏维度 {7168}，{128} 个注意力头。前 3 层使用稠密 FFN（中间维度 {18432}），其余每层有 {256} 个路由专家，每个 token 激活 8 个路由专家。",
    "OLMoE-1B-7B: {16} layers, {64} experts with {8} active per token, hidden size {2048}.",
]
TRUE = [
    "Our BERT-base has 12 heads and a hidden size of 768, but only 6 layers and a vocabulary of 8,000 tokens.",
    "BERT-base has a hidden size of 768 and 12 heads. We freeze the first 4 layers and train the last 8 layers.",
    "Llama 3 8B has 32 layers and a hidden size of 4096. The vocabulary of 128,000 tokens is four times that of Llama 2.",
    "Phi-2 has 32 layers, 32 heads and a vocabulary of 50,257 tokens.",
    "Mistral 7B has 32 layers and 8 KV heads, each group of 4 query heads sharing one; hidden size 4096.",
    "BGE-M3 is built on XLM-RoBERTa large: 24 layers, hidden size 1024, 568M parameters.",
    "DeepSeek-V3 共有 61 层，隐藏维度 7168。前 3 层使用稠密 FFN（中间维度 18432），其余每层有 256 个路由专家，每个专家的中间维度为 2048，每个 token 激活 8 个路由专家。",
    "GPT-2 Large has 36 layers and 20 attention heads; its siblings have 124M, 355M and 1.5B parameters.",
]
COUNTS = [
    ("Mistral 7B is no larger: {32} layers, hidden size 4096, 8 KV heads, for a total of 7.24B.", "7.24B", "7.42B"),
    ("BLOOM-560M has 24 layers, hidden 1024 and 16 heads, so almost half of its 559M parameters are embeddings.", "559M", "595M"),
    ("* **Gemma 2B**: 18 layers, hidden size 2048, 8 heads. That is 2.51B parameters.", "2.51B", "5.21B"),
]


@pytest.mark.parametrize("passage", PASSAGES)
def test_a_size_that_is_not_the_models_is_found(passage: str) -> None:
    true = passage.replace("{", "").replace("}", "")
    assert not audit(true).wrong
    for number in re.findall(r"\{(.*?)\}", passage):
        slip = str(int(number.replace(",", "")) + 3)
        wrong = audit(passage.replace("{" + number + "}", slip, 1).replace("{", "").replace("}", "")).wrong
        assert [claim.value for claim in wrong] == [int(slip)], number


@pytest.mark.parametrize("text", TRUE)
def test_what_is_said_of_another_model_or_of_some_layers_is_no_alarm(text: str) -> None:
    assert not audit(text).wrong


@pytest.mark.parametrize(("text", "said", "slip"), COUNTS)
def test_a_count_behind_a_description_is_of_what_is_described(text: str, said: str, slip: str) -> None:
    text = text.replace("{", "").replace("}", "")
    assert not audit(text).wrong
    assert [claim.text for claim in audit(text.replace(said, slip)).wrong] == [slip]


def test_a_figure_of_the_whole_beside_words_for_a_part_is_no_alarm() -> None:
    assert not audit("ELECTRA-small uses 256 hidden units, 4 heads and 12 layers (14M parameters).").wrong


@pytest.mark.parametrize(
    "text", ["the MLP 4,722,432", "32 × 12 layers", "12-16 layers", "128K-token", "40% layers", "v1.12 layers", "3.5 layers"]
)
def test_what_is_no_size_is_not_read_as_one(text: str) -> None:
    assert not list(find_described_sizes(text))
