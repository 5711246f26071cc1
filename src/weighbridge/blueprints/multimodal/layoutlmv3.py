"""LayoutLMv3: one transformer over words, their positions on the page, and image patches.

Source: arXiv 2204.08387, section 2; names as in transformers 5.23.0, models/layoutlmv3/modeling_layoutlmv3.py. The
arithmetic is that of a text with its image, where the class embeds both.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import attention, feed_forward
from weighbridge.blueprints.encoders.roberta import roberta_embeddings
from weighbridge.blueprints.modules.clip_towers import stack_fields, text_fields
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import token
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, PATCH, TOKEN_TYPES, Config, computed, derived, size, switch
from weighbridge.core.length import Stream, sum_of
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    *text_fields(50265, 512, *stack_fields(768, 3072, 12)),
    TOKEN_TYPES.with_default(2),
    size("places", "max_2d_position_embeddings", 1024, "B", "positions on a page"),
    size("coordinate", "coordinate_size", 128, "X", "width of a coordinate"),
    size("shape", "shape_size", 128, "W", "width of a height or width embedding"),
    size("buckets", "rel_pos_bins", 32, "Q", "relative position buckets"),
    size("page_buckets", "rel_2d_pos_bins", 64, "Z", "relative position buckets on a page"),
    size("image", "input_size", 224, "R", "image size"),
    PATCH.with_default(16),
    derived("patches", lambda c: (c.image // c.patch) * (c.image // c.patch), "input_size", "patch_size"),
    CHANNELS,
    switch("relative", "has_relative_attention_bias", True),
    switch("spatial", "has_spatial_attention_bias", True),
    switch("reads", "text_embed", True),
    switch("sees", "visual_embed", True),
    LABELS,
    computed("few", lambda c: c.labels < 10),
)


def encoder(c: Config) -> tuple[Node, ...]:
    """Describe what is embedded, the layers, and the tables of relative positions beside them."""
    H = c.hidden
    images = (token("cls_token", H), Tensor("pos_embed", (1, c.patches + 1, H), "embedding")) if c.sees else ()
    patches = (
        part("patch_embed", conv2d("proj", c.channels, H, c.patch, stream=c.patches), kind="embeddings"),
        layer_norm("LayerNorm", H),
        layer_norm("norm", H, stream=c.patches + 1),
    )
    layer = part("layer", attention(c), *feed_forward(c), kind="layer", repeat=c.layers)
    tables = (
        *((position_table("rel_pos_bias", c, "buckets"),) if c.relative else ()),
        *((position_table("rel_pos_x_bias", c, "page_buckets"), position_table("rel_pos_y_bias", c, "page_buckets")) if c.spatial else ()),
    )
    words = (embeddings(c),) if c.reads else ()
    return (*images, *words, *(patches if c.sees else ()), part("encoder", layer, *tables, kind="encoder"))


def position_table(name: str, c: Config, word: str) -> Part:
    """Describe a table that is stored as a linear map and looked up."""
    return part(name, Tensor("weight", (c.heads, getattr(c, word)), "embedding"), kind="embedding")


def embeddings(c: Config) -> Part:
    """Describe RoBERTa's tables and those of corners, heights and widths on the page."""
    words = roberta_embeddings(c)
    return replace(words, children=(*words.children, *corner_tables(c)))


def corner_tables(c: Config) -> tuple[Part, ...]:
    """Describe the tables of corners, heights and widths on the page."""
    corners = (embedding(f"{axis}_position_embeddings", c.places, c.coordinate) for axis in "xy")
    sides = (embedding(f"{side}_position_embeddings", c.places, c.shape) for side in "hw")
    return *corners, *sides


def stream(c: Config) -> Stream:
    """Return what the layers see: the text and, if it is embedded, the image."""
    return sum_of("seq", c.patches + 1) if c.sees else "seq"


def layoutlmv3(c: Config) -> Part:
    """Describe LayoutLMv3Model."""
    return part("", *encoder(c), kind="model", stream=stream(c))


def _on_top(c: Config, head: Part) -> Part:
    return part("", part("layoutlmv3", *encoder(c), kind="backbone", stream=stream(c)), head, kind="model")


def _head(c: Config, name: str, seen: Stream) -> Part:
    """Describe a dense layer and the labels."""
    return part(name, linear("dense", c.hidden, c.hidden), linear("out_proj", c.hidden, c.labels), kind="head", stream=seen)


def token_classification(c: Config) -> Part:
    """Describe LayoutLMv3ForTokenClassification: fewer than ten labels need no dense layer."""
    return _on_top(c, linear("classifier", c.hidden, c.labels) if c.few else _head(c, "classifier", "seq"))


def question_answering(c: Config) -> Part:
    """Describe LayoutLMv3ForQuestionAnswering: start and end, of the image's patches too."""
    return _on_top(c, _head(c, "qa_outputs", stream(c)))


def sequence_classification(c: Config) -> Part:
    """Describe LayoutLMv3ForSequenceClassification: the labels on the first token."""
    return _on_top(c, _head(c, "classifier", "one"))


CLASSES = {
    "LayoutLMv3Model": layoutlmv3,
    "LayoutLMv3ForTokenClassification": token_classification,
    "LayoutLMv3ForQuestionAnswering": question_answering,
    "LayoutLMv3ForSequenceClassification": sequence_classification,
}
IGNORED_KEYS = frozenset(("max_rel_pos", "max_rel_2d_pos"))
FAMILIES = {"layoutlmv3": Family("layoutlmv3", FIELDS, CLASSES, "LayoutLMv3Model", IGNORED_KEYS)}
