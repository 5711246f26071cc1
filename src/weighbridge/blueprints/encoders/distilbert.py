"""DistilBERT: a BERT of half the depth, without token types and pooler (Sanh et al., 2019).

Source: arXiv 1910.01108; class and tensor names as in transformers 5.23.0, models/distilbert/modeling_distilbert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import (
    HeadSpec,
    question_answering_head,
    token_classifier,
    vocabulary_projection,
    with_heads,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, N_HEADS, N_LAYERS, POSITIONS, TIED, VOCAB, Config, computed, derived, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

FIELDS = (
    VOCAB.with_default(30522),
    POSITIONS.with_default(512),
    size("hidden", "dim", 768, "H", "hidden size", "hidden_size"),
    size("mlp", "hidden_dim", 3072, "I", "intermediate size"),
    N_LAYERS.with_default(6),
    N_HEADS.with_default(12),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "dim", "n_heads"),
    LABELS,
    computed("two_labels", lambda c: c.labels == 2),
    TIED,
    POOLED,
)
IGNORED_KEYS = frozenset({"activation", "qa_dropout", "seq_classif_dropout", "sinusoidal_pos_embds"})


def distilbert(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; it has no pooler to keep or leave out."""
    H = c.hidden
    attention = part(
        "attention",
        linear("q_lin", H, H),
        linear("k_lin", H, H),
        linear("v_lin", H, H),
        linear("out_lin", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layer",
        attention,
        layer_norm("sa_layer_norm", H),
        part("ffn", linear("lin1", H, c.mlp), linear("lin2", c.mlp, H), kind="feed_forward"),
        layer_norm("output_layer_norm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (bert_embeddings(c, typed=False), part("transformer", layer, kind="encoder"))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head: a transform, then the word embeddings again."""
    H = c.hidden
    return linear("vocab_transform", H, H), layer_norm("vocab_layer_norm", H), vocabulary_projection(c, "vocab_projector", H, words=words)


def classifier(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe two linear maps on the first token."""
    return linear("pre_classifier", c.hidden, c.hidden, stream="one"), linear("classifier", c.hidden, c.labels, stream="one")


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the same, always with one output."""
    return linear("pre_classifier", c.hidden, c.hidden, stream="one"), linear("classifier", c.hidden, 1, stream="one")


def start_and_end(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe question answering, which the class refuses for other than two labels."""
    if not c.two_labels:
        raise ConfigError("the class answers questions with two labels alone, a start and an end", key="num_labels", value=c.labels)
    return question_answering_head(c, words)


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForSequenceClassification": HeadSpec(classifier),
    "ForMultipleChoice": HeadSpec(multiple_choice),
    "ForTokenClassification": HeadSpec(token_classifier),
    "ForQuestionAnswering": HeadSpec(start_and_end),
}

FAMILIES = {
    "distilbert": Family(
        "distilbert", FIELDS, with_heads("DistilBert", "distilbert", distilbert, HEADS), "DistilBertModel", ignored_keys=IGNORED_KEYS
    )
}
