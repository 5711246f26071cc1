"""CLIP with another text tower: Chinese CLIP with a BERT, AltCLIP with an XLM-RoBERTa.

Source: arXiv 2211.01335 and 2211.06679; names as in transformers 5.23.0, models/chinese_clip/modeling_chinese_clip.py
and models/altclip/modeling_altclip.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, embeddings, layer, pooler
from weighbridge.blueprints.encoders.roberta import roberta_embeddings
from weighbridge.blueprints.modules.clip_towers import PROJECTED, contrastive, normalize_config, stack_fields, text_fields
from weighbridge.blueprints.multimodal.clip import VISION, vision
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import TOKEN_TYPES, Config, Field, constant, nested, size
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.tree import Part

CHINESE = (
    *text_fields(30522, 512, *stack_fields(768, 3072, 12)),
    TOKEN_TYPES.with_default(2),
    constant("crossed", False),
)
ALT = (
    *text_fields(250002, 514, *stack_fields(1024, 4096, 16, 24)),
    TOKEN_TYPES.with_default(1),
    size("projected", "project_dim", 768, "E", "width of the shared space"),
    constant("crossed", False),
)


def chinese_text(c: Config, *, pooled: bool | None = None) -> Part:
    """Describe ChineseCLIPTextModel: BERT, whose first token is the text's vector."""
    ending = (pooler(c),) if (c.pooled if pooled is None else pooled) else ()
    return part("", embeddings(c), part("encoder", layer(c), kind="encoder"), *ending, kind="text")


def chinese_clip(c: Config) -> Part:
    """Describe ChineseCLIPModel: no pooler in the text tower."""
    return contrastive(chinese_text(c.text, pooled=False), vision(c.vision), (c.text.hidden, c.vision.hidden), c.projected)


def roberta(c: Config, *, pooled: bool | None = None) -> Part:
    """Describe AltRobertaModel: RoBERTa, with a pooler unless that is left out."""
    ending = (pooler(c),) if (c.pooled if pooled is None else pooled) else ()
    return part("", roberta_embeddings(c), part("encoder", replace(layer(c), name="layers"), kind="encoder"), *ending, kind="backbone")


def alt_text(c: Config) -> Part:
    """Describe AltCLIPTextModel: every token is mapped to the width of CLIP's text, after a norm."""
    inner = replace(roberta(c, pooled=False), name="roberta")
    return part("", inner, linear("transformation", c.hidden, c.projected), layer_norm("pre_LN", c.hidden), kind="text")


def altclip(c: Config) -> Part:
    """Describe AltCLIPModel."""
    return contrastive(alt_text(c.text), vision(c.vision), (c.text.projected, c.vision.hidden), c.projected)


def _families(
    prefix: str, name: str, fields: tuple[Field, ...], blueprints: tuple[Blueprint, Blueprint], *more: Field
) -> dict[str, Family]:
    """Return the three types of one structure: both towers, and each by itself."""
    projected = PROJECTED.with_default(768 if prefix == "altclip" else 512)
    both = (nested("text", "text_config", fields), nested("vision", "vision_config", VISION), projected)
    model, text = f"{name}Model", f"{name}TextModel"
    ignored_keys = frozenset(("logit_scale_init_value", "direct_kd", "projection_dim"))
    texts = {text: blueprints[1], **({"AltRobertaModel": roberta} if prefix == "altclip" else {})}
    return {
        prefix: Family(prefix, both, {model: blueprints[0]}, model, ignored_keys, normalize_config=normalize_config),
        f"{prefix}_text_model": Family(f"{prefix}_text_model", (*fields, *more), texts, text, ignored_keys),
        f"{prefix}_vision_model": Family(f"{prefix}_vision_model", VISION, {f"{name}VisionModel": vision}, f"{name}VisionModel"),
    }


FAMILIES = {
    **_families("chinese_clip", "ChineseCLIP", CHINESE, (chinese_clip, chinese_text), POOLED),
    **_families("altclip", "AltCLIP", ALT, (altclip, alt_text), POOLED),
}
