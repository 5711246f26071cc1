"""Idefics 3 and SmolVLM: SigLIP's vision tower and pixel shuffle in front of a language model.

Source: arXiv 2408.12637 (Idefics 3), 2504.05299 (SmolVLM); names as in transformers 5.23.0,
models/idefics3/modeling_idefics3.py and models/smolvlm/modeling_smolvlm.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import encoder, image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, merge_squares, patch_tokens, per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, part
from weighbridge.core.tree import Node, Part

VISION = (*stack_fields(1152, 3072, 16), *image_fields(224, 32))


def vision(c: Config) -> Part:
    """Describe Idefics 3's tower: SigLIP's without a class token and without a pooling query."""
    H = c.hidden
    patch = conv2d("patch_embedding", c.channels, H, c.patch)
    embeddings = part("embeddings", patch, embedding("position_embedding", c.patches, H), kind="embeddings")
    return part("", embeddings, encoder(c), layer_norm("post_layernorm", H), kind="vision", stream=c.patches)


def idefics3(c: Config) -> tuple[Node, ...]:
    """Describe the tower, one linear layer over squares of patches, and the text."""
    tower = submodel(c.vision)
    proj = linear("proj", c.vision.hidden * c.factor * c.factor, c.text.hidden, bias=False)
    stream = merge_squares(patch_tokens(tower), c.factor)
    return (
        as_child("vision_model", tower, requires="images", executions="images"),
        per_image(part("connector", part("modality_projection", proj, kind="projector"), kind="projector", stream=stream)),
        as_child("text_model", submodel(c.text)),
    )


def families(name: str, prefix: str) -> dict[str, Family]:
    """Return Idefics 3 or SmolVLM, which differ in name alone: the whole, and its tower."""
    fields = (
        model_config("vision", "vision_config", f"{name}_vision", fixed=True),
        model_config("text", "text_config", "llama", absent={"rms_norm_eps": 1e-05}),
        size("factor", "scale_factor", 2, "F", "patches merged along an axis"),
        switch("tied", "tie_word_embeddings", False),
    )
    classes = {
        f"{prefix}Model": without_head(idefics3),
        f"{prefix}ForConditionalGeneration": with_lm_head(idefics3, "text_model.embed_tokens"),
    }
    tower = f"{prefix}VisionTransformer"
    return {
        name: Family(name, fields, classes, f"{prefix}Model", IGNORED_KEYS),
        f"{name}_vision": Family(f"{name}_vision", VISION, {tower: vision}, tower),
    }


FAMILIES = {**families("idefics3", "Idefics3"), **families("smolvlm", "SmolVLM")}
