"""LUKE: RoBERTa with entity-aware attention (Yamada et al., 2020).

Source: arXiv 2010.01057; class and tensor names as in transformers 5.23.0, models/luke/modeling_luke.py. Without
entities in the input, what is theirs does not run.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, output_block, pooler
from weighbridge.blueprints.encoders.bert import embeddings as word_embeddings
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, HeadSpec, bert_fields, encoder_stack, with_heads
from weighbridge.blueprints.modules.bert_family import roberta_lm as word_predictions
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, size, switch
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    *bert_fields(vocab=50267),
    size("entities", "entity_vocab_size", 500000, "N", "entities"),
    size("entity", "entity_emb_size", 256, "E", "embedding size of entities"),
    computed("projected", lambda c: c.entity != c.hidden),
    switch("aware", "use_entity_aware_attention", True),
    POOLED,
)
IGNORED_KEYS = frozenset({"bert_model_name", "cls_entity_prediction"})
ENTITIES = "luke.entity_embeddings.entity_embeddings.weight"


def luke(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: embeddings of words, embeddings of entities, layers over both."""
    H = c.hidden
    entities = part(
        "entity_embeddings",
        embedding("entity_embeddings", c.entities, c.entity),
        *((linear("entity_embedding_dense", c.entity, H, bias=False),) if c.projected else ()),
        embedding("position_embeddings", c.positions, H),
        embedding("token_type_embeddings", c.types, H),
        layer_norm("LayerNorm", H),
        kind="embeddings",
        requires="entities",
    )
    inside: list[Node] = [linear(name, H, H) for name in ("query", "key", "value")]
    if c.aware:
        inside += [replace(linear(name, H, H), requires="entities") for name in ("w2e_query", "e2w_query", "e2e_query")]
    inner = part("self", *inside, attend(heads=c.heads, head_dim=c.head_dim), kind="attention")
    layer = part(
        "layer", part("attention", inner, output_block(H, H), kind="self_attention"), *feed_forward(c), kind="layer", repeat=c.layers
    )
    return (word_embeddings(c), entities, encoder_stack(layer), *((pooler(c),) if pooled else ()))


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe two heads: words, whose matrix is its own, and entities, whose matrix is their embeddings."""
    E = c.entity
    transform = part("transform", linear("dense", c.hidden, E), layer_norm("LayerNorm", E), kind="transform")
    decoder = linear("decoder", E, c.entities, bias=False, tied_to=ENTITIES if c.tied else None)
    entities = part("entity_predictions", Tensor("bias", (c.entities,), "bias"), transform, decoder, kind="lm_head", requires="entities")
    return (*word_predictions(c, None), entities)


def of_entities(states: int, *, bias: bool = True) -> HeadSpec:
    """Describe the labels of an entity, made of as many *states*; without entities it does not run."""

    def head(c: Config, words: str | None) -> tuple[Part, ...]:
        return (replace(linear("classifier", states * c.hidden, c.labels, bias=bias), requires="entities", stream="entities"),)

    return HeadSpec(head, True)


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm, True),
    **BERT_TASKS,
    "ForEntityClassification": of_entities(1),
    "ForEntityPairClassification": of_entities(2, bias=False),
    "ForEntitySpanClassification": of_entities(3),
}

FAMILIES = {"luke": Family("luke", FIELDS, with_heads("Luke", "luke", luke, HEADS), "LukeModel", ignored_keys=IGNORED_KEYS)}
