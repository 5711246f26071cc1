"""LLaVA-like models: a vision tower and a language model, joined by a two-layer projector.

Source: arXiv 2304.08485 and 2310.03744 (LLaVA), 2312.00784 (ViP-LLaVA), 2311.10122 (Video-LLaVA), 2408.03326 (OneVision);
names as in transformers 5.23.0, models/llava/modeling_llava.py and its siblings.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import (
    IGNORED_KEYS,
    feature_layers,
    patch_tokens,
    per_image,
    tie_fields,
    with_lm_head,
    without_head,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import conv2d, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

CLIP = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "patch_size": 14,
    "image_size": 336,
    "projection_dim": 768,
}
SIGLIP = {
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 26,
    "num_attention_heads": 16,
    "patch_size": 14,
    "image_size": 384,
    "vision_use_head": False,
}
TEXTS = "llama mistral qwen2 gemma"
VIDEO_VISION = model_config("vision", "vision_config", "clip_vision_model", absent=CLIP | {"image_size": 224}, ignored_keys="vocab_size")
FIELDS = (
    model_config("vision", "vision_config", "clip_vision_model siglip_vision_model", absent=CLIP, ignored_keys="vocab_size"),
    model_config("text", "text_config", TEXTS),
    choice("select", "vision_feature_select_strategy", "default"),
    feature_layers(-2),
    switch("bias", "multimodal_projector_bias", True),
)
UNTIED = (switch("tied", "tie_word_embeddings", False),)

NEWLINE = "image_newline"


def projector(c: Config, tower: Part) -> Part:
    """Describe the two linear layers between the tower's states (of one layer, or of several side by side) and the text."""
    inputs = c.vision.hidden * c.picked
    return part(
        "multi_modal_projector",
        linear("linear_1", inputs, c.text.hidden, bias=c.bias),
        linear("linear_2", c.text.hidden, c.text.hidden, bias=c.bias),
        kind="projector",
        stream=patch_tokens(tower, c.select),
    )


def vip_projector(c: Config, tower: Part) -> Part:
    """Describe ViP-LLaVA's: a norm over the states of several layers comes first."""
    inputs = c.vision.hidden * c.picked
    return part(
        "multi_modal_projector",
        layer_norm("projector_layernorm", inputs),
        linear("linear_1", inputs, c.text.hidden),
        linear("linear_2", c.text.hidden, c.text.hidden),
        kind="projector",
        stream=patch_tokens(tower, "default"),
    )


def body(c: Config, join: Callable[[Config, Part], Part] = projector, newline: bool = False, *after: Part) -> tuple[Node, ...]:
    """Describe the tower, what joins it to the text, and the text; where images are cut, a learned vector ends each row."""
    tower = submodel(c.vision)
    return (
        *((Tensor(NEWLINE, (c.text.hidden,), "embedding"),) if newline else ()),
        as_child("vision_tower", tower, requires="images", executions="images"),
        per_image(join(c, tower)),
        as_child("language_model", submodel(c.text)),
        *after,
    )


def vision_resampler(c: Config) -> tuple[Node, ...]:
    """Describe LLaVA-NeXT-Video's: frames of a video may be pooled by a convolution."""
    if c.pool != "conv":
        return body(c, projector, True)
    inner = conv2d("pool", c.vision.hidden, c.vision.hidden, c.stride)
    return body(c, projector, True, part("vision_resampler", inner, kind="projector", requires="videos"))


def two_towers(c: Config) -> tuple[Node, ...]:
    """Describe Video-LLaVA's: a tower for videos, and one for images."""
    return (as_child("video_tower", submodel(c.vision), requires="videos"), *(_rename_tower(module, "image_tower") for module in body(c)))


def _rename_tower(node: Node, name: str) -> Node:
    return replace(node, name=name) if isinstance(node, Part) and node.name == "vision_tower" else node


def family_of(
    model_type: str, name: str, fields: tuple[Field, ...], inside: Callable[[Config], tuple[Node, ...]], ignored_keys: str = ""
) -> Family:
    """Return one type: its two classes, without and with a head."""
    classes = {f"{name}Model": without_head(inside), f"{name}ForConditionalGeneration": with_lm_head(inside)}
    return Family(model_type, fields, classes, f"{name}Model", IGNORED_KEYS | frozenset(ignored_keys.split()))


VIDEO = (
    choice("pool", "spatial_pool_mode", "average"),
    size("stride", "spatial_pool_stride", 2, "J", "stride of the pooling"),
)
VIP = (*FIELDS[:2], feature_layers((-2, -5, -8, -11, 6), "vision_feature_layers"))
ONE = (
    model_config("vision", "vision_config", "siglip_vision_model clip_vision_model", absent=SIGLIP, ignored_keys="vocab_size"),
    model_config("text", "text_config", "qwen2 llama"),
    choice("select", "vision_feature_select_strategy", "full"),
    feature_layers(-1),
    FIELDS[-1],
)

FAMILIES = {
    entry.model_type: entry
    for entry in (
        family_of("llava", "Llava", (*FIELDS, *tie_fields()), body),
        family_of("vipllava", "VipLlava", (*VIP, *UNTIED), lambda c: body(c, vip_projector), "projector_layernorm_eps"),
        family_of(
            "llava_next",
            "LlavaNext",
            (*FIELDS, *UNTIED),
            lambda c: body(c, projector, True),
            "image_grid_pinpoints use_image_newline_parameter",
        ),
        family_of(
            "llava_next_video",
            "LlavaNextVideo",
            (*FIELDS, *tie_fields(), *VIDEO),
            vision_resampler,
            "image_grid_pinpoints video_seq_length",
        ),
        family_of("video_llava", "VideoLlava", (VIDEO_VISION, *FIELDS[1:], *UNTIED), two_towers, "video_seq_length"),
        family_of(
            "llava_onevision",
            "LlavaOnevision",
            (*ONE, *tie_fields()),
            lambda c: body(c, projector, True),
            "image_grid_pinpoints vision_aspect_ratio",
        ),
    )
}
