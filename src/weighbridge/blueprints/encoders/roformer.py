"""RoFormer: BERT with rotary position embeddings (Su et al., 2021).

Source: arXiv 2104.09864; class and tensor names as in transformers 5.23.0, models/roformer/modeling_roformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED
from weighbridge.blueprints.encoders.bert import layer as bert_layer
from weighbridge.blueprints.modules.bert_family import (
    BERT_TASKS,
    ROBERTA_HEADS,
    HeadSpec,
    bert_fields,
    multiple_choice_head,
    start_and_end,
    summary,
    vocabulary_projection,
    with_heads,
)
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, EMBEDDING_SIZE, Config, computed, switch
from weighbridge.core.parts import embedding, layer_norm, linear, part
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *uneven_heads(bert_fields(vocab=50000, positions=1536)),
    EMBEDDING_SIZE.with_default(lambda c: c.hidden),
    computed("projected", lambda c: c.embedding != c.hidden),
    switch("summarized", "summary_use_proj", False),
    switch("to_labels", "summary_proj_to_labels", False),
    *DECODER,
    POOLED,
)
IGNORED_KEYS = frozenset({"rotary_value", "summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_type"})


def roformer(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; the sines of the positions are a parameter that is not trained."""
    E = c.embedding
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, E),
        embedding("token_type_embeddings", c.types, E),
        layer_norm("LayerNorm", E),
        kind="embeddings",
    )
    project = (linear("embeddings_project", E, c.hidden),) if c.projected else ()
    sines = part("embed_positions", Tensor("weight", (c.positions, c.head_dim), "embedding", frozen=True), kind="embedding")
    return (embeddings, *project, part("encoder", sines, bert_layer(c), kind="encoder"))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head, back to the embeddings' width."""
    E = c.embedding
    transform = part("transform", linear("dense", c.hidden, E), layer_norm("LayerNorm", E), kind="transform")
    decoder = vocabulary_projection(c, "decoder", E, words=words, bias="cls.predictions.bias" if c.tied else None)
    return (part("cls", part("predictions", Tensor("bias", (c.vocab,), "bias"), transform, decoder, kind="lm_head"), kind="head"),)


def multiple_choice(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe a summary of the sequence, on a switch, and one output."""
    return (*summary(c), *multiple_choice_head(c, words))


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForCausalLM": HeadSpec(masked_lm),
    **BERT_TASKS,
    "ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"],
    "ForMultipleChoice": HeadSpec(multiple_choice),
    "ForQuestionAnswering": HeadSpec(start_and_end),
}

FAMILIES = {
    "roformer": Family("roformer", FIELDS, with_heads("RoFormer", "roformer", roformer, HEADS), "RoFormerModel", ignored_keys=IGNORED_KEYS)
}
