"""BROS: BERT with relative 2-D positions of words on the page in its attention (Hong et al., 2021).

Source: arXiv 2108.04539; class and tensor names as in transformers 5.23.0, models/bros/modeling_bros.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, feed_forward, output_block, pooler, self_attention
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import HeadSpec, bert_fields, encoder_stack, token_classifier, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, constant, settable, size, variant
from weighbridge.core.length import length
from weighbridge.core.parts import linear, matmul, part, replace
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *variant(bert_fields(), tied=constant("tied", False)),
    size("box", "dim_bbox", 8, "B", "coordinates of a box"),
    size("relations", "n_relations", 1, "R", "relation types"),
    *DECODER,
    POOLED,
    settable("sines", "dim_bbox_sinusoid_emb_2d", lambda c: c.hidden // 4, "S_2", "width of a box's sinusoids"),
    settable("waves", "dim_bbox_sinusoid_emb_1d", lambda c: c.hidden // 4 // c.box, "S_1", "width of a coordinate's sinusoids", minimum=0),
    settable("projected", "dim_bbox_projection", lambda c: c.hidden // c.heads, "P", "width of a box's projection"),
)
IGNORED_KEYS = frozenset("bbox_scale classifier_dropout_prob".split())


def attention(c: Config, name: str, keys: str | None = None) -> Part:
    """Describe attention: the query also meets the distance to each key."""
    distance = matmul("distance", (c.heads, "seq", keys or "seq", c.head_dim))
    return part(
        name,
        self_attention(c, distance, keys=keys),
        output_block(c.hidden, c.hidden),
        kind="cross_attention" if keys else "self_attention",
        requires=keys,
    )


def layers(c: Config) -> Part:
    """Describe the layers."""
    crossed = (attention(c, "crossattention", "encoder"),) if c.crossed else ()
    return part("layer", attention(c, "attention"), *crossed, *feed_forward(c), kind="layer", repeat=c.layers)


def boxes(c: Config) -> Part:
    """Describe the distances between boxes: sines of a quarter of the hidden size, mapped to the width of a head."""
    frequencies = Tensor("inv_freq", ((c.waves + 1) // 2,), "buffer")
    sines = tuple(part(name, frequencies, kind="embedding") for name in ("x_pos_emb", "y_pos_emb"))
    # It sees every pair of tokens: those with the first one as its stream, the rest as products.
    pairs = matmul("pairs", (length("seq") - 1, "seq", c.sines, c.projected))
    projection = linear("bbox_projection", c.sines, c.projected, bias=False)
    projection = replace(projection, children=(*projection.children, pairs))
    return part("bbox_embeddings", part("bbox_sinusoid_emb", *sines, kind="embeddings"), projection, kind="embeddings")


def bros(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder."""
    embeddings = bert_embeddings(c)
    embeddings = replace(embeddings, children=(*embeddings.children, Tensor("position_ids", (1, c.positions), "buffer")))
    return (embeddings, boxes(c), encoder_stack(layers(c)), *((pooler(c),) if pooled else ()))


def relations(c: Config, name: str) -> Part:
    """Describe the scores of every pair of tokens, where a learned vector stands for no partner."""
    H, width, keys = c.hidden, c.relations * c.hidden, length("seq") + 1
    return part(
        name,
        Tensor("dummy_node", (1, H), "embedding"),
        linear("query", H, width),
        linear("key", H, width, stream=keys),
        matmul("scores", (width, "seq", keys)),
        kind="head",
    )


def entities(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe where an entity begins, and which token follows which."""
    first = (linear("1", c.hidden, c.hidden), linear("3", c.hidden, c.labels))
    return part("initial_token_classifier", *first, kind="head"), relations(c, "subsequent_token_classifier")


def links(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe which entity belongs to which."""
    return (relations(c, "entity_linker"),)


HEADS = {
    "ForTokenClassification": HeadSpec(token_classifier, True),
    "SpadeEEForTokenClassification": HeadSpec(entities, True),
    "SpadeELForTokenClassification": HeadSpec(links, True),
}
CLASSES = {**with_heads("Bros", "bros", bros, HEADS), "BrosEncoder": lambda c: part("", layers(c), kind="model")}

FAMILIES = {"bros": Family("bros", FIELDS, CLASSES, "BrosModel", IGNORED_KEYS)}
