"""timm's ResNets and their relatives: ResNeXt, Wide ResNet, SE and ECA networks, and those of "ResNet-D" with deeper stems.

Source: timm 1.0.31, timm/models/resnet.py and timm/layers/{squeeze_excite,eca}.py, whose live classes the tests hold this to. Networks
whose maps are blurred are not described.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import height_width
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.blueprints.modules.timm_resnet import Network, stages, stem
from weighbridge.blueprints.modules.words import one_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any


def read_gate(value: Any) -> tuple[str, int]:
    """Take what ``block_args`` says of the gate of channels: its kind, and one over the ratio of SE's width.

    Raises:
        ConfigError: It says something else.
    """
    if not value:
        return "", 16
    kind, ratio = value.get("attn_layer", ""), value.get("rd_ratio", 1 / 16)
    if set(value) - {"attn_layer", "rd_ratio"} or kind not in ("", "se", "eca") or ratio not in (1 / 16, 1 / 4):
        raise ConfigError(Text("expected one of {expected}, found {value!r:.60}", expected="se, eca", value=value), key="block_args")
    return kind, int(1 / ratio)


def read_four(value: Any) -> tuple[int, ...]:
    """Take four whole numbers, one for each stage."""
    if not isinstance(value, (list, tuple)) or len(value) != 4 or any(type(entry) is not int or entry < 1 for entry in value):
        raise ConfigError(Text("expected four whole numbers, found {value!r:.60}", value=value), key="layers", value=value)
    return tuple(value)


def whole_stride(value: Any) -> int:
    """Take how many pixels a place of the last map stands for, which is the same in all models by name."""
    if value != 32:
        raise ConfigError("dilated stages are not described", key="output_stride", value=value, hint="32")
    return 32


def network(c: Config) -> Network:
    """Gather what the constructor is given.

    Raises:
        ConfigError: A block of two convolutions is given groups, or another width.
    """
    if c.block == "BasicBlock" and (c.cardinality, c.base_width) != (1, 64):
        raise ConfigError("a block of two convolutions has no groups, and no other width", key="cardinality", value=c.cardinality)
    kind, ratio = c.gate
    return Network(
        c.layers,
        c.block == "Bottleneck",
        tuple(c.stage_widths),
        c.cardinality,
        c.base_width,
        c.stem_width,
        c.stem,
        c.pooled_by_convolution,
        c.reduce_first,
        c.down_kernel,
        c.averaged_down,
        c.averaged == "AvgPool2d",
        kind,
        ratio,
        c.norm == "groupnorm",
    )


FIELDS = (
    size("channels", "in_chans", 3, "N", "image channels"),
    choice("headed", "num_classes", 1000, read=bool, report_default=False),
    size("labels", "num_classes", 1000, "C", "number of labels", minimum=0),
    choice("pool", "global_pool", "avg", read=one_of("global_pool", "", "avg", "avgmax", "max", "fast"), report_default=False),
    choice("block", "block", "Bottleneck", read=one_of("block", "BasicBlock", "Bottleneck")),
    choice("layers", "layers", [3, 4, 6, 3], read=read_four),
    numbers("stage_widths", "channels", (64, 128, 256, 512)),
    number("cardinality", "cardinality", 1),
    number("base_width", "base_width", 64),
    number("stem_width", "stem_width", 64),
    choice("stem", "stem_type", "", read=one_of("stem_type", "", "deep", "deep_tiered"), report_default=False),
    switch("pooled_by_convolution", "replace_stem_pool", False, report_default=False),
    number("reduce_first", "block_reduce_first", 1),
    number("down_kernel", "down_kernel_size", 1),
    switch("averaged_down", "avg_down", False, report_default=False),
    choice("averaged", "aa_layer", "", read=one_of("aa_layer", "", "AvgPool2d"), report_default=False),
    choice("norm", "norm_layer", "batchnorm", read=one_of("norm_layer", "batchnorm", "batchnorm2d", "groupnorm"), report_default=False),
    choice("gate", "block_args", None, read=read_gate, report_default=False),
    choice("output_stride", "output_stride", 32, read=whole_stride, report_default=False),
    replace(height_width("image", "img_size", 224), report_default=False),
    computed("network", network),
)


def resnet(c: Config) -> Part:
    """Describe ResNet: stem, four stages, and the labels on the mean."""
    first, _, before, inputs = stem(c.network, c.channels, c.image)
    inner, _, widths = stages(c.network, inputs, before, last=4)
    head = (linear("fc", widths[-1], c.labels, stream="one"),) if c.headed else ()
    return part("", *first, *inner, *head, kind="model")


IGNORED_KEYS = frozenset(
    """act_layer architecture drop_block_rate drop_path_rate drop_rate model_args num_features pretrained_cfg zero_init_last
    head_init_scale""".split()
)
FAMILIES = {
    "timm_resnet": Family("timm_resnet", FIELDS, {"timm.ResNet": resnet}, "timm.ResNet", IGNORED_KEYS, normalize_config=arguments_of)
}
