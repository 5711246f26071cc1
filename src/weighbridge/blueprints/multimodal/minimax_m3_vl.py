"""MiniMax M3 with images: a CLIP-like tower over images of any size, whose patches are mapped to the text and then merged by squares.

Source: names as in transformers 5.23.0, models/minimax_m3_vl/modeling_minimax_m3_vl.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import PATCHES, merged_patches
from weighbridge.blueprints.modules.vlm_common import per_image, tie_fields, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, derived, size
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part, Tensor

VISION = (
    size("hidden", "hidden_size", 1280, "H", "hidden size"),
    size("mlp", "intermediate_size", 5120, "I", "intermediate size"),
    size("layers", "num_hidden_layers", 32, "L", "layers"),
    size("heads", "num_attention_heads", 16, "A", "attention heads"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    size("channels", "num_channels", 3, "N", "image channels"),
    size("patch", "patch_size", 14, "P", "patch size"),
    size("frames", "temporal_patch_size", 2, "T", "frames per patch"),
    size("merge", "spatial_merge_size", 2, "M", "patches merged along an axis"),
)
BOTH = (
    model_config("vision", "vision_config", "minimax_m3_vl_vision", fixed=True),
    model_config("text", "text_config", "minimax_m3_vl_text", fixed=True),
    size("inner", "projector_hidden_size", 6144, "E", "inner width of the projector"),
    *tie_fields(),
)


def vision(c: Config) -> Part:
    """Describe MiniMaxM3VLVisionModel: patches without a table of positions, a norm, and layers that norm first."""
    H = c.hidden
    weight = Tensor("weight", (H, c.channels, c.frames, c.patch, c.patch))
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", H, H) for name in ("k", "v", "q", "out")),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    layer = part("layers", attention, layer_norm("layer_norm1", H), mlp, layer_norm("layer_norm2", H), kind="layer", repeat=c.layers)
    embeddings = part("embeddings", part("proj", weight, kind="convolution"), kind="embeddings")
    return part("", embeddings, layer_norm("pre_layrnorm", H), layer, kind="vision", stream=PATCHES)


def body(c: Config) -> tuple[Part, ...]:
    """Describe the tower, the map of each patch to the text, the map of squares of them, and the text."""
    wide, squares = c.text.hidden, merged_patches(c.vision)
    projector = part(
        "multi_modal_projector",
        linear("linear_1", c.vision.hidden, c.inner, stream=PATCHES),
        linear("linear_2", c.inner, wide, stream=PATCHES),
        linear("merge_linear_1", wide * c.vision.merge * c.vision.merge, c.inner, stream=squares),
        linear("merge_linear_2", c.inner, wide, stream=squares),
        kind="projector",
    )
    tower = as_child("vision_tower", submodel(c.vision), requires="images", executions="images")
    return tower, per_image(projector), as_child("language_model", submodel(c.text))


IGNORED_KEYS = frozenset("image_size".split())
OUTER = frozenset(
    """image_grid_pinpoints image_seq_length image_token_id image_token_index img_token_compression_config multimodal_projector_bias
    num_reward_heads process_image_mode projector_hidden_act video_token_id video_token_index vision_feature_layer
    vision_feature_select_strategy""".split()
)
CLASSES = {"MiniMaxM3VLModel": without_head(body), "MiniMaxM3SparseForConditionalGeneration": with_lm_head(body)}
FAMILIES = {
    "minimax_m3_vl": Family("minimax_m3_vl", BOTH, CLASSES, "MiniMaxM3VLModel", OUTER),
    "minimax_m3_vl_vision": Family(
        "minimax_m3_vl_vision", VISION, {"MiniMaxM3VLVisionModel": vision}, "MiniMaxM3VLVisionModel", IGNORED_KEYS
    ),
}
