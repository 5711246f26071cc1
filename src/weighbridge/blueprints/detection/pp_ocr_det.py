"""PaddleOCR's detectors of text: a network of convolutions, a pyramid of its maps with gates, and a map of probabilities.

Source: arXiv 2507.05595 (PP-OCRv5), 1911.08947 (differentiable binarization); names as in transformers 5.23.0, models/pp_ocrv5_mobile_det
and models/pp_ocrv6_small_det.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.backbones import backbone, features
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.vision.pp_ocr_rec import FOURTH, MOBILE
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, constant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.tree import Node, Part, Tensor

PAGE = unknown("the size of the page depends on its image")


def _refuse_few_kernels(c: Config) -> bool:
    if len(c.kernels) < 3:
        raise ConfigError(Text("expected three kernels, found {count}", count=len(c.kernels)), key="kernel_list", value=list(c.kernels))
    return True


def gate(c: Config, name: str, width: int) -> Part:
    """Describe a gate by the mean of all positions."""
    narrow = width // c.reduction
    return part(name, conv2d("conv1", width, narrow, 1), conv2d("conv2", narrow, width, 1), kind="gate")


def neck(c: Config) -> Part:
    """Describe what brings the maps to one width, and each of them to a quarter of it."""
    wide, narrow = c.neck, c.neck // 4
    inserted = ((conv2d("in_conv", width, wide, 1, bias=False), gate(c, "squeeze_excitation_block", wide)) for width in c.widths)
    if c.dilated is None:
        each: tuple[Node, ...] = conv2d("in_conv", wide, narrow, 3, bias=False), gate(c, "squeeze_excitation_block", narrow)
    else:
        own = conv2d("depthwise_convolution", wide, wide, c.dilated, groups=wide)
        each = own, gate(c, "squeeze_excitation_module", narrow), conv2d("pointwise_convolution", wide, narrow, 1, bias=False)
    return part("neck", module_list("insert_conv", *inserted), module_list("input_conv", *(each for _ in c.widths)), kind="neck")


def model(c: Config, name: str = "") -> Part:
    """Describe the network, in the fifth version a convolution over each of its maps, and the neck."""
    seen = features(c.backbone, (1, 1))
    if c.dilated is not None:
        return part(name, part("backbone", *seen.parts, kind="backbone"), neck(c), kind="model", stream=PAGE)
    if len(seen.widths) > len(c.widths):
        raise ConfigError(
            Text("{count} widths for {maps} maps", count=len(c.widths), maps=len(seen.widths)),
            key="layer_list_out_channels",
            value=list(c.widths),
        )
    layers = part("layer", *(conv2d(str(index), width, c.widths[index], 1) for index, width in enumerate(seen.widths)), kind="convolutions")
    return part(name, part("backbone", *seen.parts, kind="backbone"), layers, neck(c), kind="backbone" if name else "model", stream=PAGE)


def detection(c: Config) -> Part:
    """Describe the whole: the last two convolutions enlarge the map to the page."""
    return part(
        "", as_child("model", model(c)), part("head", *segmentation_head(c.neck, c.kernels), kind="head"), kind="model", stream=PAGE
    )


def segmentation_head(wide: int, kernels: tuple[int, ...]) -> tuple[Part, Part, Part]:
    """Describe a convolution to a quarter of the channels, and two transposed ones, the last to one channel."""
    narrow, (down, up, final) = wide // 4, kernels[:3]
    larger = Tensor("weight", (narrow, narrow, up, up)), Tensor("bias", (narrow,), "bias")
    last = Tensor("weight", (narrow, 1, final, final)), Tensor("bias", (1,), "bias")
    return (
        part("conv_down", conv2d("convolution", wide, narrow, down, bias=False), batch_norm("norm", narrow), kind="convolution"),
        part("conv_up", part("convolution", *larger, kind="convolution"), batch_norm("norm", narrow), kind="convolution"),
        part("conv_final", *last, kind="convolution"),
    )


def fields(types: str, absent: Mapping[str, object], dilated: Field) -> tuple[Field, ...]:
    """Return the fields of one of the detectors."""
    return (
        backbone(types, absent),
        number("reduction", "reduction", 4),
        number("neck", "neck_out_channels", 96),
        numbers("kernels", "kernel_list", (3, 2, 2)),
        numbers("widths", "layer_list_out_channels", (12, 18, 42, 360)),
        dilated,
        computed("enough", _refuse_few_kernels),
    )


KINDS = {
    "pp_ocrv5_mobile_det": ("PPOCRV5MobileDet", fields("pp_lcnet_v3", MOBILE, constant("dilated", None))),
    "pp_ocrv6_small_det": ("PPOCRV6SmallDet", fields("pp_lcnet_v4", FOURTH, number("dilated", "dilated_kernel_size", 7))),
}
FAMILIES = {
    model_type: Family(
        model_type,
        table,
        {f"{prefix}Model": model, f"{prefix}ForObjectDetection": detection},
        f"{prefix}Model",
        frozenset(("interpolate_mode",)),
    )
    for model_type, (prefix, table) in KINDS.items()
}
