"""GTE: Nomic BERT with biases, for long embeddings (Zhang et al., 2024).

Source: arXiv 2407.19669; names as in transformers 5.23.0, models/gte/modeling_gte.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.nomic_bert import IGNORED_KEYS, body
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, vocabulary_projection, with_heads
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import HEAD_DIM, Config, computed, size, switch
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.tree import Part

FIELDS = (
    *uneven_heads((*(f for f in bert_fields(vocab=250048) if f.word not in ("positions", "types", "head_dim")), HEAD_DIM)),
    size("types", "type_vocab_size", 1, "T", "token types", minimum=0),
    computed("typed", lambda c: c.types > 0),
    switch("pooled", "add_pooling_layer", False, report_default=False),
)


def gte(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; without token types there is no table of them."""
    H, I = c.hidden, c.mlp
    gated = (linear("gate_proj", H, I, bias=False), linear("up_proj", H, I, bias=False), linear("down_proj", I, H))
    embeddings, *rest = body(c, part("mlp", *gated, kind="feed_forward"), bias=True, pooled=pooled, words=words)
    first, _, norm = embeddings.children
    return (embeddings if c.typed else replace(embeddings, children=(first, norm)), *rest)


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    H = c.hidden
    return (
        part(
            "lm_head",
            linear("dense", H, H),
            layer_norm("layer_norm", H),
            vocabulary_projection(c, "decoder", H, words=words),
            kind="lm_head",
        ),
    )


HEADS = {"ForMaskedLM": HeadSpec(masked_lm), **{name: BERT_TASKS[name] for name in ("ForSequenceClassification", "ForTokenClassification")}}

FAMILIES = {"gte": Family("gte", FIELDS, with_heads("Gte", "gte", gte, HEADS), "GteModel", IGNORED_KEYS)}
