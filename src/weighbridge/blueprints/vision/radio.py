"""RADIO: a vision transformer distilled from several teachers, with a class token per teacher and registers.

Source: arXiv 2312.06709; names as in transformers 5.23.0, models/radio/modeling_radio.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS, QKV_BIAS, VIT_HEAD_DIM
from weighbridge.blueprints.vision.dinov2 import dinov2_encoder, dinov2_layers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, IMAGE, LAYERS, PATCH, Config, derived, optional, sequence, size, switch
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Part, Tensor

_PLAIN = (
    HIDDEN.with_default(1280),
    LAYERS.with_default(32),
    HEADS.with_default(16),
    VIT_HEAD_DIM,
    ratio("ratio", "mlp_ratio", 4.0),
    derived("mlp", lambda c: scale_width(c.hidden, c.ratio)),
    switch("gated", "use_swiglu_ffn", False),
    QKV_BIAS,
    CHANNELS,
    IMAGE.with_default(224),
    size("largest", "max_img_size", 2048, "M", "largest image size"),
    PATCH.with_default(16),
    size("tokens", "num_cls_tokens", 3, "K", "class tokens"),
    size("registers", "num_registers", 7, "G", "register tokens", minimum=0),
    optional("frames", "video_temporal_patch_size", None, "T", "frames in a cube"),
    sequence("summary", "summary_idxs", lambda c: [0, 1]),
    sequence("mean", "norm_mean", lambda c: [0.0] * 3),
    sequence("deviation", "norm_std", lambda c: [1.0] * 3),
)
FIELDS = uneven_heads(_PLAIN)


def radio(c: Config) -> Part:
    """Describe RadioModel; patches of images and of videos have maps of their own, and no norm follows the layers."""
    H, across, most = c.hidden, c.image // c.patch, c.largest // c.patch
    inputs, learned = c.channels * c.patch * c.patch, c.tokens + c.registers
    moments = (("norm_mean", c.mean), ("norm_std", c.deviation))
    conditioner = part("input_conditioner", *(Tensor(name, (len(values), 1, 1), "buffer") for name, values in moments))
    video = () if c.frames is None else (replace(linear("video_patch_projection", c.frames * inputs, H, bias=False), requires="video"),)
    embeddings = part(
        "embeddings",
        Tensor("position_embedding", (1, most * most, H), "embedding"),
        Tensor("cls_register_token", (learned, H), "embedding"),
        linear("patch_projection", inputs, H, bias=False, stream=across * across),
        *video,
        kind="embeddings",
    )
    summary = Tensor("summary_idxs", (len(c.summary),), "buffer")
    children = summary, conditioner, embeddings, part("encoder", dinov2_layers(c), kind="encoder")
    return part("", *children, kind="model", stream=across * across + learned)


CLASSES = {"RadioEncoder": dinov2_encoder, "RadioModel": radio}

FAMILIES = {"radio": Family("radio", FIELDS, CLASSES, "RadioModel", IGNORED_KEYS | {"layerscale_value", "patch_dim", "video_patch_dim"})}
