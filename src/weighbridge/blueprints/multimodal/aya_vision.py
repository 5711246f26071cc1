"""Aya Vision and Command A Vision: pixel-shuffled patches through a SwiGLU projector in front of Command R.

Source: arXiv 2505.08751 (Aya Vision); names as in transformers 5.23.0, models/aya_vision/modeling_aya_vision.py and
models/cohere2_vision/modeling_cohere2_vision.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.vlm_common import merge_squares, patch_tokens
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.config.fields import Config, Field, choice, constant, size, switch
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.tree import Node, Part

FACTOR = size("factor", "downsample_factor", 2, "F", "patches merged along an axis")


def fields(vision: dict[str, int | bool], aligned: Field, *more: Field) -> tuple[Field, ...]:
    """List the fields of the two of Cohere."""
    return (
        model_config("vision", "vision_config", "siglip_vision_model", absent=vision),
        model_config("text", "text_config", "cohere2 cohere"),
        FACTOR,
        aligned,
        switch("tied", "tie_word_embeddings", True),
        *more,
    )


WIDTH = ("aligned", "alignment_intermediate_size")
AYA = fields(
    {
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "patch_size": 14,
        "image_size": 384,
        "num_hidden_layers": 26,
        "num_attention_heads": 14,
        "vision_use_head": False,
    },
    size(*WIDTH, lambda c: c.text.hidden, "E", "inner width of the projector"),
    choice("select", "vision_feature_select_strategy", "full"),
    constant("normed", True),
)
COMMAND = fields(
    {"hidden_size": 1152, "intermediate_size": 3072, "image_size": 512, "num_hidden_layers": 27, "num_attention_heads": 12},
    size(*WIDTH, 36864, "E", "inner width of the projector"),
    constant("select", "full"),
    constant("normed", False),
)


def projector(c: Config, tower: Part) -> Part:
    """Describe two linear layers over squares of patches, between which one half gates the other."""
    wide = c.vision.hidden * c.factor * c.factor
    return part(
        "multi_modal_projector",
        *((layer_norm("layernorm", wide),) if c.normed else ()),
        linear("linear_1", wide, c.aligned),
        linear("linear_2", c.aligned // 2, c.text.hidden),
        kind="projector",
        stream=merge_squares(patch_tokens(tower, c.select), c.factor),
    )


def model_parts(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the projector and the text."""
    return body(c, projector)


FAMILIES = {
    "aya_vision": family_of("aya_vision", "AyaVision", AYA, model_parts, "adapter_layer_norm_eps vision_feature_layer"),
    "cohere2_vision": family_of("cohere2_vision", "Cohere2Vision", COMMAND, model_parts),
}
