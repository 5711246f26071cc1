"""GroupViT: CLIP whose image tower gathers patches into ever fewer groups.

Source: arXiv 2202.11094, section 3; names as in transformers 5.23.0, models/groupvit/modeling_groupvit.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.groupvit_vision import FIELDS as VISION
from weighbridge.blueprints.groupvit_vision import vision
from weighbridge.blueprints.towers import SCALE, settled, similarity, stack_fields, text_fields, text_tower
from weighbridge.config.fields import Sizes, nested, size
from weighbridge.core.parts import batch_norm, linear
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

TEXT = text_fields(49408, 77, *stack_fields(256, 1024, 4))
FIELDS = (
    nested("text", "text_config", TEXT),
    nested("vision", "vision_config", VISION),
    size("projected", "projection_dim", 256, "E", "width of the shared space"),
    size("inner", "projection_intermediate_dim", 4096, "Q", "width inside the projections"),
)


def text(c: Sizes) -> Part:
    """Describe GroupViTTextTransformer, as CLIP's."""
    return Part("", text_tower(c), "text")


def text_model(c: Sizes) -> Part:
    """Describe GroupViTTextModel."""
    return Part("", (text(c)._replace(name="text_model"),), "model")


def vision_model(c: Sizes) -> Part:
    """Describe GroupViTVisionModel."""
    return Part("", (vision(c)._replace(name="vision_model"),), "model")


def _projected(name: str, inputs: Size, c: Sizes) -> Part:
    """Describe two linear maps with a batch norm between them."""
    return Part(
        name, (linear("0", inputs, c.inner), batch_norm("1", c.inner), linear("3", c.inner, c.projected)), "projector", stream="one"
    )


def groupvit(c: Sizes) -> Part:
    """Describe GroupViTModel."""
    return Part("", (
        SCALE,
        text(c.text)._replace(name="text_model"),
        vision(c.vision)._replace(name="vision_model"),
        _projected("visual_projection", c.vision.hidden, c),
        _projected("text_projection", c.text.hidden, c),
        similarity(c.projected),
    ), "model")  # fmt: skip


NEUTRAL = frozenset("logit_scale_init_value assign_eps output_segmentation".split())
TEXTS = {"GroupViTTextTransformer": text, "GroupViTTextModel": text_model}
FAMILIES = {
    "groupvit": Family("groupvit", FIELDS, {"GroupViTModel": groupvit}, "GroupViTModel", NEUTRAL, settle=settled),
    "groupvit_text_model": Family("groupvit_text_model", TEXT, TEXTS, "GroupViTTextModel", NEUTRAL),
    "groupvit_vision_model": Family("groupvit_vision_model", VISION, {"GroupViTVisionModel": vision_model}, "GroupViTVisionModel", NEUTRAL),
}
