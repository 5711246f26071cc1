"""PaddleOCR's larger detectors of text: wide kernels over a pyramid of maps, blocks of long and flat convolutions, a map of probabilities.

Source: arXiv 2507.05595 (PP-OCRv5); names as in transformers 5.23.0, models/pp_ocrv5_server_det and models/pp_ocrv6_medium_det. The
config class has no default for ``intraclass_block_config`` and ``kernel_list``.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.pp_ocr_det import PAGE, segmentation_head
from weighbridge.blueprints.modules.backbones import backbone, features
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.feature_maps import module_list, pair
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.vision.pp_ocr_rec import FOURTH
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, constant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

FIFTH = {"model_type": "hgnet_v2", "out_features": ["stage1", "stage2", "stage3", "stage4"]}
SHAPES = ("vertical_long_to_small_conv", "horizontal_small_to_long_conv", "symmetric_conv_long")
RATIOS = ("longratio", "midratio", "shortratio")
CONVOLUTIONS = ("reduce_channel", *(f"{shape}_{ratio}" for shape in SHAPES for ratio in RATIOS), "return_channel")
"""The convolutions of a block, in its order, by the keys of its config."""


def read_kernels(value: Any) -> dict[str, tuple[int, int]] | None:
    """Read the height and width of each convolution of a block; each is said with its stride and padding.

    Raises:
        ConfigError: One is missing, or says more than that.
    """
    if value is None:
        return None
    key = "intraclass_block_config"
    if not isinstance(value, dict):
        raise ConfigError(Text("expected an object, found {what}", what=repr(value)[:60]), key=key, value=value)
    for name in CONVOLUTIONS:
        said = value.get(name)
        if not isinstance(said, (list, tuple)) or not 1 <= len(said) <= 3:
            raise ConfigError("expected a kernel, a stride and a padding", key=f"{key}.{name}", value=said)
    return {name: pair(f"{key}.{name}", value[name][0]) for name in CONVOLUTIONS}


def widths(c: Config) -> tuple[int, ...]:
    """Return the channels of the backbone's stages, whichever of them it outputs, as its config class says them."""
    inner = c.backbone
    if inner.model_type == "hgnet_v2":
        return tuple(inner.outs)
    if inner.model_type == "pp_lcnet_v4":
        return tuple(blocks[-1][2] for blocks in inner.blocks)
    raise ConfigError("no channels of stages are known of this backbone", key="backbone_config.model_type", value=inner.model_type)


def block(c: Config) -> tuple[Part, ...]:
    """Describe a block: fewer channels, long, flat and square kernels of three sizes, and all channels again."""
    if c.block is None:
        raise ConfigError("the class has no default for it", key="intraclass_block_config", hint="as the published config has it")
    wide, narrow = c.neck // 4, c.neck // 4 // c.reduction
    inner = (conv2d(name, narrow, narrow, c.block[name]) for name in CONVOLUTIONS[1:-1])
    last = part("conv_final", conv2d("convolution", narrow, wide, c.block["return_channel"]), batch_norm("norm", wide), kind="convolution")
    return conv2d("conv_reduce_channel", wide, narrow, c.block["reduce_channel"]), *inner, last


def neck(c: Config) -> Part:
    """Describe what brings the maps to one width, adds them up both ways, and looks along lines of text."""
    wide, narrow, stages = c.neck, c.neck // 4, widths(c)
    adjusted = (conv2d(str(i), width, wide, 1, bias=False) for i, width in enumerate(stages))
    projected = (conv2d(str(i), wide, narrow, 9, bias=c.biased) for i in range(len(stages)))
    halved = (conv2d(str(i), narrow, narrow, 3, bias=False) for i in range(len(stages) - 1))
    refined = (conv2d(str(i), narrow, narrow, 9, bias=c.biased) for i in range(len(stages)))
    return part(
        "neck",
        part("input_channel_adjustment_convolution", *adjusted, kind="convolutions"),
        part("input_feature_projection_convolution", *projected, kind="convolutions"),
        part("path_aggregation_head_convolution", *halved, kind="convolutions"),
        part("path_aggregation_lateral_convolution", *refined, kind="convolutions"),
        *((module_list("intraclass_blocks", *(block(c) for _ in range(c.blocks))),) if c.blocks else ()),
        kind="neck",
    )


def model(c: Config) -> Part:
    """Describe the backbone and the neck."""
    seen = features(c.backbone, (1, 1))
    return part("", part("backbone", *seen.parts, kind="backbone"), neck(c), kind="model", stream=PAGE)


def detection(c: Config) -> Part:
    """Describe the whole; the fifth version refines the map of probabilities once more."""
    narrow = c.neck // 4
    if c.kernels is None:
        raise ConfigError("the class has no default for it", key="kernel_list", hint="[3, 2, 2]")
    head: tuple[Node, ...] = segmentation_head(c.neck, c.kernels)
    if not c.biased:
        first = part("convolution_backbone", conv2d("convolution", narrow + 1, narrow, 3, bias=False), batch_norm("norm", narrow))
        refined = part("local_refinement_module", first, conv2d("convolution_final", narrow, 1, 1), kind="convolutions")
        head = part("binarize_head", *head, kind="head"), refined
    return part("", as_child("model", model(c)), part("head", *head, kind="head"), kind="model", stream=PAGE)


def read_kernel_list(value: Any) -> tuple[int, ...] | None:
    """Read the three kernels of the head."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) < 3 or any(type(side) is not int or side < 1 for side in value):
        raise ConfigError(Text("expected three kernels, found {count}", count=repr(value)[:60]), key="kernel_list", value=value)
    return tuple(value)


def fields(types: str, absent: dict[str, Any], *, biased: bool) -> tuple[Field, ...]:
    """Return the fields of one of the two; the kernels over maps are *biased* in the sixth version."""
    return (
        backbone(types, absent),
        number("neck", "neck_out_channels", 256),
        number("reduction", "reduce_factor", 2),
        number("blocks", "intraclass_block_number", 4, minimum=0),
        choice("block", "intraclass_block_config", None, read=read_kernels),
        choice("kernels", "kernel_list", None, read=read_kernel_list),
        constant("biased", biased),
    )


KINDS = {
    "pp_ocrv5_server_det": ("PPOCRV5ServerDet", fields("hgnet_v2", FIFTH, biased=False)),
    "pp_ocrv6_medium_det": ("PPOCRV6MediumDet", fields("pp_lcnet_v4", FOURTH, biased=True)),
}
FAMILIES = {
    model_type: Family(
        model_type,
        table,
        {f"{prefix}Model": model, f"{prefix}ForObjectDetection": detection},
        f"{prefix}Model",
        frozenset(("interpolate_mode", "scale_factor", "scale_factor_list")),
    )
    for model_type, (prefix, table) in KINDS.items()
}
