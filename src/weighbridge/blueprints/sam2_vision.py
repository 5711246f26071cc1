"""The image encoder of Segment Anything 2: a backbone, by default its own Hiera, and a neck over its stages.

Source: arXiv 2408.00714; names as in transformers 5.23.0, models/sam2/modeling_sam2.py.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.composite import composed, submodel, under
from weighbridge.blueprints.grids import Grid, area, strided
from weighbridge.blueprints.sam2_hiera import FIELDS as HIERA
from weighbridge.blueprints.sam2_hiera import hiera, stages
from weighbridge.blueprints.staged import number, numbers
from weighbridge.blueprints.vision import NEUTRAL
from weighbridge.config.fields import Sizes, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import conv2d
from weighbridge.core.tree import Part

INPUTS = "backbone_channel_list"
FIELDS = (
    composed("backbone", "backbone_config", "sam2_hiera_det_model"),
    numbers("inputs", INPUTS, (768, 384, 192, 96)),
    size("fused", "fpn_hidden_size", 256, "F", "channels of the fused maps"),
    number("kernel", "fpn_kernel_size", 1),
    number("stride", "fpn_stride", 1),
    number("padding", "fpn_padding", 0, minimum=0),
    number("levels", "num_feature_levels", 3),
)


def fused(c: Sizes) -> list[Grid]:
    """Return the maps that the neck puts out, the largest first."""
    return [strided(at, c.kernel, c.stride, c.padding) for at in stages(c.backbone)]


def vision(c: Sizes) -> Part:
    """Describe Sam2VisionModel: a convolution for each stage, the last stage first.

    Raises:
        ConfigError: The list of the neck's widths is of another length than there are stages.
    """
    maps = fused(c)[::-1]
    if len(c.inputs) != len(maps):
        hint = f"one width for each of {len(maps)} stages, the last stage first"
        raise ConfigError(f"{len(c.inputs)} widths, and the backbone has {len(maps)} stages", key=INPUTS, value=c.inputs, hint=hint)
    convs = (conv2d(str(i), width, c.fused, c.kernel, positions=area(at)) for i, (width, at) in enumerate(zip(c.inputs, maps, strict=True)))
    return Part("", (under("backbone", submodel(c.backbone)), Part("neck", (Part("convs", tuple(convs)),), "neck")), "model")


NEITHER = NEUTRAL | {"backbone_feature_sizes", "fpn_top_down_levels", "num_attention_heads"}

FAMILIES = {
    "sam2_hiera_det_model": Family("sam2_hiera_det_model", HIERA, {"Sam2HieraDetModel": hiera}, "Sam2HieraDetModel", NEITHER),
    "sam2_vision_model": Family("sam2_vision_model", FIELDS, {"Sam2VisionModel": vision}, "Sam2VisionModel", NEITHER),
}
