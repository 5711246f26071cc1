"""Ovis 2.5 and 2.6 by their own code: SigLIP 2's tower over images of any size, a visual vocabulary, and Qwen3 or its mixture of experts.

Source: arXiv 2508.11737; modeling_ovis2_5.py of AIDC-AI/Ovis2.5-9B. Held to the totals of published files (2.5 2B and 9B, 2.6 30B), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import encoder, stack_fields
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, IMAGE, PATCH, Config, choice, nested, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, part
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

MARKS = 4
"""Words that mark where an image or a video begins and ends, which the head does not predict."""
WINDOWS = unknown("attention in windows over images of any size is not described")


def vit(c: Config) -> Part:
    """Describe Siglip2NavitModel: SigLIP's layers, whose table of positions is stretched over an image, and rotary positions too."""
    W, side = c.hidden, c.image // c.patch
    table = (embedding("position_embedding", side * side, W),) if c.tabled else ()
    inside = part("embeddings", conv2d("patch_embedding", c.channels, W, c.patch), *table, kind="embeddings")
    return part("vit", part("vision_model", inside, encoder(c), layer_norm("post_layernorm", W), kind="vision"), kind="vision")


def ovis(c: Config) -> Part:
    """Describe Ovis2_5."""
    v = c.vision
    words = c.words - MARKS
    head = part("head", linear("0", v.hidden * v.stride * v.stride, words, bias=False), layer_norm("1", words), kind="head")
    seen = part("visual_tokenizer", vit(v), head, kind="vision", stream=WINDOWS)
    table = embedding("vte", c.words, c.hidden)
    return part("", as_child("llm", submodel(c.text, *CAUSAL)), per_image(seen), table, kind="model")


def refuse_fixed_patches(value: Any) -> Any:
    """Refuse a tower over a fixed number of patches, which embeds these by a linear map."""
    if type(value) is not int or value > 0:
        raise ConfigError("a tower over a fixed number of patches is not described", key="num_patches", value=value)
    return value


VIT = (
    *stack_fields(1152, 4304, 16, 27),
    size("channels", "num_channels", 3, "N", "image channels"),
    IMAGE.with_default(512),
    PATCH.with_default(16),
    size("stride", "hidden_stride", 2, "F", "patches merged along an axis"),
    switch("tabled", "preserve_original_pe", True),
    choice("packed", "num_patches", -1, read=refuse_fixed_patches, report_default=False),
)
VIT_KEYS = frozenset("fullatt_block_indexes temporal_patch_size window_size use_rope attention_dropout layer_norm_eps hidden_act".split())
KEYS = IGNORED_KEYS | VIT_KEYS | frozenset("conversation_formatter_class multimodal_max_length tie_word_embeddings".split())


def family_of(name: str, text: str, *classes: str) -> Family:
    """Return the type over this language model."""
    fields = (
        model_config("text", "llm_config", text),
        nested("vision", "vit_config", VIT),
        size("words", "visual_vocab_size", 65536, "V", "visual vocabulary size", minimum=MARKS + 1),
        HIDDEN.with_default(lambda c: c.text.hidden),
    )
    return Family(name, fields, dict.fromkeys(classes, ovis), classes[0], KEYS)


FAMILIES = {
    "ovis2_5": family_of("ovis2_5", "qwen3", "Ovis2_5"),
    "ovis2_6_moe": family_of("ovis2_6_moe", "qwen3_moe", "Ovis2_6_MoeForCausalLM"),
}
