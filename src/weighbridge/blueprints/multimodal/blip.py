"""BLIP: a vision transformer, and a BERT with cross-attention to the image, as encoder and as decoder.

Source: arXiv 2201.12086, section 3.1; names as in transformers 5.23.0, models/blip/modeling_blip.py and
modeling_blip_text.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import attention, embeddings, feed_forward, masked_lm_head, pooler
from weighbridge.blueprints.modules.clip_towers import PATCHES, PROJECTED, SCALE, projection, similarity, stack_fields, text_fields
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.config.family import Family
from weighbridge.config.fields import IMAGE, PATCH, TIED, Config, Field, constant, nested, size, switch, with_changes
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

POOLED = switch("pooled", "add_pooling_layer", True, report_default=False)
TEXT: tuple[Field, ...] = (
    *text_fields(30524, 512, *stack_fields(768, 3072, 8)),
    size("encoder_hidden", "encoder_hidden_size", 768, "W", "width of the states attended to"),
    switch("crossed", "is_decoder", True),
    constant("decoder", lambda c: c.crossed),
    TIED,
)
VISION = (
    *stack_fields(768, 3072, 12),
    IMAGE.with_default(384),
    PATCH.with_default(16),
    PATCHES,
    constant("qkv_bias", True),
)
FIELDS = (
    nested("text", "text_config", TEXT),
    nested("vision", "vision_config", VISION),
    PROJECTED,
    size("matched", "image_text_hidden_size", 256, "M", "width of the retrieval space"),
    TIED,
)
NEVER = "the states of another model"
"""A stream that nobody gives: what waits for it is stored and does not run."""


def vision(c: Config) -> Part:
    """Describe BlipVisionModel: queries, keys and values in one map; the last norm also norms the class token again."""
    H = c.hidden
    embedded = part(
        "embeddings",
        Tensor("class_embedding", (1, 1, H), "embedding"),
        Tensor("position_embedding", (1, c.patches + 1, H), "embedding"),
        conv2d("patch_embedding", 3, H, c.patch, stream=c.patches),
        kind="embeddings",
    )
    return part(
        "", embedded, part("encoder", vision_layer(c), kind="encoder"), layer_norm("post_layernorm", H), kind="vision", stream=c.patches + 1
    )


def vision_layer(c: Config) -> Part:
    """Describe one layer, repeated."""
    H = c.hidden
    mixed = part(
        "self_attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("projection", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    return part("layers", mixed, layer_norm("layer_norm1", H), mlp, layer_norm("layer_norm2", H), kind="layer", repeat=c.layers)


def text_parts(c: Config, keys: Stream, *, pooled: bool) -> tuple[Part, ...]:
    """Describe BERT without token types, whose layers attend to states of another width if it is a decoder."""
    crossed = (attention(c, "crossattention", keys=keys, width=c.encoder_hidden),) if c.crossed else ()
    layer = part("layer", attention(c), *crossed, *feed_forward(c), kind="layer", repeat=c.layers)
    return (embeddings(c, typed=False), part("encoder", layer, kind="encoder"), *((pooler(c),) if pooled else ()))


def text(c: Config) -> Part:
    """Describe BlipTextModel."""
    return part("", *text_parts(c, "encoder", pooled=c.pooled), kind="text")


def text_lm(c: Config, keys: Stream = "encoder") -> Part:
    """Describe BlipTextLMHeadModel: the vocabulary head of BERT."""
    # its forward is a decoder's by default, whatever the config says
    body = part("bert", *text_parts(with_changes(c, decoder=True), keys, pooled=False), kind="backbone")
    return part("", body, part("cls", masked_lm_head(c), kind="head"), kind="text")


def _parts(c: Config) -> tuple[Part, Config, Size]:
    """Return the vision tower, what the text is made of beside it, and the states of an image."""
    tower = replace(vision(c.vision), name="vision_model")
    return tower, with_changes(c.text, encoder_hidden=c.vision.hidden, tied=c.tied or c.text.tied), c.vision.patches + 1


def blip(c: Config) -> Part:
    """Describe BlipModel: both towers side by side, so that the text's attention to the image never runs."""
    tower, words, _ = _parts(c)
    return part(
        "",
        SCALE,
        part("text_model", *text_parts(words, NEVER, pooled=True), kind="text"),
        tower,
        projection("visual_projection", c.vision.hidden, c.projected),
        projection("text_projection", c.text.hidden, c.projected),
        similarity(c.projected),
        kind="model",
    )


def conditional_generation(c: Config) -> Part:
    """Describe BlipForConditionalGeneration: a text decoder that attends to the image."""
    tower, words, states = _parts(c)
    return part("", tower, as_child("text_decoder", text_lm(words, states)), kind="model")


def question_answering(c: Config) -> Part:
    """Describe BlipForQuestionAnswering: the question attends to the image, the answer to the question."""
    tower, words, states = _parts(c)
    answer = as_child("text_decoder", text_lm(words, "encoder"), streams={"seq": "decoder", "encoder": "seq"})
    return part("", tower, part("text_encoder", *text_parts(words, states, pooled=False), kind="text"), answer, kind="model")


def retrieval(c: Config) -> Part:
    """Describe BlipForImageTextRetrieval: whether image and text match; the two projections are for the other way of asking."""
    tower, words, states = _parts(c)
    return part(
        "",
        tower,
        part("text_encoder", *text_parts(words, states, pooled=False), kind="text"),
        replace(linear("vision_proj", c.vision.hidden, c.matched, stream="one"), requires=NEVER),
        replace(linear("text_proj", c.text.hidden, c.matched, stream="one"), requires=NEVER),
        linear("itm_head", c.text.hidden, 2, stream="one"),
        kind="model",
    )


CLASSES = {
    "BlipModel": blip,
    "BlipForConditionalGeneration": conditional_generation,
    "BlipForQuestionAnswering": question_answering,
    "BlipForImageTextRetrieval": retrieval,
}
TEXTS = {"BlipTextModel": text, "BlipTextLMHeadModel": text_lm}
IGNORED_KEYS = frozenset(("label_smoothing", "logit_scale_init_value", "num_channels"))
SINGLE = IGNORED_KEYS | {"projection_dim"}
FAMILIES = {
    "blip": Family("blip", FIELDS, CLASSES, "BlipModel", SINGLE),
    "blip_text_model": Family("blip_text_model", (*TEXT, POOLED), TEXTS, "BlipTextModel", SINGLE),
    "blip_vision_model": Family("blip_vision_model", VISION, {"BlipVisionModel": vision}, "BlipVisionModel", SINGLE),
}
