"""A size, a module or a cell that is the only one of a description that is not its model's."""

import pytest

from weighbridge.auditing import audit

CARD = """BLOOM-560M Language Model

The model features a decoder-only architecture with 24 layers and 16 attention heads.
- 24-layer architecture with 16 attention heads
- 1024-dimensional hidden layers
"""
PRINTED = """print(model)

GPT2Model(
  (wte): Embedding(50257, 768)
  (wpe): Embedding(1024, 768)
  (h): ModuleList(
    (0-11): 12 x GPT2Block(
      (ln_1): LayerNorm((768,), eps=1e-05, elementwise_affine=True)
      (attn): GPT2Attention(
        (c_attn): Conv1D(nf=2304, nx=768)
        (c_proj): Conv1D(nf=768, nx=768)
      )
      (ln_2): LayerNorm((768,), eps=1e-05, elementwise_affine=True)
      (mlp): GPT2MLP(
        (c_fc): Conv1D(nf=3072, nx=768)
        (c_proj): Conv1D(nf=768, nx=3072)
      )
    )
  )
)
"""
T5 = """The original T5 model architectures:

| Model | nl (el/dl) | ff | dm | kv | nh | #Params|
| ----| ---- | ---- | ---- | ---- | ---- | ----|
| Base | 12/12 | 3072 | 768 | 64 | 12 | 220M|
| Large | 24/24 | 4096 | 1024 | 64 | 16 | 738M|
"""
ROBERTA = "RoBERTa-large is a model for English, trained on text alone. With 355 million parameters, it learns representations."
CARDS = "## Implementation Details\n\nBLOOM-560M comprises 24 layers with 16 attention heads and hidden layers of 1024 dimensions."


LABELS = """BertForSequenceClassification(
  (word_embeddings): Embedding(30522, 768, padding_idx=0)
  (position_embeddings): Embedding(512, 768)
  (token_type_embeddings): Embedding(2, 768)
  (query): Linear(in_features=768, out_features=768, bias=True)
  (key): Linear(in_features=768, out_features=768, bias=True)
  (value): Linear(in_features=768, out_features=768, bias=True)
  (dense): Linear(in_features=768, out_features=3072, bias=True)
  (dense): Linear(in_features=3072, out_features=768, bias=True)
  (classifier): Linear(in_features=768, out_features=3, bias=True)
)
"""


LLAMA = """Let us take Llama 2 7B as our blueprint.
- Vocabulary Size (vocab_size): 32,000 tokens
- Model Dimension (d_model): 4096
- Number of Hidden Layers (num_hidden_layers): 32
- Feed-Forward Intermediate Size (ffn_intermediate_size): 11008
- Number of Attention Heads (num_attention_heads): 32
The bulk of the parameters reside in the stack of 32 identical layers.
"""
PARAMS = """Params | n_layers | d_model | n_heads | d_head
---|---|---|---|---
Pythia-70M | 6 | 512 | 8 | 64
Pythia-160M | 12 | 768 | 12 | 64
Pythia-410M | 24 | 1024 | 16 | 64
"""
TIED = """GPT-2 small has 124M parameters.

| Component | Value |
|---|---|
| Token embedding (tied with LM head) | 38.6 M |
| Positional embedding | 0.79 M |
| 12 blocks of attention | 28.3 M |
| 12 blocks of FFN | 56.6 M |
| Total | 124.4 M |
"""


def wrong(text: str) -> list[str]:
    return [claim.text for claim in audit(text.encode(), name="x.md").wrong]


@pytest.mark.parametrize(
    ("text", "right", "slip", "said"),
    [
        (CARD, "16 attention heads.", "36 attention heads.", "36"),
        (CARD, "with 16 attention heads\n", "with 76 attention heads\n", "76"),
        (T5, "| 768 | 64 |", "| 768 | 68 |", "68"),
        (LLAMA, "stack of 32", "stack of 72", "72"),
        (PARAMS, "| 512 |", "| 812 |", "812"),
        (PARAMS, "| 1024 |", "| 1054 |", "1054"),
        (TIED, "38.6 M", "78.6 M", "78.6 M"),
        (ROBERTA, "355 million", "305 million", "305 million"),
        (CARDS, "24 layers", "23 layers", "23 layers"),
    ],
)
def test_the_one_that_is_not_the_models_is_wrong(text: str, right: str, slip: str, said: str) -> None:
    assert wrong(text) == []
    assert wrong(text.replace(right, slip, 1)) == [said]


@pytest.mark.parametrize(
    "text",
    [
        PRINTED.replace("50257", "50267"),
        PRINTED.replace("50257", "50304").replace("1024, 768", "2048, 768"),
        PRINTED.replace("768", "512").replace("3072", "2048").replace("2304", "1536"),
        PRINTED.replace("3072", "4096"),
        PRINTED.replace("GPT2Model", "GPT2ForSequenceClassification") + "  (score): Linear(in_features=768, out_features=3, bias=False)\n",
        PRINTED.replace("LayerNorm((768,)", "LayerNorm((64,)", 1),
        LABELS,
        PARAMS.replace("Pythia-70M | 6 | 512", "Ours-70M | 6 | 576"),
        PARAMS.replace("Pythia-70M | 6 | 512", "about 70M | 6 | 576"),
        "Falcon-7B\n\nParameters\n7B\nAttention Heads\n71\nKey-Value Heads\n1\nHidden Dimension Size\n4,544\nNumber of Layers\n32\n",
        "| Model | Vocabulary(K) | Backbone #Params(M) |\n|---|---|---|\n| RoBERTa-large | 50 | 304 |\n| DeBERTa-v3-large | 128 | 304 |",
        LABELS.replace("out_features=3,", "out_features=12,"),
        CARD.replace("16 attention heads.", "8 attention heads."),
        CARD.replace("16 attention heads\n", "16 attention heads\n- 12-layer draft with 18 attention heads\n"),
        CARD + "We froze the first 20 layers.\n",
        LLAMA.replace("in the stack of 32 identical", "in all 31 middle"),
        LLAMA.replace("the stack of 32 identical", "a stack of 30 more"),
        LLAMA + "All 3 layers of the classifier are new.\n",
        TIED.replace("38.6 M", "77.2 M").replace("tied with", "and"),
        CARD + "Its draft model has 24 layers and 6 attention heads.\n",
        ROBERTA.replace("RoBERTa-large is a model for English", "RoBERTa-large and RoBERTa-base are models for English"),
        ROBERTA + " With 125 million parameters, the base model is smaller.",
        ROBERTA.replace("With 355 million parameters, it", "Trained on 305 million sentences, it"),
        "BLOOM-560M comprises 24 layers with 16 attention heads and hidden layers of 1024 dimensions.",
        "BERT-base has 12 layers and attention heads of 64 dimensions.",
        "BERT-large stacks layers of 1024 units; it has 24 layers.",
        "TinyLlama-1.1B is compact with only 1.1B parameters; Llama 2 is not with only 7B parameters.",
        "44M (backbone) + 98M (embedding) is what DeBERTa-v3-small has.",
        "| DeBERTa-v3-small | 44M (backbone) + 98M (embedding) |\n|---|---|\n| License | MIT |",
        T5.replace("| Large | 24/24 | 4096 | 1024 | 64 |", "| Ours | 20/20 | 4096 | 1024 | 80 |"),
        "| Model | layers | heads | kv |\n|---|---|---|---|\n| Llama 3 8B | 32 | 32 | 8 |\n| Llama 2 7B | 32 | 32 | 32 |",
    ],
)
def test_what_is_another_models_or_may_be_is_left_alone(text: str) -> None:
    assert wrong(text) == []
