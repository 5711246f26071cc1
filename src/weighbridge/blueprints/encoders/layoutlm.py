"""LayoutLM and LiLT: text with 2-D positions on the page (Xu et al., 2019; Wang et al., 2022).

Source: arXiv 1912.13318, 2202.13669; class and tensor names as in transformers 5.23.0,
models/layoutlm/modeling_layoutlm.py and models/lilt/modeling_lilt.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, attention, feed_forward, output_block, pooler
from weighbridge.blueprints.encoders.bert import embeddings as bert_embeddings
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, ROBERTA_HEADS, HeadSpec, bert_fields, bert_lm, encoder_stack, with_heads
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

PLACES = size("places", "max_2d_position_embeddings", 1024, "P", "coordinates on a page")


def places(c: Config, width: Size) -> tuple[Part, ...]:
    """Describe the embeddings of a box's corner, height and width."""
    return tuple(embedding(f"{axis}_position_embeddings", c.places, width) for axis in "xyhw")


def layoutlm(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: BERT's, with positions added to the embeddings."""
    tokens, positions, *others = bert_embeddings(c).children
    embeddings = part("embeddings", tokens, positions, *places(c, c.hidden), *others, kind="embeddings")
    layer = part("layer", attention(c), *feed_forward(c), kind="layer", repeat=c.layers)
    return (embeddings, encoder_stack(layer), pooler(c))


def lilt(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder: RoBERTa's, and beside it a narrower one for the layout."""
    H, narrow = c.hidden, c.hidden // c.shrink
    layout = part(
        "layout_embeddings",
        *places(c, H // 6),
        embedding("box_position_embeddings", c.positions, narrow),
        linear("box_linear_embeddings", H, narrow),
        layer_norm("LayerNorm", narrow),
        kind="embeddings",
    )
    return (bert_embeddings(c), layout, encoder_stack(lilt_layer(c, narrow)), *((pooler(c),) if pooled else ()))


def lilt_layer(c: Config, narrow: Size) -> Part:
    """Describe a layer of both streams; their scores are added, each keeps its values."""
    H, narrow_mlp = c.hidden, c.mlp // c.shrink
    inner = part(
        "self",
        *(linear(name, H, H) for name in ("query", "key", "value")),
        *(linear(f"layout_{name}", narrow, narrow) for name in ("query", "key", "value")),
        attend(heads=c.heads, head_dim=c.head_dim),
        attend(heads=c.heads, head_dim=c.head_dim // c.shrink),
        kind="attention",
    )
    return part(
        "layer",
        part("attention", inner, output_block(H, H), replace(output_block(narrow, narrow), name="layout_output"), kind="self_attention"),
        *feed_forward(c),
        part("layout_intermediate", linear("dense", narrow, narrow_mlp), kind="feed_forward"),
        replace(output_block(narrow_mlp, narrow, kind="feed_forward"), name="layout_output"),
        kind="layer",
        repeat=c.layers,
    )


LAYOUTLM_HEADS = {"ForMaskedLM": HeadSpec(bert_lm), **{name: BERT_TASKS[name] for name in BERT_TASKS if name != "ForMultipleChoice"}}
LILT_HEADS = {name: ROBERTA_HEADS[name] for name in ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")}

FAMILIES = {
    "layoutlm": Family(
        "layoutlm", (*bert_fields(), PLACES, POOLED), with_heads("LayoutLM", "layoutlm", layoutlm, LAYOUTLM_HEADS), "LayoutLMModel"
    ),
    "lilt": Family(
        "lilt",
        (*bert_fields(), PLACES, size("shrink", "channel_shrink_ratio", 4, "R", "reduction factor of the layout stream"), POOLED),
        with_heads("Lilt", "lilt", lilt, LILT_HEADS),
        "LiltModel",
    ),
}
