"""Sentences that say nothing but one model's sizes: right, wrong, and those that say something else."""

from __future__ import annotations

import pytest

from weighbridge import audit
from weighbridge.auditing.text.plain_sizes import NAME, read_plain_sizes


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("llama-2-7b has 42 layers.", 32),
        ("llama-2-7b uses a hidden size of 4906.", 4096),
        ("The hidden size of bert-large is 1042.", 1024),
        ("In bert-large, the hidden dimension is 1042.", 1024),
        ("The vocabulary of opt-1.3b has 90,272 tokens.", 50_272),
        ("gpt2-large has 20 heads of dimension 34.", 64),
        ("The feed-forward layers of mistral-7b-v0.1 have an intermediate size of 54,336.", 14_336),
        ("Each head of BERT-base has a dimension of 46.", 64),
        ("Llama 3 8B uses 8 attention heads per layer.", 32),
        ("llama-2-7b stacks 32 identical blocks; with a width of 2096 and 32 heads, each head is 128-dimensional.", 4096),
        ("opt-1.3b 的词表大小为 90272。", 50_272),
        ("yi-6b 的 FFN 中间层维度是 41008。", 11_008),
        ("llama-2-7b has 42 layers, as one sees in its config.", 32),
        ("Llama-3-70B has 80 layers, while OPT-1.3B has 84.", 24),
        ("Mistral 7B has 52 layers; DistilBERT has 6 layers.", 32),
        ("GPT-J-6B and DistilBERT have 28 and 4 layers, respectively.", 6),
        ("Yi-6B 和 OPT-1.3B 的层数分别为 32 和 64。", 24),
        ("# DistilBERT\n\nIt has 3 layers, 12 heads and a hidden size of 768.\n", 6),
    ],
)
def test_a_wrong_size_is_called_wrong(text: str, right: int) -> None:
    wrong = [claim for claim in audit(text).claims if claim.verdict == "wrong"]
    assert [claim.expected for claim in wrong] == [right]


@pytest.mark.parametrize(
    "text",
    [
        "active_loss = attention_mask.view(-1) == 1",
        "if positions.shape[-1] == 2:",
        "dim = dim * 2",
        "torch.sigmoid(-10.0)=4.5398e-05",
        "We use β1=0.95, β2=0.98 with Lion.",
    ],
)
def test_code_and_settings_claim_nothing(text: str) -> None:
    assert not [claim for claim in audit(text).claims if claim.verdict == "wrong"]


def test_heads_and_key_value_heads_exchanged_are_both_wrong() -> None:
    wrong = [claim for claim in audit("Mistral 7B has 8 query heads and 32 KV heads.").claims if claim.verdict == "wrong"]
    assert [(claim.value, claim.expected) for claim in wrong] == [(8, 32), (32, 8)]


@pytest.mark.parametrize(
    "text",
    [
        "BERT-base with 6 layers has 768 hidden units.",
        "BERT-base has 2 feed-forward layers in each block.",
        "The hidden size of the feed-forward layers in BERT-base is 3072.",
        "bert-base has 13 layers, counting the embeddings.",
        "Our BERT-base has 6 layers.",
        "The last 4 layers of BERT-base are fine-tuned.",
        "Whisper tiny has 8 layers.",
        "T5-base has 24 layers.",
        "phi-2 has a vocabulary of 50,257 tokens.",
        "BLOOM's vocabulary has 250,680 tokens.",
        "Llama 3 8B has a vocabulary of 128,000 tokens.",
        "DeepSeek-V3 has a head dimension of 192.",
        "BERT-base has a vocabulary of 28,996 tokens.",
        "bert-base has 12 layers, and its student 6 layers.",
        "Gemma 7B has 16 heads of size 256.",
        "Llama-3-70B has 80 layers, while OPT-1.3B has 24.",
        "GPT-J-6B and DistilBERT have 28 and 6 layers, respectively.",
        "# DistilBERT\n\nIt has half the layers of BERT: 6 instead of 12. It keeps 12 heads.\n",
        "# How DistilBERT is trained\n\nIt has 3 losses and 4 layers of heads.\n",
    ],
)
def test_what_may_be_true_is_no_alarm(text: str) -> None:
    assert not [claim for claim in audit(text).claims if claim.verdict == "wrong"]


def test_a_sentence_that_says_more_is_not_read() -> None:
    assert read_plain_sizes(f"{NAME} has 32 layers") != ()
    assert read_plain_sizes(f"{NAME} has 32 layers fewer") == ()
    assert read_plain_sizes(f"{NAME} and {NAME} have 32 layers") == ()
    assert read_plain_sizes(f"{NAME} has 32 layers" + " " * 500) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gpt2-xl has 6.56B parameters.", 1_557_611_200),
        ("With 755M parameters, roberta-large is easy to find.", 355_359_744),
        ("We use yi-6b (32 layers, 4096 dim, 32 heads; 2.06B params).", 6_061_035_520),
        ("falcon-7b 的参数量约为 9.22 亿。", 6_921_720_704),
        ("GPT-NeoX-20B has 20.55B parameters and XLM-R base has 878M.", 278_043_648),
        ("BERT-large 和 Mistral 7B 的参数量分别为 3.35 亿和 12.42 亿。", 7_241_732_096),
        ("# OPT-1.3B\n\nIt has 24 layers and 6.32B parameters.\n", 1_315_758_080),
        ("**llama-2-13b**\n* 40 layers\n* 5120 hidden units\n* 40 heads\n* 53.02B parameters\n", 13_015_864_320),
    ],
)
def test_a_count_said_plainly_is_wrong_however_far_off(text: str, expected: int) -> None:
    wrong = [claim for claim in audit(text).claims if claim.verdict == "wrong"]
    assert [claim.expected for claim in wrong] == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "With 175B parameters, GPT-3 dwarfs roberta-large.",
        "roberta-large was compared with models of 7B parameters.",
        "llama-2-7b has 4.2M trainable parameters with LoRA.",
        "GPT-2 has 1.5B parameters.",
        "BERT-base has 0.6M parameters in its pooler.",
    ],
)
def test_a_far_count_of_something_else_is_no_alarm(text: str) -> None:
    assert not [claim for claim in audit(text).claims if claim.verdict == "wrong"]
