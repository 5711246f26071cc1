"""RoFormer: BERT with rotary positions, the first of them (Su et al., 2021).

Source: arXiv 2104.09864; class and tensor names as in transformers 5.23.0, models/roformer/modeling_roformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.bert_family import (
    BERT_TASKS,
    DECODER,
    POOLED,
    ROBERTA_HEADS,
    Worn,
    bert_fields,
    bert_layer,
    choice_of_one,
    dressed,
    summary,
    two_ends,
    vocabulary,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, size, switch, told
from weighbridge.core.parts import embedding, layer_norm, linear
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *bert_fields(vocab=50000, positions=1536),
    size("embedding", "embedding_size", lambda c: c.hidden, "E", "embedding size"),
    told("projected", lambda c: c.embedding != c.hidden),
    switch("summarised", "summary_use_proj", False),
    switch("to_labels", "summary_proj_to_labels", False),
    *DECODER,
    POOLED,
)
NEUTRAL = frozenset({"rotary_value", "summary_activation", "summary_first_dropout", "summary_last_dropout", "summary_type"})


def roformer(c: Sizes, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder; the sines of the positions are a parameter that is not trained."""
    E = c.embedding
    embeddings = Part("embeddings", (
        embedding("word_embeddings", c.vocab, E),
        embedding("token_type_embeddings", c.types, E),
        layer_norm("LayerNorm", E),
    ), "embeddings")  # fmt: skip
    project = (linear("embeddings_project", E, c.hidden),) if c.projected else ()
    sines = Part("embed_positions", (Tensor("weight", (c.positions, c.head_dim), "embedding", frozen=True),), "embedding")
    return (embeddings, *project, Part("encoder", (sines, bert_layer(c)), "encoder"))


def masked_lm(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head, back to the embeddings' width."""
    E = c.embedding
    transform = Part("transform", (linear("dense", c.hidden, E), layer_norm("LayerNorm", E)), "transform")
    decoder = vocabulary(c, "decoder", E, words=words, bias="cls.predictions.bias" if c.tied else None)
    return (Part("cls", (Part("predictions", (Tensor("bias", (c.vocab,), "bias"), transform, decoder), "lm_head"),), "head"),)


def multiple_choice(c: Sizes, words: str | None) -> tuple[Part, ...]:
    """Describe a summary of the sequence, on a switch, and one output."""
    return (*summary(c), *choice_of_one(c, words))


HEADS = {
    "ForMaskedLM": Worn(masked_lm),
    "ForCausalLM": Worn(masked_lm),
    **BERT_TASKS,
    "ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"],
    "ForMultipleChoice": Worn(multiple_choice),
    "ForQuestionAnswering": Worn(two_ends),
}

FAMILIES = {"roformer": Family("roformer", FIELDS, dressed("RoFormer", "roformer", roformer, HEADS), "RoFormerModel", neutral=NEUTRAL)}
