"""Efficient LoFTR, which finds the same points in two images: RepVGG blocks, attention within and across the images, and a refinement.

Source: arXiv 2403.04765, 2101.03697 (RepVGG); names as in transformers 5.23.0, models/efficientloftr/modeling_efficientloftr.py.
"""

from __future__ import annotations

from itertools import pairwise

from weighbridge.blueprints.modules.causal_lm import HEADS_DIVIDE, default_head_dim
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.rt_detr_encoder import conv
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, choice, computed, settable, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, layer_norm, linear, part
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

PAIR = unknown("the sizes of the two images depend on the input")


def repvgg_block(inputs: int, outs: int, stride: int) -> tuple[Part, ...]:
    """Describe convolutions of 3 by 3 and of 1 by 1 side by side, and a norm beside them where neither width nor map changes."""
    same = (batch_norm("identity", inputs),) if inputs == outs and stride == 1 else ()
    return conv("conv1", inputs, outs, None, 3), conv("conv2", inputs, outs), *same


def backbone(c: Config) -> Part:
    """Describe the stages of blocks, the first of which changes width and map."""
    sizes = [getattr(c, key) or rule(c) for key, rule in STATED.items()]
    stages = []
    for stage in range(len(c.strides)):
        blocks = (repvgg_block(*(listed[stage][index] for listed in sizes)) for index in range(c.depths[stage]))
        stages.append((module_list("blocks", *blocks),))
    return part("backbone", module_list("stages", *stages), kind="backbone")


def attention(c: Config, name: str) -> Part:
    """Describe attention over places that are brought together first, within an image or across the two."""
    H = c.hidden
    aggregation = part("q_aggregation", Tensor("weight", (H, 1, c.kernel, c.kernel)), kind="convolution"), layer_norm("norm", H)
    widths = ("q", c.heads), ("k", c.kv_heads), ("v", c.kv_heads)
    maps = (linear(f"{module}_proj", H, heads * c.head_dim, bias=c.bias) for module, heads in widths)
    scores = attend(heads=c.heads, kv_heads=c.kv_heads, head_dim=c.head_dim)
    mlp = linear("fc1", 2 * H, c.mlp, bias=False), linear("fc2", c.mlp, H, bias=False), layer_norm("layer_norm", H)
    return part(
        name,
        part("aggregation", *aggregation, kind="convolution"),
        part("attention", *maps, linear("o_proj", c.heads * c.head_dim, H, bias=c.bias), scores, kind=name),
        part("mlp", *mlp, kind="feed_forward"),
        kind="attention",
    )


def matcher(c: Config) -> Part:
    """Describe EfficientLoFTRModel."""
    layer = attention(c, "self_attention"), attention(c, "cross_attention")
    layers = part("layers", *layer, kind="layer", repeat=c.layers)
    return part("", backbone(c), part("local_feature_transformer", layers, kind="encoder"), kind="model", stream=PAIR)


def refinement(c: Config) -> Part:
    """Describe how the last map is joined with larger ones, up to the second."""
    widths = c.joined
    steps = (
        (
            conv2d("out_conv1", small, wide, 1, bias=False),
            conv2d("out_conv2", wide, wide, 3, bias=False),
            batch_norm("batch_norm", wide),
            conv2d("out_conv3", wide, small, 3, bias=False),
        )
        for wide, small in pairwise(widths)
    )
    first = conv2d("out_conv", widths[0], widths[0], 1, bias=False)
    return part("refinement_layer", first, module_list("out_conv_layers", *steps), kind="neck")


def keypoint_matching(c: Config) -> Part:
    """Describe EfficientLoFTRForKeypointMatching."""
    return part("", as_child("efficientloftr", matcher(c)), refinement(c), kind="model", stream=PAIR)


def _refuse_mismatch(c: Config) -> bool:
    """Refuse lists of stages that do not fit each other, as the class does."""
    if c.hidden != c.widths[-1]:
        raise ConfigError(Text("the last stage has {width}", width=c.widths[-1]), key="hidden_size", value=c.hidden)
    if not len(c.strides) <= len(c.depths) <= len(c.widths):
        raise ConfigError("fewer widths than depths, or depths than strides", key="stage_num_blocks", value=list(c.depths))
    return True


STATED: dict[str, Callable[[Config], list[Any]]] = {
    "stage_block_in_channels": lambda c: [
        [before, *[width] * (depth - 1)] for before, width, depth in zip((1, *c.widths), c.widths, c.depths, strict=False)
    ],
    "stage_block_out_channels": lambda c: [[width] * depth for width, depth in zip(c.widths, c.depths, strict=False)],
    "stage_block_stride": lambda c: [[stride] + [1] * (depth - 1) for stride, depth in zip(c.strides, c.depths, strict=False)],
}
"""Lists that the config class makes of the others and writes into its files; one that says something else is followed."""


def lists_of_numbers(value: Any) -> Any:
    """Read a number for each block of each stage."""
    for stage in value:
        if not isinstance(stage, (list, tuple)) or any(type(entry) is not int or entry < 1 for entry in stage):
            raise ConfigError(Text("expected a list of whole numbers from {minimum} up, found {value!r:.60}", minimum=1, value=stage))
    return value


FIELDS = (
    numbers("depths", "stage_num_blocks", (1, 2, 4, 14), minimum=0),
    numbers("widths", "out_features", (64, 64, 128, 256)),
    numbers("strides", "stage_stride", (2, 1, 2, 2)),
    HIDDEN.with_default(256),
    size("kernel", "q_aggregation_kernel_size", 4, "Z", "kernel size of the position merger"),
    size("layers", "num_attention_layers", 4, "L", "layers"),
    HEADS.with_default(8),
    HEADS_DIVIDE,
    size("head_dim", "head_dim", default_head_dim, "D", "head dimension", report_default=False),
    settable("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads"),
    settable("mlp", "intermediate_size", lambda c: 2 * c.hidden, "I", "intermediate size"),
    switch("bias", "attention_bias", False),
    computed("fits", _refuse_mismatch),
    *(choice(key, key, lambda c: None, read=lambda value: value and lists_of_numbers(value), report_default=False) for key in STATED),
    choice("joined", "fine_fusion_dims", lambda c: c.widths[:0:-1], read=lambda value: lists_of_numbers([value])[0], report_default=False),
)
IGNORED_KEYS = frozenset(
    """coarse_matching_border_removal coarse_matching_skip_softmax coarse_matching_temperature coarse_matching_threshold fine_kernel_size
    fine_matching_regress_temperature fine_matching_slice_dim kv_aggregation_kernel_size kv_aggregation_stride mlp_activation_function
    q_aggregation_stride activation_function batch_norm_eps""".split()
)
CLASSES = {"EfficientLoFTRModel": matcher, "EfficientLoFTRForKeypointMatching": keypoint_matching}
FAMILIES = {"efficientloftr": Family("efficientloftr", FIELDS, CLASSES, "EfficientLoFTRModel", IGNORED_KEYS)}
