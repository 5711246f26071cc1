"""LFM3-VL: a vision tower of short convolutions and attention in front of LFM3.

Source: Liquid AI, LFM3-VL (2026); names as in transformers 5.23.0, models/lfm3_vl/modeling_lfm3_vl.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.layer_types import checked_kinds
from weighbridge.blueprints.modules.qwen_vision import PATCHES, merged_patches
from weighbridge.blueprints.modules.vlm_common import per_image
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import IN_CHANNELS, KV_HEADS, PATCH, SPATIAL_MERGE, Config, Field, computed, constant, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part

VISION = (
    *stack_fields(1024, 2560, 16, 14),
    KV_HEADS.with_default(8),
    IN_CHANNELS.with_default(3),
    PATCH.with_default(16),
    SPATIAL_MERGE.with_default(2),
    size("frames", "temporal_patch_size", 2, "T", "frames per patch"),
    size("kernel", "conv_kernel_size", 3, "R", "kernel size of the convolution"),
    computed("odd", lambda c: c.kernel % 2 == 1),
    Field(
        "stated_kinds", "layer_types", lambda c: ["conv" if i < 2 or i % 2 else "full_attention" for i in layer_range(c.layers)], "choice"
    ),
    constant("kinds", lambda c: checked_kinds(c, c.stated_kinds, "layer_types", ("conv", "full_attention"))),
)
BOTH = (
    model_config("vision", "vision_config", "lfm3_vl_vision", fixed=True),
    model_config("text", "text_config", "lfm3"),
    size("inside", "projector_hidden_size", 4096, "E", "inner width of the projector"),
    switch("bias", "projector_bias", True),
    switch("tied", "tie_word_embeddings", True),
)


def layer(c: Config, kind: str) -> tuple[Node, ...]:
    """Describe a layer: a gated convolution of each channel over the image, or attention, and a gated feed-forward network."""
    H, I = c.hidden, c.mlp
    if kind == "conv":
        places: Stream = PATCHES if c.odd else unknown("a convolution with an even kernel changes the size of the feature map")
        children: tuple[Node, ...] = (
            linear("in_proj", H, 3 * H, bias=False),
            conv2d("spatial_conv", H, H, c.kernel, stream=places, groups=H, bias=False),
            linear("out_proj", H, H, bias=False),
        )
        mixer = part("conv", *children, kind="convolution")
    else:
        A, K, D = c.heads, c.kv_heads, c.head_dim
        wide = (("q_proj", A * D), ("k_proj", K * D), ("v_proj", K * D))
        mixer = part(
            "self_attn",
            *(linear(name, H, width, bias=False) for name, width in wide),
            linear("out_proj", A * D, H, bias=False),
            rms_norm("q_norm", D),
            rms_norm("k_norm", D),
            attend(heads=A, kv_heads=K, head_dim=D),
            kind="self_attention",
        )
    mlp = (linear("w1", H, I, bias=False), linear("w3", H, I, bias=False), linear("w2", I, H, bias=False))
    return (mixer, part("feed_forward", *mlp, kind="feed_forward"), rms_norm("operator_norm", H), rms_norm("ffn_norm", H))


def vision(c: Config) -> Part:
    """Describe the tower: a linear layer on each patch, a norm, layers."""
    inputs = c.channels * c.frames * c.patch * c.patch
    return part(
        "",
        linear("patch_embed", inputs, c.hidden, bias=False),
        rms_norm("embedding_norm", c.hidden),
        *stack("layers", c.kinds, c.layers, lambda kind: layer(c, kind)),
        kind="vision",
        stream=PATCHES,
    )


def lfm3(c: Config) -> tuple[Node, ...]:
    """Describe the text, the tower, and a norm and two linear layers over squares of patches."""
    wide, squares = c.vision.hidden * c.vision.merge * c.vision.merge, merged_patches(c.vision)
    projector = part(
        "multi_modal_projector",
        layer_norm("layer_norm", c.vision.hidden),
        linear("linear_1", wide, c.inside, bias=c.bias, stream=squares),
        linear("linear_2", c.inside, c.text.hidden, bias=c.bias, stream=squares),
        kind="projector",
        stream=PATCHES,
    )
    return (
        as_child("language_model", submodel(c.text)),
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        per_image(projector),
    )


FAMILIES = {
    "lfm3_vl": family_of("lfm3_vl", "Lfm3Vl", BOTH, lfm3),
    "lfm3_vl_vision": Family(
        "lfm3_vl_vision", uneven_heads(VISION), {"Lfm3VlVisionModel": vision}, "Lfm3VlVisionModel", frozenset(("norm_eps",))
    ),
}
