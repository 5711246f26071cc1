"""The vision tower of TIPSv2: DINOv2's structure with one register token.

Source: arXiv 2410.16512; names as in transformers 5.23.0, models/tipsv2/modeling_tipsv2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.vit_common import QKV_BIAS, VIT_HEAD_DIM, VIT_HEADS, VIT_HIDDEN, VIT_LAYERS
from weighbridge.blueprints.vision.dinov2 import OWN_IGNORED_KEYS, REGISTERS, dinov2, dinov2_encoder
from weighbridge.config.family import Family
from weighbridge.config.fields import constant, derived, sides, switch

FIELDS = (
    *(VIT_HIDDEN, VIT_LAYERS, VIT_HEADS, VIT_HEAD_DIM, CHANNELS, QKV_BIAS),
    ratio("ratio", "mlp_ratio", 4),
    derived("mlp", lambda c: scale_width(c.hidden, c.ratio)),
    *sides("image", "image_size", 448, "R", "image size"),
    *sides("patch", "patch_size", 14, "P", "patch size"),
    REGISTERS.with_default(1),
    switch("gated", "use_swiglu_ffn", False),
    constant("masked", True),
    constant("registered", True),
)

CLASSES = {"Tipsv2VisionEncoder": dinov2_encoder, "Tipsv2VisionModel": dinov2, "Tipsv2VisionBackbone": dinov2}

FAMILIES = {"tipsv2_vision_model": Family("tipsv2_vision_model", uneven_heads(FIELDS), CLASSES, "Tipsv2VisionModel", OWN_IGNORED_KEYS)}
