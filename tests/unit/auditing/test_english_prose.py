"""English sentences as they are written: right as they stand, and found wrong where one number is changed."""

from __future__ import annotations

import pytest

from weighbridge.auditing import audit

CHANGED = {
    "a count with hyphens": ("DeepSeek V3, introduced in December 2024, is a «671»-billion-parameter model with MLA.", "771"),
    "a description between commas": ("BERT-large, released by Google in October 2018, is an encoder with «340»M parameters.", "440"),
    "what works on a token": (
        "The lab released DeepSeek-V2 (arXiv:2405.04434), a 236B-parameter MoE that activated only «21»B parameters per token.",
        "31",
    ),
    "the whole beside it": (
        "The lab released DeepSeek-V2 (arXiv:2405.04434), a «236»B-parameter MoE that activated only 21B parameters per token.",
        "336",
    ),
    "a sentence without a verb": (
        "# DeepSeek-V3\n\nDeepSeek-V3 is the model this course returns to. «671»B parameters total, 37B active per token.",
        "771",
    ),
    "a measure of others": (
        "# DeepSeek-V3\n\nDeepSeek-V3 shrinks its cache against Llama-style attention. «671»B parameters total, 37B active per token.",
        "771",
    ),
    "thousands apart": ("Llama 3 8B has 32 layers, each with a hidden size of «4 096», 32 heads and 8 key-value heads.", "5 096"),
    "a family's list": ("The Falcon series consists of decoder-only models with 7B, «40»B and 180B parameters.", "50"),
    "a family's range": ("Whisper comes in five sizes, from 39M to «1550»M parameters.", "2550"),
    "a family above": (
        "# Llama 3\n\nThis collection includes two versions: one with 8 billion parameters and another with «70» billion parameters.",
        "80",
    ),
    "a family's size": (
        "The architecture of Mixtral is simple. It has «32» layers with 8 experts each, of which 2 are active. The hidden size is 4096 and the vocabulary has 32000 tokens.",
        "34",
    ),
    "a family's list of sizes": (
        "# Mixtral\n\n- Dimension (dim): 4096\n- Number of layers: 32\n- Number of heads: «32»\n- Number of kv heads: 8\n- Vocabulary size: 32000",
        "34",
    ),
    "a family told by its tag": (
        "Mixtral is sparse: each layer has 8 experts. Its 8x7B misleads: all «46.7»B parameters are loaded, but only 12.9B are used.",
        "56.7",
    ),
    "items between dots": (
        "Llama 3.1 8B\n\n8B dense • 131,072 context • «8» KV heads\n\nLayers\n\n32\n\nHidden size\n\n4,096\n\nAttention heads\n\n32\n",
        "9",
    ),
    "a size one digit off": ("# Llama 3 8B\n\nThe tokens become vectors; each lives in a hidden space whose dimension is «4096».", "5096"),
    "a tokenizer's name": (
        "# GPT-J 6B\n\nThe embedding matrix has a size of «50400», though only 50257 entries are used by the GPT-2 tokenizer.",
        "50600",
    ),
    "two sizes of a family": (
        "Llama 2 uses RMSNorm. The 7B variant has 32 layers and 32 heads, the 70B variant «80» layers and 64 heads.",
        "90",
    ),
    "a checkpoint of a family": (
        "# Whisper\n\nThe small checkpoint has «12» encoder layers and 12 decoder layers, a width of 768 and 12 heads: 244 million parameters.",
        "22",
    ),
    "bare words for sizes": ("# T5\n\nSmall goes to 512 dimensions, large to «1024» dimensions with 16 heads and 24 layers.", "1124"),
    "one size of two models": ("BERT comes in two sizes. Each layer has 12 heads in the base model and «16» in the large model.", "18"),
    "a verb for two models": ("BERT comes in two sizes. BERT-base has 12 layers and BERT-large has «24».", "26"),
    "a list of one size": ("The embedding dimension is:\n- 384 for ViT-S.\n- 768 for ViT-B.\n- «1024» for ViT-L.", "1124"),
    "a sentence about sisters": (
        "BERT-base has 12 layers and 768 dimensions. BERT-large has 24 layers and 1024 dimensions.\n\nEvery head works on «64» dimensions.",
        "74",
    ),
    "a member told by its count and sizes": (
        "GPT-2 was released in four sizes. The smallest has 124M parameters (12 layers, 768 dimensions), the next 355M («24» layers, 1024 dimensions).",
        "34",
    ),
    "the count of a member told by its sizes": (
        "GPT-2 was released in four sizes. The smallest has 124M parameters (12 layers, 768 dimensions), then come «774»M (36 layers, 1280 dimensions).",
        "874",
    ),
}
TRUE = (
    "Available in sizes such as\nBERT Base\n(12 layers) and BERT Large\n(24 layers).",
    "The models are LLaMA-2: **7B = 32×4096**, **13B = 40×5120**, **70B = 80×8192**.",
    "Mixtral 8x7B routes each token to 2 of 8 experts, so 6 experts sit idle.",
    "GPT-3 XL has 24 layers, a model dimension of 2048 and 24 heads of dimension 128.",
    "# BERT-base\n\n12 layers, 768 hidden, 12 heads.\n\n## Our classifier\n\nIt has 2 layers and a hidden size of 256.",
    "RoBERTa-base keeps the 12 layers of BERT-base and has 125M parameters.",
    "We distilled BERT-large into a model with 66M parameters.",
    "GPT-2 XL is a model with 1.5B parameters, and its embedding holds 80M parameters.",
    "Llama-2-7B with LoRA has 4.2M parameters that are trainable.",
    "T5 has 512 dimensions, 8 heads and 6 layers in its small size; we cut the encoder to 4 layers.",
    "# Mixtral\n\n- Dimension (dim): 4096\n- Number of layers: 32\n- Number of heads: 32\n- Number of kv heads: 8\n- Batch size: 34\n\nWe train on 48 GPUs.",
    "Whisper has 6 layers, 512 dimensions and 8 heads in each half of its base size, and we distil it into 2 decoder layers.",
    "BERT-base was published with a vocabulary of 30,522; with our ten tokens it has 30,532.",
    "RoBERTa-base has 514 positions, of which 512 are used.",
    "BERT-base came out in 2018; its successors of 2024 have a context of 8,192 tokens.",
    "Our copy of BERT-base has a hidden size of 760.",
    "BERT-base is fine-tuned here on sequences of at most 312 tokens.",
    "As a baseline we use roberta-base (12 layers, 125M parameters) and a BiLSTM with 2 layers.",
    "Only 12.9B of Mixtral 8x7B's 46.7B parameters are used for a token.",
    "We compare BERT-base (12 layers, 12 heads) and a CNN with 3 layers.",
    "BERT-base has 12 layers and BERT-large has 24, and our model has 6.",
    "We froze 6 layers in BERT-base and 12 in BERT-large.",
    "The best layer is 8 in BERT-base and 18 in BERT-large.",
    "With 4 layers removed, 8 remain in BERT-base and 20 in BERT-large.",
    "For base and large runs of BERT we use 2 and 4 GPUs.",
    "Use base for 4 GB cards and large for 16 GB cards.",
    "OPT comes in many sizes, from 125M to 175B parameters.",
    "Llama 2 comes in three sizes; we trained ours with 1B, 3B and 7B parameters.",
)


@pytest.mark.parametrize(("text", "other"), CHANGED.values(), ids=CHANGED)
def test_a_changed_number_is_found(text: str, other: str) -> None:
    """As it stands nothing is wrong; with the number changed, what stands in its place is, and nothing else."""
    plain = text.replace("«", "").replace("»", "")
    assert not [one for one in audit(plain).claims if one.verdict in ("wrong", "carried")]
    before, _, rest = text.partition("«")
    changed = f"{before}{other}{rest.partition('»')[2]}"
    line, column = before.count("\n") + 1, len(before.rpartition("\n")[2])
    wrong = [one for one in audit(changed).claims if one.verdict == "wrong"]
    assert [(one.line, one.start <= column < one.end) for one in wrong] == [(line, True)]


@pytest.mark.parametrize("text", TRUE)
def test_what_is_true_is_no_alarm(text: str) -> None:
    """Nothing in these is wrong."""
    assert not [one for one in audit(text).claims if one.verdict in ("wrong", "carried")]
