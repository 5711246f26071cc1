"""ViTMatte: an image and its trimap go through a backbone and through plain convolutions, whose maps are joined from the smallest up.

Source: arXiv 2305.15272; names as in transformers 5.23.0, models/vitmatte/modeling_vitmatte.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import TYPES, backbone, features, refuse_named_backbone
from weighbridge.blueprints.modules.composite import as_child, submodel
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

MATTING_CHANNELS = 16
"""Channels of the matting head, which its class fixes."""


def steps_of(c: Config) -> int:
    """Return how many maps are joined: those of the convolutions, and the image itself."""
    if len(c.fused) != len(c.details) + 1:
        raise ConfigError(
            Text(
                "{count} entries, one more than convstream_hidden_sizes are needed: {needed}", count=len(c.fused), needed=len(c.details) + 1
            ),
            key="fusion_hidden_sizes",
            value=list(c.fused),
        )
    return len(c.fused)


FIELDS = (
    backbone("vitdet", {"model_type": "vitdet", "out_features": ["stage4"]}),
    size("hidden", "hidden_size", 384, "H", "width of the backbone's map"),
    numbers("details", "convstream_hidden_sizes", (48, 96, 192)),
    numbers("fused", "fusion_hidden_sizes", (256, 128, 64, 32)),
    computed("steps", steps_of),
)


def picture(c: Config) -> Grid:
    """Return the height and width of the image that the backbone states."""
    inner = vars(c.backbone)
    if "image_height" in inner:
        return c.backbone.image_height, c.backbone.image_width
    if isinstance(inner.get("image"), tuple):
        return inner["image"]
    nobody = unknown(Text("the image of {model_type}", model_type=c.backbone.model_type))
    return nobody, nobody  # type: ignore[return-value]


def convolution(name: str, inputs: Size, outs: Size, seen: Stream) -> Part:
    """Describe a convolution over 3 by 3 positions and a batch norm."""
    return part(name, conv2d("conv", inputs, outs, 3, bias=False), batch_norm("batch_norm", outs), kind="convolution", stream=seen)


def decoder(c: Config, image: Grid) -> Part:
    """Describe what captures details: maps of the image, each half as large as the one before, and what joins them on the way back."""
    widths, sides = (c.backbone.channels, *c.details), [image]
    for _ in c.details:
        sides.append(conv_output(sides[-1], 3, 2, 1))
    stream = (convolution(str(i), widths[i], out, area(sides[i + 1])) for i, out in enumerate(c.details))
    inputs = (c.hidden, *c.fused[:-1])
    joined = (
        part(str(i), convolution("conv", inputs[i] + widths[-1 - i], out, area(sides[-1 - i])), kind="stage")
        for i, out in enumerate(c.fused)
    )
    head = (
        conv2d("0", c.fused[-1], MATTING_CHANNELS, 3),
        batch_norm("1", MATTING_CHANNELS),
        conv2d("3", MATTING_CHANNELS, 1, 1),
    )
    return part(
        "decoder",
        part("convstream", part("convs", *stream), kind="encoder"),
        part("fusion_blocks", *joined),
        part("matting_head", part("matting_convs", *head, kind="head"), kind="head", stream=area(image)),
        kind="decoder",
    )


def matting(c: Config) -> Part:
    """Describe VitMatteForImageMatting."""
    image, inner = picture(c), c.backbone
    if inner.model_type in (*TYPES, "timm_backbone"):
        seen = part("backbone", *features(inner, image).parts, kind="backbone")
    else:
        seen = as_child("backbone", submodel(inner, "Backbone"))
    return part("", seen, decoder(c, image), kind="model")


FAMILIES = {
    "vitmatte": Family(
        "vitmatte", FIELDS, {"VitMatteForImageMatting": matting}, "VitMatteForImageMatting", normalize_config=refuse_named_backbone
    )
}
