"""Llama 4 with images: its vision tower, and the whole model.

Source: The Llama 4 herd (2025); names as in transformers 5.23.0, models/llama4/modeling_llama4.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields
from weighbridge.blueprints.modules.composite import CAUSAL, as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, merge_squares, per_image
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, size
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp
from weighbridge.core.tree import Part, Tensor

VISION = (
    *stack_fields(768, 5632, 16, 34),
    *image_fields(448, 14),
    size("out", "vision_output_dim", 7680, "O", "width of the states passed on"),
    choice("shuffle", "pixel_shuffle_ratio", 0.5, read=lambda ratio: int(1 / ratio)),
    size("adapter", "projector_input_dim", 4096, "E", "inner width of the projector"),
    size("adapted", "projector_output_dim", 4096, "F", "width after the projection"),
)


def vision(c: Config) -> Part:
    """Describe Llama4VisionModel: unfolded patches with a class token after them, layers, and an adapter over squares of patches."""
    H = c.hidden
    attention = part(
        "self_attn",
        *(linear(f"{name}_proj", H, c.heads * c.head_dim) for name in "qkv"),
        linear("o_proj", c.heads * c.head_dim, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    layer = part(
        "layers",
        attention,
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("input_layernorm", H),
        layer_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    adapter = part("mlp", linear("fc1", c.mlp, c.adapter, bias=False), linear("fc2", c.adapted, c.adapted, bias=False), kind="feed_forward")
    return part(
        "",
        Tensor("class_embedding", (H,), "embedding"),
        Tensor("positional_embedding_vlm", (c.patches + 1, H), "embedding"),
        part("patch_embedding", linear("linear", c.channels * c.patch * c.patch, H, bias=False), kind="embeddings", stream=c.patches),
        layer_norm("layernorm_pre", H),
        layer_norm("layernorm_post", H),
        part("model", layer, kind="encoder"),
        part("vision_adapter", adapter, kind="projector", stream=merge_squares(c.patches, c.shuffle)),
        kind="vision",
        stream=c.patches + 1,
    )


def llama4(c: Config) -> Part:
    """Describe Llama4ForConditionalGeneration: the tower, one linear layer, and the text with its head."""
    join = linear("linear_1", c.vision.out, c.text.hidden, bias=False)
    return part(
        "",
        as_child("vision_model", submodel(c.vision), requires="images", executions="images"),
        per_image(part("multi_modal_projector", join, kind="projector", stream=merge_squares(c.vision.patches, c.vision.shuffle))),
        as_child("language_model", submodel(c.text, *CAUSAL)),
        kind="model",
    )


FIELDS = (
    model_config("vision", "vision_config", "llama4_vision_model", fixed=True),
    model_config("text", "text_config", "llama4_text", fixed=True),
)
OUTER_IGNORED_KEYS = frozenset(
    "norm_eps vision_feature_select_strategy multi_modal_projector_bias projector_dropout vision_feature_layer".split()
)

FAMILIES = {
    "llama4": Family(
        "llama4",
        FIELDS,
        {"Llama4ForConditionalGeneration": llama4},
        "Llama4ForConditionalGeneration",
        IGNORED_KEYS | {"tie_word_embeddings"},
    ),
    "llama4_vision_model": Family(
        "llama4_vision_model", uneven_heads(VISION), {"Llama4VisionModel": vision}, "Llama4VisionModel", OUTER_IGNORED_KEYS
    ),
}
