"""Settings of one model in cards, configs and tables of labels: one is wrong where the others beside it are the model's."""

import pytest

from weighbridge.auditing import audit

CARD = """# Mistral-7B-v0.1

| Property | Value | Remark |
|---|---|---|
| Parameters | 7.24B | all weights |
| Hidden size | 4,096 | residual stream |
| Number of layers | 32 | |
| Attention heads | 32 | of queries |
| KV heads | 8 | grouped |
| FFN intermediate size | 14336 | gated |
"""
CONFIG = """The sizes of two models, as code holds them:
"Llama-3.1-8B": {
"n_layers": 32,
"q_heads": 32,
"kv_heads": 8,
"emb_dim": 4096,
},
"Llama-3.1-70B": {
"n_layers": 80,
"q_heads": 64,
"kv_heads": 8,
"emb_dim": 8192,
},
"""
LATENT = """DeepSeek-V3 compresses its keys and values.

| Component | Configuration | Purpose |
|---|---|---|
| Query LoRA rank | 1,536 (q_lora_rank) | queries |
| KV LoRA rank | 512 (kv_lora_rank) | keys and values |
| QK RoPE dim | 64 | rotated part |
| Total layers | 61 | depth |
"""
NOTEBOOK = """We load the weights of GPT-2 into this notation:
GPT_CONFIG_124M = {
    "vocab_size": 50257,
    "context_length": 1024,
    "emb_dim": 768,
    "n_heads": 12,
    "n_layers": 12,
}
"""
SPECIFICATION = """Llama 3 8B

Attention Heads

32

Key-Value Heads

8

Hidden Dimension Size

4,096

Number of Layers

32
"""
COLUMNS = """Llama 2 comes in three sizes:

Parameter | 7B | 13B | 70B |
---|---|---|---|
dim | 4096 | 5120 | 8192 |
n_layers | 32 | 40 | 80 |
n_heads | 32 | 40 | 64 |
"""
FROM_SCRATCH = """# Llama 3.2 1B

LLAMA32_CONFIG = {
    "vocab_size": 128_256,      # Vocabulary size
    "emb_dim": 2048,            # Embedding dimension
    "n_heads": 32,              # Number of attention heads
    "n_layers": 16,             # Number of layers
    "hidden_dim": 8192,         # Size of the intermediate dimension in FeedForward
    "n_kv_groups": 8,           # Key-Value groups for grouped-query attention
}
"""
TEXTS = {
    "from scratch": (FROM_SCRATCH, [('"emb_dim": 2048', '"emb_dim": 4048'), ('"n_layers": 16', '"n_layers": 18')]),
    "card": (CARD, [("14336", "14436"), ("| 32 | |", "| 38 | |"), ("7.24B", "1.24B")]),
    "config": (CONFIG, [("80", "60"), ("4096", "4906"), ('"q_heads": 64', '"q_heads": 84')]),
    "latent": (LATENT, [("512 (kv", "572 (kv"), ("| 64 |", "| 84 |"), ("1,536", "1,636")]),
    "notebook": (NOTEBOOK, [("50257", "50275"), ('"emb_dim": 768', '"emb_dim": 758'), ('"n_layers": 12', '"n_layers": 13')]),
    "specification": (SPECIFICATION, [("4,096", "4,069"), ("\n8\n", "\n9\n")]),
    "columns": (COLUMNS, [("5120", "5210"), ("| 80 |", "| 90 |"), ("| 64 |", "| 54 |")]),
}


@pytest.mark.parametrize("text", [text for text, _ in TEXTS.values()], ids=TEXTS)
def test_true_settings_are_no_slips(text: str) -> None:
    found = audit(text.encode(), name="x.md")
    assert [claim.text for claim in found.wrong] == []
    assert found.judged


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [pytest.param(text, *pair, id=f"{name}-{place}") for name, (text, pairs) in TEXTS.items() for place, pair in enumerate(pairs)],
)
def test_a_digit_changed_is_found_and_nothing_else(text: str, right: str, wrong: str) -> None:
    assert text.count(right) >= 1
    changed = text.replace(right, wrong, 1)
    found = audit(changed.encode(), name="x.md")
    assert [claim.line for claim in found.wrong] == [changed[: changed.index(wrong)].count("\n") + 1 + wrong.startswith("\n")]


@pytest.mark.parametrize(
    "text",
    [
        'A small GPT-2 of our own:\nconfig = {\n"vocab_size": 50257,\n"n_heads": 6,\n"n_layers": 6,\n"emb_dim": 384,\n}\n',
        "# GPT-2\n\nWe shorten the context to train on one card:\n\n- vocab_size: 50257\n- context_length: 256\n- n_layers: 12\n- n_heads: 12\n- emb_dim: 768\n",
        "# RetinaNet\n\nRetinaNet with a ResNet-50 backbone.\n\n- Parameters: 34121239\n",
        "# Qwen2.5-7B\n\n| Property | Ours | Theirs |\n|---|---|---|\n| Layers | 26 | 28 |\n| Hidden size | 3584 | 3584 |\n| Heads | 28 | 28 |\n",
    ],
    ids=["own", "shorter", "backbone", "two columns"],
)
def test_settings_of_something_else_are_no_slips(text: str) -> None:
    assert [claim.text for claim in audit(text.encode(), name="x.md").wrong] == []


def test_a_value_of_two_numbers_is_not_read_in_part() -> None:
    text = (
        "# GPT-J 6B\n\n| Setting | Value |\n|---|---|\n| n_layers | 28 |\n| d_model | 4096 |\n| n_heads | 16 |\n| n_vocab | 50257/50400 |\n"
    )
    assert audit(text.encode(), name="x.md").wrong == ()
