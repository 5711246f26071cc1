"""ResNet: stages of residual convolution blocks (He et al., 2015).

Source: arXiv 1512.03385; names as in transformers 5.23.0, models/resnet/modeling_resnet.py. The config states no
image: ``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.convolutions import RESIDUAL
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, constant, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, label_head, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Every, Node, Part


def layer_kind(value: str) -> str:
    """Take one of the two kinds of layers."""
    if value not in ("basic", "bottleneck"):
        raise ConfigError(Text("expected basic or bottleneck, found {value!r:.60}", value=value), key="layer_type", value=value)
    return value


FIELDS = (
    *RESIDUAL,
    choice("layer_type", "layer_type", "bottleneck", read=layer_kind),
    switch("early", "downsample_in_first_stage", False),
    switch("squeezed", "downsample_in_bottleneck", False),
    image(report_default=False),
    *out_stages(lambda c: len(c.depths)),
    constant("deep", False),
    LABELS,
)

DEEP = variant(FIELDS[:-1], deep=True)
"""Of RT-DETR's own ResNet: a stem of three convolutions, and averages of four places beside a layer that halves the map."""


def conv(name: str, inputs: Size, outs: Size, grid: Grid, kernel: int = 3) -> Part:
    """Describe a convolution without bias and its batch norm, which see the positions that come out."""
    children = (conv2d("convolution", inputs, outs, kernel, bias=False), batch_norm("normalization", outs))
    return part(name, *children, kind="convolution", stream=area(grid))


def layer(c: Config, inputs: int, width: int, grids: tuple[Grid, Grid], *, shortcut: Part | None) -> tuple[Node, ...]:
    """Describe a residual layer between two maps: two convolutions, or three around a narrow one."""
    before, after = grids
    beside = () if shortcut is None else (shortcut,)
    if c.layer_type == "basic":
        return *beside, part("layer", conv("0", inputs, width, after), conv("1", width, width, after))
    narrow, first = width // 4, after if c.squeezed else before
    path = conv("0", inputs, narrow, first, 1), conv("1", narrow, narrow, after), conv("2", narrow, width, after, 1)
    return *beside, part("layer", *path)


def downsample_shortcut(c: Config, inputs: int, width: int, stride: int, after: Grid) -> Part | None:
    """Describe what the input of a stage's first layer passes through, if anything."""
    basic = c.layer_type == "basic"
    if not c.deep:
        return conv("shortcut", inputs, width, after, 1) if inputs != width or stride != 1 else None
    if inputs != width if basic else stride == 2:
        averaged = conv("1", inputs, width, after, 1)
        if stride == 1:  # the average halves the map all the same
            averaged = replace(averaged, stream=unknown("a layer keeps the size of its map, and its shortcut halves it"))
        return part("shortcut", averaged, kind="convolution")
    return conv("shortcut", inputs, width, after, 1) if basic or inputs != width else None


def stage(c: Config, inputs: int, index: int, before: Grid) -> tuple[Grid, tuple[Node, ...]]:
    """Describe a stage, whose first layer halves the map; return the map that it outputs, too."""
    width, stride = c.widths[index], 2 if index or c.early else 1
    after = conv_output(before, 1, stride)
    opening = layer(c, inputs, width, (before, after), shortcut=downsample_shortcut(c, inputs, width, stride, after))
    first = part("layers", *opening, kind="layer", repeat=1)
    rest = part(
        "layers", *layer(c, width, width, (after, after), shortcut=None), kind="layer", repeat=c.depths[index] - 1, indices=Every(1)
    )
    return after, (first, rest) if c.depths[index] > 1 else (first,)


def resnet(c: Config, picture: Grid) -> tuple[list[Grid], tuple[Part, ...]]:
    """Describe stem and stages over an image; return the maps of the stem and of every stage, too."""
    halved = conv_output(picture, 7, 2, 3)
    maps, inputs = [conv_output(halved, 3, 2, 1)], c.stem
    stages: list[tuple[Node, ...]] = []
    for index, width in enumerate(c.widths[: c.stages]):
        grid, children = stage(c, inputs, index, maps[-1])
        maps, stages, inputs = [*maps, grid], [*stages, children], width
    half = c.stem // 2
    several = conv("0", c.channels, half, halved), conv("1", half, half, halved), conv("2", half, c.stem, halved)
    first = part("embedder", *several, kind="convolution") if c.deep else conv("embedder", c.channels, c.stem, halved, 7)
    embedder = part("embedder", first, kind="embeddings")
    return maps, (embedder, part("encoder", module_list("stages", *stages), kind="encoder"))


def features(c: Config, picture: Grid) -> Features:
    """Describe ResNetBackbone over an image."""
    maps, parts = resnet(c, picture)
    return selected_outputs(c, parts, tuple(maps), (c.stem, *c.widths))


def base(c: Config) -> Part:
    """Describe ResNetModel and the backbones."""
    return part("", *resnet(c, c.image)[1], kind="model")


def classification(c: Config) -> Part:
    """Describe ResNetForImageClassification: the labels, on the mean of all positions."""
    head = part("classifier", label_head("1", c.widths[-1], c.labels, stream="one"), kind="head")
    return part("", part("resnet", *resnet(c, c.image)[1], kind="backbone"), head, kind="model")


CLASSES = {"ResNetModel": base, "ResNetForImageClassification": classification, "ResNetBackbone": base}

FAMILIES = {
    "resnet": Family("resnet", FIELDS, CLASSES, "ResNetModel", frozenset(("stage_names",))),
    "rt_detr_resnet": Family("rt_detr_resnet", DEEP, {"RTDetrResNetBackbone": base}, "RTDetrResNetBackbone", frozenset(("stage_names",))),
}
