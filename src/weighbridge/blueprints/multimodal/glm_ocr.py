"""GLM-OCR: a small GLM with a vision tower for pages of any size.

Source: Z.ai, GLM-OCR (2026); names as in transformers 5.23.0, models/glm_ocr/modeling_glm_ocr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.glm import AFTER, BEFORE, GLM, glm
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_QKV_BIAS, default_head_dim, with_heads
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.qwen_vision import FIELDS, attention
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import tie_fields, with_lm_head, without_head
from weighbridge.blueprints.multimodal.glm4v import MARKS, downsampling_tower
from weighbridge.blueprints.multimodal.qwen_vl import body
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, derived, switch, variant
from weighbridge.core.parts import gated_mlp, linear, part, rms_norm
from weighbridge.core.tree import Part

BASE = variant(
    FIELDS,
    switch("bias", "attention_bias", True),
    hidden=1024,
    mlp=4096,
    layers=24,
    heads=16,
    patch_side=14,
    out=1536,
    deep=constant("deep", ()),
    deep_runs=constant("deep_runs", 0),
    positions=constant("positions", None),
)
VISION = (*BASE, derived("merger_mlp", lambda c: c.out * c.channels, "out_hidden_size", "in_channels"))
TEXT = variant(
    GLM, NO_QKV_BIAS, norms=BEFORE + AFTER, vocab=59392, hidden=1024, mlp=4096, layers=16, heads=16, kv_heads=8, head_dim=default_head_dim
)
BOTH = (
    model_config("vision", "vision_config", "glm_ocr_vision", fixed=True),
    model_config("text", "text_config", "glm_ocr_text", fixed=True),
    *tie_fields(),
)


def vision(c: Config) -> Part:
    """Describe the tower, whose queries and keys are normalized."""
    H = c.hidden
    scores = attention(c).children[-1]
    attended = part(
        "attn",
        linear("qkv", H, 3 * H, bias=c.bias),
        linear("proj", H, H, bias=c.bias),
        rms_norm("q_norm", c.head_dim),
        rms_norm("k_norm", c.head_dim),
        scores,
        kind="self_attention",
    )
    return downsampling_tower(c, attended, gated_mlp("mlp", H, c.mlp, bias=c.bias), c.merger_mlp, learned_positions=False)


CLASSES = {"GlmOcrModel": without_head(body), "GlmOcrForConditionalGeneration": with_lm_head(body)}
FAMILIES = {
    "glm_ocr": Family("glm_ocr", BOTH, CLASSES, "GlmOcrModel", VISION_IGNORED_KEYS | MARKS),
    "glm_ocr_text": Family("glm_ocr_text", TEXT, with_heads("GlmOcrText", glm, ""), "GlmOcrTextModel", IGNORED_KEYS),
    "glm_ocr_vision": Family("glm_ocr_vision", VISION, {"GlmOcrVisionModel": vision}, "GlmOcrVisionModel", frozenset(("image_size",))),
}
