"""MobileNet v1 and v2: depthwise separable convolutions and inverted residuals (Howard 2017, Sandler 2018).

Source: arXiv 1704.04861 and 1801.04381; names as in transformers 5.23.0, models/mobilenet_v1/modeling_mobilenet_v1.py
and models/mobilenet_v2/modeling_mobilenet_v2.py. Both paddings of the config leave maps of the same size.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, conv_norm, half_size, make_divisible, positive_float
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, image
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, switch
from weighbridge.core.parts import label_head, part
from weighbridge.core.tree import Node, Part

FIRST = (CHANNELS, image(), positive_float("times", "depth_multiplier", 1.0), number("least", "min_depth", 8), LABELS)

SECOND = (
    *FIRST,
    number("divisor", "depth_divisible_by", 8),
    positive_float("expansion", "expand_ratio", 6.0),
    number("output_stride", "output_stride", 32),
    switch("bare_stem", "first_layer_is_expansion", True),
    switch("fine", "finegrained_output", True),
)

DOUBLED = (0, 1, 3, 5, 11)
"""After which layers of the first version there are twice as many channels."""

WIDTHS = (16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320)
STRIDES = (2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1)


def first_version(c: Config) -> tuple[int, tuple[Part, ...]]:
    """Describe the first version: its last width, and its parts."""
    depth, grid = 32, half_size(c.image)
    width = max(int(depth * c.times), c.least)
    layers = []
    stem = conv_norm("conv_stem", c.channels, width, grid, 3)
    for index in range(13):
        inputs, stride = width, 2 if index in DOUBLED[1:] else 1
        if index in DOUBLED:
            depth *= 2
            width = max(int(depth * c.times), c.least)
        grid = half_size(grid, stride)
        layers += [conv_norm(str(2 * index), inputs, inputs, grid, 3, groups=inputs), conv_norm(str(2 * index + 1), inputs, width, grid)]
    return width, (stem, part("layer", *layers, kind="stage"))


def inverted_residual(name: str, widths: tuple[int, int, int], before: Grid, after: Grid) -> Part:
    """Describe a layer that is widest in the middle: made wide, each channel with itself, made narrow again."""
    inputs, wide, outs = widths
    return part(
        name,
        conv_norm("expand_1x1", inputs, wide, before),
        conv_norm("conv_3x3", wide, wide, after, 3, groups=wide),
        conv_norm("reduce_1x1", wide, outs, after),
        kind="layer",
    )


def multiply_width(c: Config, width: int) -> int:
    """Return a width times the config's multiplier, in steps."""
    return make_divisible(round(width * c.times), c.divisor, c.least)


def second_version(c: Config) -> tuple[int, Grid, tuple[Part, ...]]:
    """Describe the second version: its last width, its last map, and its parts."""
    widths, grid, stride = [multiply_width(c, width) for width in WIDTHS], half_size(c.image), 2
    wide = multiply_width(c, 32)
    stem: list[Node] = [conv_norm("first_conv", c.channels, wide, grid, 3)]
    if not c.bare_stem:
        stem.append(conv_norm("expand_1x1", wide, wide, grid))
    stem += [conv_norm("conv_3x3", wide, wide, grid, 3, groups=wide), conv_norm("reduce_1x1", wide, widths[0], grid)]
    layers = []
    for index, step in enumerate(STRIDES):
        step = 1 if stride == c.output_stride else step
        stride, after = stride * step, half_size(grid, step)
        inner = make_divisible(round(widths[index] * c.expansion), c.divisor, c.least)
        layers.append(inverted_residual(str(index), (widths[index], inner, widths[index + 1]), grid, after))
        grid = after
    last = 1280 if c.fine and c.times < 1.0 else multiply_width(c, 1280)
    parts = part("conv_stem", *stem, kind="embeddings"), part("layer", *layers, kind="stage"), conv_norm("conv_1x1", widths[-1], last, grid)
    return last, grid, parts


def with_classifier(name: str, parts: tuple[Part, ...], width: int, c: Config) -> Part:
    """Describe the labels on the mean of all positions."""
    return part("", part(name, *parts, kind="backbone"), label_head("classifier", width, c.labels, stream="one"), kind="model")


def segmentation(c: Config) -> Part:
    """Describe MobileNetV2ForSemanticSegmentation: the mean of all positions beside each of them, and the labels."""
    _, grid, parts = second_version(c)
    width = multiply_width(c, 320)
    head = part(
        "segmentation_head",
        conv_norm("conv_pool", width, 256, "one"),
        conv_norm("conv_aspp", width, 256, grid),
        conv_norm("conv_projection", 512, 256, grid),
        conv_norm("classifier", 256, c.labels, grid, normed=False, bias=True),
        kind="head",
    )
    return part("", part("mobilenet_v2", *parts, kind="backbone"), head, kind="model")


V1 = {
    "MobileNetV1Model": lambda c: part("", *first_version(c)[1], kind="model"),
    "MobileNetV1ForImageClassification": lambda c: with_classifier("mobilenet_v1", first_version(c)[1], first_version(c)[0], c),
}
V2 = {
    "MobileNetV2Model": lambda c: part("", *second_version(c)[2], kind="model"),
    "MobileNetV2ForImageClassification": lambda c: with_classifier("mobilenet_v2", second_version(c)[2], second_version(c)[0], c),
    "MobileNetV2ForSemanticSegmentation": segmentation,
}

FAMILIES = {
    "mobilenet_v1": Family("mobilenet_v1", FIRST, V1, "MobileNetV1Model", HEAD | {"tf_padding"}),
    "mobilenet_v2": Family("mobilenet_v2", SECOND, V2, "MobileNetV2Model", HEAD | {"tf_padding"}),
}
