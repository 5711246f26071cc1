"""AIMv2: a vision tower with RMS norms and gated networks and, in its contrastive form, a text tower of the same layers.

Source: arXiv 2411.14402, section 2; names as in transformers 5.23.0, models/aimv2/modeling_aimv2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import (
    PROJECTED,
    SCALE,
    image_fields,
    projection,
    similarity,
    stack_fields,
    text_embeddings,
    text_fields,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, nested, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, fairseq_attention, gated_mlp, linear, matmul, part, replace, rms_norm
from weighbridge.core.tree import Part, Tensor

BIASES = (switch("qkv_bias", "qkv_bias", False), switch("mlp_bias", "mlp_bias", False))
TEXT = (*text_fields(49408, 77, *stack_fields(768, 2048, 6)), *BIASES)
VISION = (
    *stack_fields(1024, 2816, 8, 24),
    *image_fields(224, 14),
    *BIASES,
    switch("pooled", "use_head", True),
    switch("native", "is_native", False),
)
FIELDS = (nested("text", "text_config", TEXT), nested("vision", "vision_config", VISION), PROJECTED)


def encoder(c: Config) -> Part:
    """Describe the layers of either tower."""
    H = c.hidden
    mixed = fairseq_attention("attention", H, c.heads, c.head_dim, bias=c.qkv_bias)
    children = (mixed, gated_mlp("ffn", H, c.mlp, bias=c.mlp_bias), rms_norm("rms_norm1", H), rms_norm("rms_norm2", H))
    return part("encoder", part("layers", *children, kind="layer", repeat=c.layers), kind="encoder")


def text(c: Config) -> Part:
    """Describe Aimv2TextModel."""
    return part("", text_embeddings(c), encoder(c), rms_norm("rms_norm", c.hidden), kind="text")


def vision(c: Config) -> Part:
    """Describe Aimv2VisionModel: positions in a table or, at native resolution, as sinusoids; a learned query pools the patches."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        conv2d("patch_embed", c.channels, H, c.patch),
        rms_norm("rms_norm", H),
        *(() if c.native else (embedding("position_embedding", c.patches, H),)),
        kind="embeddings",
    )
    pooler = (attention_pool(c),) if c.pooled else ()
    return part("", embeddings, encoder(c), rms_norm("rms_norm", H), *pooler, kind="vision", stream=c.patches)


def attention_pool(c: Config) -> Part:
    """Describe the attention of one learned query, which is not mapped, over all patches."""
    H = c.hidden
    return part(
        "head",
        Tensor("cls_token", (1, 1, H), "embedding"),
        linear("k_proj", H, H, bias=c.qkv_bias, stream=c.patches),
        linear("v_proj", H, H, bias=c.qkv_bias, stream=c.patches),
        linear("output_proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim, keys=c.patches),
        kind="pooler",
        stream="one",
    )


def aimv2(c: Config) -> Part:
    """Describe Aimv2Model: both towers, a projection for each, and the temperature of their similarities."""
    images = similarity(c.projected)
    if not c.vision.pooled:
        images = matmul("similarity", (unknown("without its head the vision tower gives no vector that a text is compared with"),))
    return part(
        "",
        SCALE,
        replace(vision(c.vision), name="vision_model"),
        replace(text(c.text), name="text_model"),
        projection("visual_projection", c.vision.hidden, c.projected),
        projection("text_projection", c.text.hidden, c.projected),
        images,
        kind="model",
    )


IGNORED_KEYS = frozenset(("logit_scale_init_value", "max_logit_scale", "projection_dim"))
FAMILIES = {
    "aimv2": Family("aimv2", FIELDS, {"Aimv2Model": aimv2}, "Aimv2Model", IGNORED_KEYS),
    "aimv2_text_model": Family("aimv2_text_model", TEXT, {"Aimv2TextModel": text}, "Aimv2TextModel", IGNORED_KEYS),
    "aimv2_vision_model": Family("aimv2_vision_model", VISION, {"Aimv2VisionModel": vision}, "Aimv2VisionModel", IGNORED_KEYS),
}
