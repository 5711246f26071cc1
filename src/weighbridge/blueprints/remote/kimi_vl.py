"""Kimi-VL and its tower MoonViT: images of any size in front of DeepSeek-V3's language model (Moonlight); its code stands beside its files.

Source: arXiv 2504.07491; modeling_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct. Held tensor by tensor to the classes of mlx-vlm 0.7.10,
models/kimi_vl, which reads its files.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.blueprints.remote.kimi_k3 import tower
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, MLP, PATCH, Config, constant, derived, sides, size
from weighbridge.core.length import merge, product_of
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Part

VISION = (
    HIDDEN.with_default(1152),
    MLP.with_default(4304),
    LAYERS.with_default(27),
    HEADS.with_default(16),
    derived("inner", lambda c: c.hidden),
    PATCH.with_default(14),
    size("tall", "init_pos_emb_height", 64, "Y", "rows of the table of positions"),
    size("broad", "init_pos_emb_width", 64, "X", "columns of the table of positions"),
    *sides("merge", "merge_kernel_size", 2, "M", "patches merged along an axis"),
    *(constant(word, True) for word in ("patch_bias", "attention_bias", "mlp_bias")),
    constant("rms", False),
)


def kimi_vl(c: Config) -> Part:
    """Describe the tower, a norm and two maps over squares of patches, and the language model with its head."""
    v = c.vision
    wide = v.hidden * v.merge_height * v.merge_width
    merged = product_of(merge("rows", v.merge_height), merge("columns", v.merge_width))
    maps = linear("linear_1", wide, wide, stream=merged), linear("linear_2", wide, c.text.hidden, stream=merged)
    return part(
        "",
        as_child("vision_tower", submodel(v), requires="images", executions="images"),
        per_image(part("multi_modal_projector", layer_norm("pre_norm", v.hidden), *maps, kind="projector", stream=merged)),
        as_child("language_model", submodel(c.text, *CAUSAL)),
        kind="model",
    )


FIELDS = (model_config("vision", "vision_config", "moonvit", fixed=True), model_config("text", "text_config", "deepseek_v3", fixed=True))
KEYS = IGNORED_KEYS | frozenset("media_placeholder_token_id scale_factor tie_word_embeddings".split())
CLASS = "KimiVLForConditionalGeneration"
FAMILIES = {
    "kimi_vl": Family("kimi_vl", FIELDS, {CLASS: kimi_vl}, CLASS, KEYS),
    "moonvit": Family("moonvit", VISION, {"MoonVitPretrainedModel": tower}, "MoonVitPretrainedModel"),
}
