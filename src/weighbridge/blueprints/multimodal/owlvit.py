"""OWL-ViT and OWLv2: CLIP with open-vocabulary detection heads on every patch.

Source: arXiv 2205.06230 and 2306.09683; names as in transformers 5.23.0, models/owlvit/modeling_owlvit.py and
models/owlv2/modeling_owlv2.py. The arithmetic is that of one text for each image.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import (
    PROJECTED,
    contrastive,
    image_fields,
    stack_fields,
    text_fields,
    text_tower,
    vision_tower,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, nested
from weighbridge.core.parts import layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

TEXT = text_fields(49408, 16, *stack_fields(512, 2048, 8))


def vision_parts(c: Config) -> Part:
    """Describe OwlViTVisionTransformer, whose first norm is spelt right."""
    return part("", *vision_tower(c, first_norm="pre_layernorm"), kind="vision", stream=c.patches + 1)


def text_parts(c: Config) -> Part:
    """Describe OwlViTTextTransformer, as CLIP's."""
    return part("", *text_tower(c), kind="text")


def text(c: Config) -> Part:
    """Describe OwlViTTextModel."""
    return part("", replace(text_parts(c), name="text_model"), kind="model")


def vision(c: Config) -> Part:
    """Describe OwlViTVisionModel."""
    return part("", replace(vision_parts(c), name="vision_model"), kind="model")


def owlvit(c: Config) -> Part:
    """Describe OwlViTModel."""
    return contrastive(text_parts(c.text), vision_parts(c.vision), (c.text.hidden, c.vision.hidden), c.projected)


def detection(c: Config) -> Part:
    """Describe OwlViTForObjectDetection: for every patch a class by its likeness to the text, a box and, in OWLv2, whether anything is there."""
    H, patches = c.vision.hidden, c.vision.patches
    classes = part(
        "class_head",
        linear("dense0", H, c.text.hidden),
        linear("logit_shift", H, 1),
        linear("logit_scale", H, 1),
        matmul("likeness", (patches, c.text.hidden)),
        kind="head",
        stream=patches,
    )
    boxes = (box_head("box_head", H, 4), *((box_head("objectness_head", H, 1),) if c.objectness else ()))
    heads = (classes, *(replace(box, stream=patches) for box in boxes), layer_norm("layer_norm", H, stream=patches))
    return part("", replace(owlvit(c), name=c.name, kind="backbone"), *heads, kind="model")


def box_head(name: str, width: Size, outputs: Size) -> Part:
    """Describe three linear maps."""
    return part(name, linear("dense0", width, width), linear("dense1", width, width), linear("dense2", width, outputs), kind="head")


def _families(prefix: str, name: str, patch: int) -> dict[str, Family]:
    """Return the three types of one structure: both towers with the heads, and each tower by itself."""
    images = (*stack_fields(768, 3072, 12), *image_fields(768, patch))
    traits = constant("name", prefix), constant("objectness", prefix == "owlv2")
    fields = (nested("text", "text_config", TEXT), nested("vision", "vision_config", images), PROJECTED, *traits)
    ignored_keys = frozenset(("logit_scale_init_value", "projection_dim"))
    classes = {f"{name}Model": owlvit, f"{name}ForObjectDetection": detection}
    return {
        prefix: Family(prefix, fields, classes, f"{name}Model", ignored_keys),
        f"{prefix}_text_model": Family(
            f"{prefix}_text_model", TEXT, {f"{name}TextModel": text, f"{name}TextTransformer": text_parts}, f"{name}TextModel", ignored_keys
        ),
        f"{prefix}_vision_model": Family(
            f"{prefix}_vision_model",
            images,
            {f"{name}VisionModel": vision, f"{name}VisionTransformer": vision_parts},
            f"{name}VisionModel",
            ignored_keys,
        ),
    }


FAMILIES = {**_families("owlvit", "OwlViT", 32), **_families("owlv2", "Owlv2", 16)}
