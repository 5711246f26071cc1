"""ESM Cambrian: a Llama-like protein encoder (EvolutionaryScale, 2024).

Source: names as in transformers 5.23.0, models/esmc/modeling_esmc.py. Queries and keys are normed over all heads together.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.eurobert import FIELDS as EUROBERT
from weighbridge.blueprints.encoders.eurobert import attention
from weighbridge.blueprints.modules.bert_family import HeadSpec, first_token_classifier, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, variant
from weighbridge.core.parts import embedding, gated_mlp, layer_norm, linear, part
from weighbridge.core.tree import Part

NEVER = {"tied": constant("tied", False), "pooled": constant("pooled", False)}
FIELDS = tuple(
    field for field in variant(EUROBERT, vocab=64, hidden=2560, mlp=6912, layers=80, heads=40, **NEVER) if field.word != "pooling"
)
IGNORED_KEYS = frozenset("max_position_embeddings mask_token_id tie_word_embeddings".split())


def esmc(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe embeddings, layers and the last norm."""
    H = c.hidden
    sight = attention(c, layer_norm("q_norm", H, bias=False), layer_norm("k_norm", H, bias=False))
    norms = layer_norm("input_layernorm", H), layer_norm("post_attention_layernorm", H)
    layer = part("layers", sight, gated_mlp("mlp", H, c.mlp, bias=c.mlp_bias), *norms, kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab, H), layer, layer_norm("norm", H, bias=False))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head, which is never tied."""
    H = c.hidden
    return (part("lm_head", linear("dense", H, H), layer_norm("layer_norm", H), linear("decoder", H, c.vocab), kind="lm_head"),)


def token_labels(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe one output per label on every token."""
    return (linear("score", c.hidden, c.labels),)


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForSequenceClassification": HeadSpec(first_token_classifier),
    "ForTokenClassification": HeadSpec(token_labels),
}

FAMILIES = {"esmc": Family("esmc", FIELDS, with_heads("Esmc", "esmc", esmc, HEADS), "EsmcModel", IGNORED_KEYS)}
