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
    "BERT-base 有 12 层，隐藏维度 768，12 个头，每层参数量 709 万。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，一层有 709 万参数。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，12 层参数共 8505 万。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，词嵌入参数 2344 万。",
    "BERT-base 有 12 层，隐藏维度 768，12 个头，层参数 709 万。",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads, so one layer has 7.1M parameters.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads; 7.1M parameters in each layer.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads, 85M parameters in the layers and 24M parameters in the embeddings.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads. The layers have 85M parameters.",
    "BERT-base has 12 layers, a hidden size of 768 and 12 heads. The heads have 590K parameters.",
    "Llama 3 8B has 32 layers, 32 heads and a hidden size of 4096. It was trained on 15T tokens with 3.8M tokens per batch.",
    "Llama 3 8B has 32 layers, 32 heads and a hidden size of 4096; training took 1.3M GPU hours.",
    "Llama 3 8B has 32 layers, 32 heads, hidden size 4096. For a 70B model, multiply everything.",
    "Llama 3 8B has 32 layers, hidden size 4096 and 8 KV heads; in 4 bits it takes 5.7 GB.",
    "Mixtral 8x7B has 32 layers, hidden size 4096 and 8 experts. Each expert has 5.6B parameters.",
    "Mixtral 8x7B has 32 layers, hidden size 4096, 8 experts; the experts total 45.1B.",
    "Mixtral 8x7B has 32 layers, hidden size 4096 and 8 experts, for a total of 46.7B, of which 12.9B are active.",
    "GPT-2 has 12 layers, 12 heads, 768 dimensions. With weight tying the model has 124M parameters, without it 163M parameters.",
    "GPT-2 has 12 layers, 12 heads, 768 dimensions. The model has 85M parameters without embeddings.",
    "GPT-2 has 12 layers, 12 heads, 768 dimensions; a 24-layer version has 355M parameters.",
    "GPT-2 has 12 layers, 12 heads and 768 dimensions. We shrink it to 6 layers, 6 heads and 384 dimensions.",
    "We took GPT-2 (12 layers, 12 heads, 768 dimensions) and removed 4 layers, so that 8 layers remain.",
    "GPT-2 has 12 layers, 12 heads and 768 dimensions, BERT-base 12 layers, 12 heads and 768 dimensions, and a vocabulary of 30,522.",
    "T5-base has 12 layers in the encoder and 12 layers in the decoder, so 24 layers in total, d_model 768 and 12 heads.",
    "Whisper-small has 12 encoder layers and 12 decoder layers with 12 heads and a width of 768.",
    "ViT-B/16 has 12 layers, 12 heads and hidden size 768; the MLP has 3072 hidden units.",
    "ALBERT-base has 12 layers that share their parameters, a hidden size of 768, an embedding size of 128 and 12M parameters.",
    "DistilBERT has 6 layers, 12 heads and a hidden size of 768; its teacher BERT-base has 12 layers.",
    "Qwen2-7B has 28 layers, 28 heads, hidden size 3584. Its tokenizer has a vocabulary of 151,643 tokens.",
    "Falcon-7B has 32 layers, hidden size 4544, 71 heads and one KV head of 64 dimensions.",
    "DeepSeek-V3 has 61 layers, hidden size 7168, 128 heads; experts live in 58 layers, in 8 groups of 32 experts.",
    "DeepSeek-V3 has 61 layers, 256 experts and hidden size 7168, q_lora_rank 1536 and kv_lora_rank 512; each head has 192 dimensions for keys and 128 dimensions for values.",
    "BERT-large has 24 layers, 16 heads, hidden size 1024. Fine-tuning only the top 6 layers trains 76M parameters.",
    "BERT-base (12 layers, 768 hidden, 12 heads) in 8 bits needs 110MB. Pruning 6 heads per layer removes 14M parameters.",
    "RoBERTa-base keeps the 12 layers and 768 dimensions of BERT-base but has a vocabulary of 50,265 tokens and 125M parameters.",
    "Compared with BERT-base (12 layers, 768 dimensions, 12 heads), our encoder has 4 layers, 312 dimensions and 12 heads.",
    "Gemma 2B has 18 layers, 8 heads of dimension 256 and a hidden size of 2048; the 7B version has 28 layers, 16 heads and a hidden size of 3072.",
    "Llama 2 comes as 7B (32 layers, 4096 dimensions, 32 heads), 13B (40 layers, 5120 dimensions, 40 heads) and 70B (80 layers, 8192 dimensions, 64 heads).",
    "Phi-2 has 32 layers, 2560 dimensions, 32 heads; on 8 A100s with 80 GB, training took 14 days on 1.4T tokens.",
    "Pythia-160M has 12 layers, 12 heads and 768 dimensions; Pythia-410M doubles that to 24 layers, 16 heads and 1024 dimensions.",
    "BLOOM-560M has 24 layers, 16 heads, hidden 1024 and was trained on 46 languages and 13 programming languages.",
    "XLM-R base has 12 layers, 768 dimensions, 12 heads and supports 100 languages; sequence length 512, batch of 8192.",
    "OPT-125M has 12 layers, 768 dimensions, 12 heads. With LoRA of rank 8 on 24 layers of queries and values, 294,912 parameters are trained.",
    "Mistral 7B has 32 layers, 32 heads, hidden size 4096 and a sliding window of 4096 tokens over a context of 8192.",
    "Llama-3.2-1B has 16 layers, 32 heads, 2048 dimensions and 1.24B parameters (1.5B without tied embeddings).",
    "bert-tiny has 2 layers, 128 dimensions and 2 heads, while BERT-base has 12 layers, 768 dimensions and 12 heads.",
    "The encoder of BART-large has 12 layers, 16 heads and 1024 dimensions; with the decoder that makes 24 layers.",
    "CLIP ViT-L/14 has 24 vision layers of 1024 dimensions and 12 text layers of 768 dimensions, both projected to 768 dimensions.",
    "BERT-base 有 12 层、12 个头、768 维；我们的学生模型只有 4 层、312 维。",
    "Qwen2.5-7B 有 28 层、28 个 Q 头、4 个 KV 头；微调时冻结前 20 层，只训练后 8 层。",
    "Llama-2-7B 有 32 层、32 个头，隐藏维度 4096；用 8 张 80GB 的 A100 训练，每张卡放 4 层。",
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
