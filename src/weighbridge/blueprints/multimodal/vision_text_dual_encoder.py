"""A vision and a text model of any types as a contrastive pair, as in CLIP.

Source: arXiv 2111.07991 (LiT); names as in transformers 5.23.0,
models/vision_text_dual_encoder/modeling_vision_text_dual_encoder.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import PROJECTED, SCALE, projection, similarity
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.parts import part
from weighbridge.core.tree import Part

FIELDS = (
    model_config("vision", "vision_config", "vit clip_vision_model deit"),
    model_config("text", "text_config", "bert roberta"),
    PROJECTED,
)


def dual_encoder(c: Config) -> Part:
    """Describe VisionTextDualEncoderModel."""
    return part(
        "",
        SCALE,
        as_child("vision_model", submodel(c.vision)),
        as_child("text_model", submodel(c.text)),
        projection("visual_projection", c.vision.hidden, c.projected),
        projection("text_projection", c.text.hidden, c.projected),
        similarity(c.projected),
        kind="model",
    )


NAME = "vision-text-dual-encoder"
IGNORED_KEYS = frozenset(("logit_scale_init_value",))
FAMILIES = {NAME: Family(NAME, FIELDS, {"VisionTextDualEncoderModel": dual_encoder}, "VisionTextDualEncoderModel", IGNORED_KEYS)}
