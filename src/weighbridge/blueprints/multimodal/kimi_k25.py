"""Kimi K2.5: DeepSeek-V3's language model with a vision tower for images of any size.

Source: Moonshot AI, Kimi K2.5 (2026); names as in transformers 5.23.0, models/kimi_k25/modeling_kimi_k25.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import per_image
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, Config, sides, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import merge, product_of
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

VISION = (
    *stack_fields(1152, 4304, 16, 27),
    PATCH.with_default(14),
    size("tall", "pos_emb_height", 64, "Y", "rows of the table of positions"),
    size("broad", "pos_emb_width", 64, "X", "columns of the table of positions"),
    *sides("merge", "merge_kernel_size", 2, "M", "patches merged along an axis"),
)
BOTH = (
    model_config("vision", "vision_config", "kimi_k25_vision", fixed=True),
    model_config("text", "text_config", "deepseek_v3"),
    size("normed", "projection_hidden_size", 1152, "E", "inner width of the projector"),
    switch("tied", "tie_word_embeddings", True),
)


def vision(c: Config) -> Part:
    """Describe the tower: patches, a table of positions that is stretched over the image, layers, a norm."""
    H = c.hidden
    positions = part("pos_emb", Tensor("position_embeddings", (c.tall, c.broad, H), "embedding"), kind="embeddings")
    attention = part(
        "attn",
        linear("proj", H, H),
        *(linear(f"{name}_proj", H, H) for name in "qkv"),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    layer = part("layers", layer_norm("norm1", H), layer_norm("norm2", H), attention, mlp, kind="layer", repeat=c.layers)
    patch = part("patch_embed", conv2d("proj", 3, H, c.patch), positions, kind="embeddings")
    return part("", patch, layer, layer_norm("final_layernorm", H), kind="vision", stream=PATCHES)


def kimi(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and a norm and two linear layers over squares of patches."""
    v = c.vision
    wide = v.hidden * v.merge_height * v.merge_width
    merged = product_of(merge("rows", v.merge_height), merge("columns", v.merge_width))
    projector = part(
        "mm_projector",
        layer_norm("pre_norm", c.normed),
        linear("in_proj", wide, wide),
        linear("out_proj", wide, c.text.hidden),
        kind="projector",
        stream=merged,
    )
    return (
        as_child("vision_tower", submodel(v), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        per_image(projector),
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Call the text by its type: published configs give it a name of its own.

    >>> normalize_config({"text_config": {"model_type": "kimi_k2"}})
    {'text_config': {'model_type': 'deepseek_v3'}}
    """
    text = raw.get("text_config")
    if isinstance(text, Mapping) and text.get("model_type") == "kimi_k2":
        return {**raw, "text_config": {**text, "model_type": "deepseek_v3"}}
    return dict(raw)


FAMILIES = {
    "kimi_k25": replace(family_of("kimi_k25", "Kimi_K25", BOTH, kimi, "projection_layer_norm_eps"), normalize_config=normalize_config),
    "kimi_k25_vision": Family(
        "kimi_k25_vision", uneven_heads(VISION), {"Kimi_K25VisionModel": vision}, "Kimi_K25VisionModel", frozenset(("pos_emb_time",))
    ),
}
