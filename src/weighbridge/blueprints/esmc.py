"""ESM Cambrian: a Llama-like encoder of proteins (EvolutionaryScale, 2024).

Source: names as in transformers 5.23.0, models/esmc/modeling_esmc.py. Queries and keys are normed over all heads together.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.config import LABELS, Sizes, fact, size, switch
from weighbridge.encoders import Worn, dressed, labels_of_first
from weighbridge.parts import attend, embedding, gated_mlp, layer_norm, linear
from weighbridge.sizes import exact
from weighbridge.tree import Part

FIELDS = (
    size("vocab", "vocab_size", 64, "V", "vocabulary size"),
    size("hidden", "hidden_size", 2560, "H", "hidden size"),
    size("mlp", "intermediate_size", 6912, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 80, "L", "layers"),
    size("heads", "num_attention_heads", 40, "A", "attention heads"),
    size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "heads of keys and values"),
    size("head_dim", "head_dim", lambda c: exact(c.hidden, c.heads), "D", "width of a head"),
    LABELS,
    switch("attention_bias", "attention_bias", False),
    switch("mlp_bias", "mlp_bias", False),
    fact("tied", False),
    fact("pooled", False),
)
NEUTRAL = frozenset("max_position_embeddings mask_token_id tie_word_embeddings".split())


def esmc(c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe embeddings, layers and the last norm."""
    H, wide, narrow, bias = c.hidden, c.heads * c.head_dim, c.kv_heads * c.head_dim, c.attention_bias
    attention = Part("self_attn", (
        linear("q_proj", H, wide, bias=bias),
        linear("k_proj", H, narrow, bias=bias),
        linear("v_proj", H, narrow, bias=bias),
        linear("o_proj", wide, H, bias=bias),
        layer_norm("q_norm", H, bias=False),
        layer_norm("k_norm", H, bias=False),
        attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim),
    ), "self_attention")  # fmt: skip
    norms = layer_norm("input_layernorm", H), layer_norm("post_attention_layernorm", H)
    layer = Part("layers", (attention, gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias), *norms), "layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H, bias=False))


def masked_lm(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head, which is never tied."""
    H = c.hidden
    return (Part("lm_head", (linear("dense", H, H), layer_norm("layer_norm", H), linear("decoder", H, c.vocab)), "lm_head"),)


def token_labels(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on every token."""
    return (linear("score", c.hidden, c.labels),)


HEADS = {
    "ForMaskedLM": Worn(masked_lm),
    "ForSequenceClassification": Worn(labels_of_first),
    "ForTokenClassification": Worn(token_labels),
}

FAMILIES = {"esmc": Family("esmc", FIELDS, dressed("Esmc", "esmc", esmc, HEADS), "EsmcModel", NEUTRAL)}
