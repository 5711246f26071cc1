"""VisualBERT: BERT over text tokens and image regions.

Source: arXiv 1908.03557, section 3; names as in transformers 5.23.0, models/visual_bert/modeling_visual_bert.py. No config
says how many regions there are, and the reference runs without them: the arithmetic is that of a text alone.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, SHARED, embeddings, layer, masked_lm_head, next_sentence, pooler
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, linear, part, replace
from weighbridge.core.tree import Node, Part

FIELDS = (
    *SHARED,
    size("region", "visual_embedding_dim", 512, "R", "width of a region's features"),
    switch("bypass", "bypass_transformer", False),
    constant("crossed", False),
    POOLED,
)
REGIONS = "regions of an image"
"""A stream that is not given: what waits for it is stored, and runs beside an image only."""


def encoder(c: Config, *, pooled: bool = True) -> tuple[Part, ...]:
    """Describe BERT with tables and a map for regions and, where these pass the layers by, a layer that joins them."""
    tables = embeddings(c)
    regions = (
        embedding("visual_token_type_embeddings", c.types, c.hidden),
        embedding("visual_position_embeddings", c.positions, c.hidden),
        replace(linear("visual_projection", c.region, c.hidden), requires=REGIONS),
    )
    joining = (replace(layer(c), name="additional_layer", repeat=None, requires=REGIONS),) if c.bypass else ()
    last = (*((pooler(c),) if pooled else ()), *joining)
    return (replace(tables, children=(*tables.children, *regions)), part("encoder", layer(c), kind="encoder"), *last)


def visual_bert(c: Config) -> Part:
    """Describe VisualBertModel."""
    return part("", *encoder(c, pooled=c.pooled), kind="model")


def _on_top(c: Config, *head: Node) -> Part:
    return part("", part("visual_bert", *encoder(c), kind="backbone"), *head, kind="model")


def _pre_training(c: Config) -> Part:
    words = "visual_bert.embeddings.word_embeddings.weight"
    return part("cls", masked_lm_head(c, words), next_sentence(c), kind="head")


def pre_training(c: Config) -> Part:
    """Describe VisualBertForPreTraining: the vocabulary head, and whether a text belongs to the image."""
    return _on_top(c, _pre_training(c))


def multiple_choice(c: Config) -> Part:
    """Describe VisualBertForMultipleChoice: one output on the pooled token."""
    return _on_top(c, linear("cls", c.hidden, 1, stream="one"))


def labels(c: Config) -> Part:
    """Describe VisualBertForQuestionAnswering and ForVisualReasoning: one output per label on one token."""
    return _on_top(c, linear("cls", c.hidden, c.labels, stream="one"))


def alignment(c: Config) -> Part:
    """Describe VisualBertForRegionToPhraseAlignment: one head of attention of phrases over regions; the other heads do not run."""
    width = c.head_dim
    head = part(
        "attention",
        *(linear(name, c.hidden, width) for name in ("query", "key", "value")),
        kind="cross_attention",
        stream=unknown("the config does not say how many phrases are matched with how many regions"),
    )
    return _on_top(c, _pre_training(c), head)


CLASSES = {
    "VisualBertModel": visual_bert,
    "VisualBertForPreTraining": pre_training,
    "VisualBertForMultipleChoice": multiple_choice,
    "VisualBertForQuestionAnswering": labels,
    "VisualBertForVisualReasoning": labels,
    "VisualBertForRegionToPhraseAlignment": alignment,
}
FAMILIES = {"visual_bert": Family("visual_bert", FIELDS, CLASSES, "VisualBertModel", frozenset(("special_visual_initialize",)))}
