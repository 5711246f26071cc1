"""Qwen3-VL with experts, and Qwen3.5: Qwen3-VL's tower beside later language models.

Source: arXiv 2511.21631 (Qwen3-VL); names as in transformers 5.23.0, models/qwen3_vl_moe/modeling_qwen3_vl_moe.py,
models/qwen3_5/modeling_qwen3_5.py and models/qwen3_5_moe/modeling_qwen3_5_moe.py.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.mixtral import MIXTRAL, expert_width, mixtral, with_layer_kinds
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.layer_types import sparse_step
from weighbridge.blueprints.modules.qwen_vision import FIELDS, qwen3
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import with_lm_head, without_head
from weighbridge.blueprints.multimodal.qwen_vl import body
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, constant, size, switch, variant
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Part

SHALLOW = variant(FIELDS, deep=constant("deep", ()), deep_runs=constant("deep_runs", 0))
TEXT = with_layer_kinds(
    MIXTRAL,
    sparse_step(),
    NO_MLP_BIAS,
    vocab=151936,
    hidden=2048,
    mlp=5632,
    layers=24,
    heads=16,
    qk_norm="head",
    active=4,
    expert_mlp=expert_width(1408),
    kv_heads=16,
    experts=size("experts", "num_experts", 60, "E", "experts", "num_local_experts"),
    block="experts gate",
)


def sequence(c: Config) -> Part:
    """Describe a class over sequences: one output per label on every token, of which one is read."""
    return part("", part("model", *body(c), kind="backbone"), linear("score", c.text.hidden, c.labels, bias=False), kind="model")


def tokens(c: Config) -> Part:
    """Describe a class over tokens: one output per label on every token."""
    return part("", part("model", *body(c), kind="backbone"), linear("score", c.text.hidden, c.labels), kind="model")


def vision_language_family(name: str, prefix: str) -> Family:
    """Return the type that holds both towers."""
    fields: tuple[Field, ...] = (
        model_config("vision", "vision_config", f"{name}_vision", fixed=True),
        model_config("text", "text_config", f"{name}_text", fixed=True),
        switch("tied", "tie_word_embeddings", False),
        LABELS,
    )
    classes = {f"{prefix}Model": without_head(body), f"{prefix}ForConditionalGeneration": with_lm_head(body)}
    return Family(name, fields, classes, f"{prefix}Model", VISION_IGNORED_KEYS)


def tower(name: str, prefix: str, fields: tuple[Field, ...]) -> Family:
    """Return the type of a tower alone."""
    return Family(name, fields, {f"{prefix}VisionModel": qwen3}, f"{prefix}VisionModel", frozenset(("deepstack_visual_indexes",)))


def _with_classifiers(family: Family) -> Family:
    labelled = {"Qwen3_5ForSequenceClassification": sequence, "Qwen3_5ForTokenClassification": tokens}
    return replace(family, classes={**family.classes, **labelled})


FAMILIES = {
    "qwen3_vl_moe": vision_language_family("qwen3_vl_moe", "Qwen3VLMoe"),
    "qwen3_vl_moe_text": Family("qwen3_vl_moe_text", TEXT, with_heads("Qwen3VLMoeText", mixtral, ""), "Qwen3VLMoeTextModel", IGNORED_KEYS),
    "qwen3_vl_moe_vision": tower("qwen3_vl_moe_vision", "Qwen3VLMoe", FIELDS),
    "qwen3_5": _with_classifiers(vision_language_family("qwen3_5", "Qwen3_5")),
    "qwen3_5_vision": tower("qwen3_5_vision", "Qwen3_5", SHALLOW),
    "qwen3_5_moe": vision_language_family("qwen3_5_moe", "Qwen3_5Moe"),
    "qwen4_exp_vision": tower("qwen4_exp_vision", "Qwen4Exp", SHALLOW),
    "qwen3_5_moe_vision": tower("qwen3_5_moe_vision", "Qwen3_5Moe", SHALLOW),
}
