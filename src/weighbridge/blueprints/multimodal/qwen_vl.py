"""Qwen-VL: Qwen's language models with a vision tower for images of any size; and Cohere Compass, which has Qwen3-VL's tower.

Source: arXiv 2409.12191 (Qwen2-VL), 2502.13923 (Qwen2.5-VL), 2511.21631 (Qwen3-VL); names as in transformers 5.23.0,
models/qwen2_vl/modeling_qwen2_vl.py, models/qwen2_5_vl, models/qwen3_vl and models/cohere_compass.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, QWEN2, llama
from weighbridge.blueprints.modules import qwen_vision
from weighbridge.blueprints.modules.causal_lm import HEAD_DIM, IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import flat_text_config, tie_fields, with_lm_head, without_head
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field, switch, variant
from weighbridge.core.tree import Part

TEXT = variant(
    QWEN2,
    vocab=152064,
    hidden=8192,
    mlp=29568,
    layers=80,
    heads=64,
    kv_heads=8,
    head_dim=HEAD_DIM,
    late=80,
)
TEXT3 = variant(LLAMA, NO_MLP_BIAS, vocab=151936, mlp=22016, kv_heads=32, head_dim=128, qk_norm="head")


def body(c: Config) -> tuple[Part, ...]:
    """Describe the vision tower and the text."""
    return (
        as_child("visual", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
    )


def families_of(name: str, prefix: str, vision: tuple[tuple[Field, ...], Blueprint, str], text: tuple[Field, ...]) -> dict[str, Family]:
    """Return one generation's three types: the whole, its text and its tower."""
    fields, tower, tower_class = vision
    parts = (
        model_config("vision", "vision_config", f"{name}_vision", fixed=True),
        model_config("text", "text_config", f"{name}_text", fixed=True),
    )
    classes = {f"{prefix}Model": without_head(body), f"{prefix}ForConditionalGeneration": with_lm_head(body)}
    older = name != "qwen3_vl"
    ties = tie_fields() if older else (switch("tied", "tie_word_embeddings", False),)
    return {
        name: Family(
            name,
            (*parts, *ties),
            classes,
            f"{prefix}Model",
            VISION_IGNORED_KEYS,
            normalize_config=flat_text_config(text) if older else None,
        ),
        f"{name}_text": Family(f"{name}_text", text, with_heads(f"{prefix}Text", llama, ""), f"{prefix}TextModel", IGNORED_KEYS),
        f"{name}_vision": Family(
            f"{name}_vision", fields, {tower_class: tower}, tower_class, frozenset("in_chans spatial_patch_size tokens_per_second".split())
        ),
    }


COMPASS = "CohereCompassVisionModel"
COMPASS_FIELDS = (
    model_config("vision", "vision_config", "cohere_compass_vision", fixed=True),
    model_config("text", "text_config", "cohere_compass_text", fixed=True),
    switch("tied", "tie_word_embeddings", False),
)
COMPASS_CLASSES = {"CohereCompassModel": without_head(body), "CohereCompassForConditionalGeneration": with_lm_head(body)}
FAMILIES = {
    **families_of("qwen2_vl", "Qwen2VL", (qwen_vision.QWEN2, qwen_vision.qwen2, "Qwen2VisionTransformerPretrainedModel"), TEXT),
    **families_of("qwen2_5_vl", "Qwen2_5_VL", (qwen_vision.QWEN2_5, qwen_vision.qwen2_5, "Qwen2_5_VisionTransformerPretrainedModel"), TEXT),
    **families_of("qwen3_vl", "Qwen3VL", (qwen_vision.FIELDS, qwen_vision.qwen3, "Qwen3VLVisionModel"), TEXT3),
    "cohere_compass": Family("cohere_compass", COMPASS_FIELDS, COMPASS_CLASSES, "CohereCompassModel", VISION_IGNORED_KEYS),
    "cohere_compass_vision": Family("cohere_compass_vision", qwen_vision.FIELDS, {COMPASS: qwen_vision.qwen3}, COMPASS),
}
