"""DINOv3's ConvNeXt: ConvNeXt under other names, with a norm over positions and their mean (Meta, 2025).

Source: arXiv 2508.10104; names as in transformers 5.23.0, models/dinov3_convnext/modeling_dinov3_convnext.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, numbers, out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed
from weighbridge.core.parts import conv2d, layer_norm, linear, part, replace
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    CHANNELS,
    numbers("widths", "hidden_sizes", (96, 192, 384, 768)),
    numbers("depths", "depths", (3, 3, 9, 3)),
    computed("stages", lambda c: first_stages("hidden_sizes", len(c.widths), depths=c.depths)),
    image(),
    *out_stages(lambda c: len(c.depths)),
)


def layer(width: int, depth: int) -> Part:
    """Describe the layers of a stage: each channel with itself over 7 by 7 positions, then wider and back, scaled."""
    return part(
        "layers",
        Tensor("gamma", (width,), "gain"),
        conv2d("depthwise_conv", width, width, 7, groups=width),
        layer_norm("layer_norm", width),
        linear("pointwise_conv1", width, 4 * width),
        linear("pointwise_conv2", 4 * width, width),
        kind="layer",
        repeat=depth,
    )


def stages(c: Config, picture: Grid) -> tuple[list[Grid], Part]:
    """Describe the stages over an image, patches of the first with their norm after them; return all maps, too."""
    maps, found = [picture], []
    for index, (width, depth) in enumerate(zip(c.widths, c.depths, strict=False)):
        side, inputs = 2 if index else 4, c.widths[index - 1] if index else c.channels
        grid = conv_output(maps[-1], side, side)
        norm = layer_norm("0", inputs, stream=area(maps[-1]))
        down = (norm, conv2d("1", inputs, width, side)) if index else (conv2d("0", inputs, width, side), layer_norm("1", width))
        stage = part("downsample_layers", *down, kind="convolution"), layer(width, depth)
        found.append(tuple(replace(module, stream=area(grid)) for module in stage))
        maps.append(grid)
    return maps, module_list("stages", *found)


def features(c: Config, picture: Grid) -> Features:
    """Describe DINOv3ConvNextBackbone over an image; what it calls its stem is the image itself."""
    maps, inner = stages(c, picture)
    return selected_outputs(c, (part("model", inner, kind="backbone"),), tuple(maps), (c.channels, *c.widths))


def base(c: Config) -> Part:
    """Describe DINOv3ConvNextModel: a norm over all positions and their mean."""
    maps, inner = stages(c, c.image)
    norm = layer_norm("layer_norm", c.widths[-1], stream=area(maps[-1]) + 1)
    return part("", part("model", inner, kind="backbone"), norm, kind="model")


CLASSES = {
    "DINOv3ConvNextEncoder": lambda c: part("", stages(c, c.image)[1], kind="model"),
    "DINOv3ConvNextModel": base,
    "DINOv3ConvNextBackbone": lambda c: part("", *features(c, c.image).parts, kind="model"),
}

MORE_IGNORED_KEYS = frozenset("drop_path_rate layer_scale_init_value stage_names".split())

FAMILIES = {"dinov3_convnext": Family("dinov3_convnext", FIELDS, CLASSES, "DINOv3ConvNextModel", MORE_IGNORED_KEYS)}
