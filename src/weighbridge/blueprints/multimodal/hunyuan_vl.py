"""HunyuanOCR: HunYuan's dense language model with a vision tower for pages of any size.

Source: Tencent, HunyuanOCR (2025), arXiv 2511.19575; names as in transformers 5.23.0, models/hunyuan_vl/modeling_hunyuan_vl.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_MLP_BIAS, default_head_dim, with_heads
from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, SPATIAL_MERGE, Config, computed, size, switch, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import length, product_of
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, part, plain_mlp, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

TEXT = variant(
    LLAMA,
    NO_MLP_BIAS,
    qk_norm="head",
    qk_names=("query_layernorm", "key_layernorm"),
    tied=True,
    vocab=size("vocab", "vocab_size", 290943, "V", "vocabulary size", "org_vocab_size"),
    head_dim=size("head_dim", "head_dim", default_head_dim, "D", "head dimension", "attention_head_dim"),
)
VISION = (
    *stack_fields(1152, 4304, 16, 27)[:3],
    size("heads", "num_attention_heads", 16, "A", "attention heads", "attention_heads"),
    size("head_dim", "head_dim", lambda c: c.hidden // c.heads, "D", "head dimension", report_default=False),
    CHANNELS,
    PATCH.with_default(16),
    size("image", "max_image_size", 2048, "R", "image size"),
    SPATIAL_MERGE.with_default(2),
    size("out", "text_hidden_size", 3072, "O", "width of a merged patch"),
)
BOTH = (
    model_config("vision", "vision_config", "hunyuan_vl_vision", fixed=True),
    model_config("text", "text_config", "hunyuan_vl_text", fixed=True),
    switch("outer_tied", "tie_word_embeddings", True),
    computed("tied", lambda c: c.outer_tied or c.text.tied),
)


def vision(c: Config) -> Part:
    """Describe the tower: patches with a table of positions that is stretched over the page, layers, and what merges squares."""
    H, inner, side = c.hidden, c.heads * c.head_dim, c.image // c.patch
    embeddings = part(
        "embeddings",
        conv2d("patch_embedding", c.channels, H, c.patch),
        embedding("position_embedding", side * side + 1, H),
        kind="embeddings",
    )
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", H, inner) for name in "qkv"),
        linear("o_proj", inner, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    layer = part("layers", layer_norm("layer_norm1", H), attention, layer_norm("layer_norm2", H), mlp, kind="layer", repeat=c.layers)
    return part("", embeddings, layer, merger(c), kind="vision", stream=PATCHES)


def merger(c: Config) -> Part:
    """Describe a convolution over squares of patches, a wider map, and learned vectors that end each row and frame the page."""
    H, O = c.hidden, c.out
    rows, columns = length("rows") // c.merge, length("columns") // c.merge
    squares, lines = product_of(rows, columns), product_of(rows, columns + 1)
    return part(
        "patch_merger",
        Tensor("image_newline", (4 * H,), "embedding"),
        *(Tensor(f"image_{name}", (O,), "embedding") for name in ("begin", "end", "sep")),
        conv2d("proj_conv", H, 2 * H, c.merge, stream=squares),
        conv2d("proj_out", 2 * H, 4 * H, 1, stream=squares),
        linear("mlp", 4 * H, O, stream=lines),
        rms_norm("before_rms", H),
        rms_norm("after_rms", O, stream=lines),
        kind="projector",
    )


def hunyuan(c: Config) -> tuple[Node, ...]:
    """Describe the text, and the tower, which ends as wide as the text is, whatever is said."""
    tower = vision(with_changes(c.vision, out=c.text.hidden))
    return (as_child("language_model", submodel(c.text)), as_child("vision_tower", tower, requires="images", executions="images"))


TEXT_KEYS = {key for field in TEXT for key in (field.key, *field.aliases) if key} - {"tie_word_embeddings"}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring an older config, which states the text's fields beside the others, into the present layout; the tie stays outside.

    >>> normalize_config({"hidden_size": 64})
    {'text_config': {'hidden_size': 64}}
    """
    if raw.get("text_config") is not None:
        return dict(raw)
    outer = {key: value for key, value in raw.items() if key not in TEXT_KEYS}
    return {**outer, "text_config": {key: value for key, value in raw.items() if key in TEXT_KEYS}}


OUTER_IGNORED_KEYS = (
    """img_max_token_num interpolate_mode max_vit_seq_len min_image_size num_key_value_heads out_hidden_size temporal_patch_size"""
)
TOWER = "HunYuanVLVisionTransformer"
MARKS = "im_start_id im_end_id im_newline_id"
FAMILIES = {
    "hunyuan_vl": replace(family_of("hunyuan_vl", "HunYuanVL", BOTH, hunyuan, MARKS), normalize_config=normalize_config),
    "hunyuan_vl_text": Family(
        "hunyuan_vl_text", TEXT, with_heads("HunYuanVLText", llama, ""), "HunYuanVLTextModel", IGNORED_KEYS | {"pad_id"}
    ),
    "hunyuan_vl_vision": Family("hunyuan_vl_vision", VISION, {TOWER: vision}, TOWER, frozenset(OUTER_IGNORED_KEYS.split())),
}
