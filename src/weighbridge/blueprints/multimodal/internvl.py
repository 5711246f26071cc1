"""InternVL: a BEiT-like vision transformer and pixel shuffle in front of a language model.

Source: arXiv 2504.10479 (InternVL 3); names as in transformers 5.23.0, models/internvl/modeling_internvl.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.clip_towers import stack_fields
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import WHOLE_HEADS, patches
from weighbridge.blueprints.modules.vlm_common import merge_squares, patch_tokens
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.blueprints.vision.beit import embeddings
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, sides, switch
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp, rms_norm
from weighbridge.core.tree import Part, Tensor

VISION = (
    *stack_fields(1024, 4096, 16, 24)[:-1],
    WHOLE_HEADS,
    *sides("image", "image_size", 448, "R", "image size"),
    *sides("patch", "patch_size", 14, "P", "patch size"),
    CHANNELS,
    switch("qkv_bias", "attention_bias", False),
    switch("normed", "use_qk_norm", False),
    choice("norm", "norm_type", "layer_norm"),
    switch("masked", "use_mask_token", False),
    switch("absolute", "use_absolute_position_embeddings", True),
    switch("mean", "use_mean_pooling", True),
)


def vision(c: Config) -> Part:
    """Describe InternVL's tower: a vision transformer with learned scales behind each half of a layer."""
    H = c.hidden
    norm = layer_norm if c.norm == "layer_norm" else rms_norm
    attention = part(
        "attention",
        *(linear(f"{name}_proj", H, H, bias=c.qkv_bias) for name in "qkv"),
        linear("projection_layer", H, H),
        *((rms_norm("q_norm", H), rms_norm("k_norm", H)) if c.normed else ()),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layer",
        *(Tensor(name, (H,), "gain") for name in ("lambda_1", "lambda_2")),
        attention,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        norm("layernorm_before", H),
        norm("layernorm_after", H),
        kind="layer",
        repeat=c.layers,
    )
    last = () if c.mean else (layer_norm("layernorm", H),)
    return part("", embeddings(c), part("encoder", layer, kind="encoder"), *last, kind="vision", stream=patches(c) + 1)


def projector(c: Config, tower: Part) -> Part:
    """Describe a norm and two linear layers over squares of patches."""
    wide = c.vision.hidden * c.shuffle**2
    return part(
        "multi_modal_projector",
        layer_norm("layer_norm", wide),
        linear("linear_1", wide, c.text.hidden),
        linear("linear_2", c.text.hidden, c.text.hidden),
        kind="projector",
        stream=merge_squares(patch_tokens(tower, c.select), c.shuffle),
    )


FIELDS = (
    model_config("vision", "vision_config", "internvl_vision", fixed=True),
    model_config("text", "text_config", "qwen2 llama qwen3"),
    choice("shuffle", "downsample_ratio", 0.5, read=lambda ratio: int(1 / ratio)),
    choice("select", "vision_feature_select_strategy", "default"),
    switch("tied", "tie_word_embeddings", True),
)
TOWER = Family("internvl_vision", VISION, {"InternVLVisionModel": vision}, "InternVLVisionModel", frozenset(("layer_scale_init_value",)))
FAMILIES = {
    "internvl": family_of("internvl", "InternVL", FIELDS, lambda c: body(c, projector), "vision_feature_layer"),
    "internvl_vision": TOWER,
}
