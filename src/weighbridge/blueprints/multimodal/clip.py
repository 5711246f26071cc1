"""CLIP: contrastive text and vision transformers.

Source: arXiv 2103.00020, section 2.4; names as in transformers 5.23.0, models/clip/modeling_clip.py
and models/metaclip_2/modeling_metaclip_2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import (
    PROJECTED,
    contrastive,
    image_fields,
    normalize_config,
    projection,
    stack_fields,
    text_fields,
    text_tower,
    vision_tower,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, nested
from weighbridge.core.parts import label_head, part, replace
from weighbridge.core.tree import Part

TEXT = (*text_fields(49408, 77, *stack_fields(512, 2048, 8)), PROJECTED)
VISION = (*stack_fields(768, 3072, 12), *image_fields(224, 32), PROJECTED)
FIELDS = (nested("text", "text_config", TEXT), nested("vision", "vision_config", VISION), PROJECTED, LABELS)


def text(c: Config) -> Part:
    """Describe CLIPTextModel."""
    return part("", *text_tower(c), kind="text")


def projected_text(c: Config) -> Part:
    """Describe CLIPTextModelWithProjection: the vector of the end of the text, in the shared space."""
    return part("", part("text_model", *text_tower(c), kind="text"), projection("text_projection", c.hidden, c.projected), kind="model")


def vision(c: Config) -> Part:
    """Describe CLIPVisionModel: its stream is the patches and the class token."""
    return part("", *vision_tower(c), kind="vision", stream=c.patches + 1)


def projected_vision(c: Config) -> Part:
    """Describe CLIPVisionModelWithProjection: the class token's vector, in the shared space."""
    return part("", replace(vision(c), name="vision_model"), projection("visual_projection", c.hidden, c.projected), kind="model")


def clip(c: Config) -> Part:
    """Describe CLIPModel: both towers, a projection for each, and the temperature of their similarities."""
    return contrastive(text(c.text), vision(c.vision), (c.text.hidden, c.vision.hidden), c.projected)


def image_classification(c: Config) -> Part:
    """Describe CLIPForImageClassification: the labels on the mean of the patches, no text."""
    tower = replace(vision(c.vision), name="vision_model")
    return part("", tower, label_head("classifier", c.vision.hidden, c.labels, stream="one"), kind="model")


def _families(prefix: str, name: str, text_fields: tuple[Field, ...] = TEXT) -> dict[str, Family]:
    """Return the three types that one structure is known by: both towers, and each by itself."""
    ignored_keys = frozenset(("logit_scale_init_value",))
    both = (nested("text", "text_config", text_fields), *FIELDS[1:])
    classes = {f"{name}Model": clip, f"{name}ForImageClassification": image_classification}
    texts = {f"{name}TextModel": text, f"{name}TextModelWithProjection": projected_text}
    visions = {f"{name}VisionModel": vision, f"{name}VisionModelWithProjection": projected_vision}
    return {
        prefix: Family(prefix, both, classes, f"{name}Model", ignored_keys, normalize_config=normalize_config),
        f"{prefix}_text_model": Family(f"{prefix}_text_model", text_fields, texts, f"{name}TextModel"),
        f"{prefix}_vision_model": Family(f"{prefix}_vision_model", VISION, visions, f"{name}VisionModel"),
    }


FAMILIES = {**_families("clip", "CLIP"), **_families("metaclip_2", "MetaClip2")}
