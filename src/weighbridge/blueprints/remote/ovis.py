"""Ovis 1.6 and 2 by their own code: each square of patches is a mixture of visual words, whose table stands beside the language model's.

Source: arXiv 2405.20797; modeling_ovis.py of AIDC-AI/Ovis2-1B, and modeling_aimv2.py of apple/aimv2-large-patch14-448. Held to the totals of published files
(Ovis2 1B, 4B and 8B, Ovis1.6 3B and 9B), not to a live class. The library's own ``ovis2`` is another layout of the same tensors.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, IMAGE, LAYERS, MLP, PATCH, Config, choice, nested, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

PARTS = unknown("how many parts an image is cut into depends on its sides")
MARKS = 5
"""Words that mark where an image and its parts begin and end, which the head does not predict."""


def aimv2(c: Config) -> Part:
    """Describe AIMv2Model: gated MLPs, norms that do not centre, and a table of positions."""
    W, side = c.hidden, c.image // c.patch
    attends = part(
        "attn",
        linear("qkv", W, 3 * W, bias=c.qkv_bias),
        linear("proj", W, W, bias=c.biased),
        attend(heads=c.heads, head_dim=exact(W, c.heads)),
        kind="self_attention",
    )
    maps = linear("fc1", W, c.mlp, bias=c.biased), linear("fc2", c.mlp, W, bias=c.biased), linear("fc3", W, c.mlp, bias=c.biased)
    mlp = part("mlp", *maps, kind="feed_forward")
    block = part("blocks", attends, rms_norm("norm_1", W), mlp, rms_norm("norm_2", W), kind="layer", repeat=c.layers)
    patches = part("patchifier", conv2d("proj", 3, W, c.patch), rms_norm("norm", W), kind="embeddings")
    return part(
        "",
        part("preprocessor", patches, Tensor("pos_embed", (1, side * side, W), "embedding"), kind="embeddings"),
        part("trunk", block, rms_norm("post_trunk_norm", W), kind="encoder"),
        kind="vision",
    )


def tower(c: Config) -> Part:
    """Describe the tower of a visual tokenizer; SigLIP's stands under a name of its own."""
    inner = submodel(c)
    if c.model_type == "apple_aimv2":
        return as_child("backbone", inner)
    return part("backbone", as_child("vision_model", inner), kind="vision")


def tokenizer(c: Config) -> Part:
    """Describe the tower, and the head that says how much a square of patches is of every visual word."""
    wide: Size = c.backbone.hidden * c.stride * c.stride
    head = part("head", linear("0", wide, c.words - MARKS, bias=False), layer_norm("1", c.words - MARKS), kind="head")
    return part("visual_tokenizer", replace(tower(c.backbone), stream=PARTS), replace(head, stream=PARTS), kind="vision", stream=PARTS)


def ovis(c: Config) -> Part:
    """Describe Ovis."""
    table = embedding("vte", c.tokenizer.words, c.text.hidden)
    return part("", as_child("llm", submodel(c.text, *CAUSAL)), per_image(tokenizer(c.tokenizer)), table, kind="model")


AIM = (
    HIDDEN.with_default(1024),
    MLP.with_default(2816),
    LAYERS.with_default(24),
    HEADS.with_default(8),
    IMAGE.with_default(224),
    PATCH.with_default(14),
    switch("qkv_bias", "qkv_bias", False),
    switch("biased", "use_bias", False),
)
TOKENIZER = (
    model_config("backbone", "backbone_config", "apple_aimv2 siglip_vision_model"),
    size("stride", "hidden_stride", 1, "F", "patches merged along an axis"),
    size("words", "vocab_size", 16384, "V", "visual vocabulary size", minimum=MARKS + 1),
    choice("function", "tokenize_function", "softmax", read=one_of("tokenize_function", "softmax", "gumbel_argmax", "st_argmax")),
    read_none("hd_booster"),
    read_none("depths"),
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Tell Apple's own AIMv2 from the library's type of that name.

    >>> normalize_config({"visual_tokenizer_config": {"backbone_config": {"model_type": "aimv2"}}})
    {'visual_tokenizer_config': {'backbone_config': {'model_type': 'apple_aimv2'}}}
    """
    stated = raw.get("visual_tokenizer_config")
    inner = stated.get("backbone_config") if isinstance(stated, Mapping) else None
    if not isinstance(stated, Mapping) or not isinstance(inner, Mapping) or inner.get("model_type", "aimv2") != "aimv2":
        return dict(raw)
    return {**raw, "visual_tokenizer_config": {**stated, "backbone_config": {**inner, "model_type": "apple_aimv2"}}}


FIELDS = (
    model_config("text", "llm_config", "qwen2 llama gemma2"),
    nested("tokenizer", "visual_tokenizer_config", TOKENIZER),
)
KEYS = IGNORED_KEYS | frozenset(
    """conversation_formatter_class disable_tie_weight hidden_size llm_attn_implementation multimodal_max_length tie_word_embeddings
    backbone_kwargs drop_cls_token tau use_indicators initializer_range image_size""".split()
)
AIM_KEYS = frozenset("attention_dropout projection_dropout num_channels rms_norm_eps".split())
FAMILIES = {
    "ovis": Family("ovis", FIELDS, {"Ovis": ovis}, "Ovis", KEYS, normalize_config=normalize_config),
    "apple_aimv2": Family("apple_aimv2", AIM, {"AIMv2Model": aimv2}, "AIMv2Model", AIM_KEYS),
}
