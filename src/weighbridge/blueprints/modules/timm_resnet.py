"""ResNets by timm's names, the backbone of many published detectors.

Source: timm 1.0, timm/models/resnet.py, behind transformers 5.23.0, models/timm_backbone/modeling_timm_backbone.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output
from weighbridge.config.fields import Config, choice
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.tree import Every, Node, Part

DEPTHS = {
    "resnet18": (2, 2, 2, 2),
    "resnet34": (3, 4, 6, 3),
    "resnet50": (3, 4, 6, 3),
    "resnet101": (3, 4, 23, 3),
    "resnet152": (3, 8, 36, 3),
}
PLAIN = ("resnet18", "resnet34")
"""Those whose layers are two convolutions; the others' have three, the middle one a quarter as wide as the last."""


def architecture(value: str | None) -> str:
    """Take the name of a network, without the tag of its weights."""
    name = "resnet50" if value is None else value.partition(".")[0] if isinstance(value, str) else ""
    if name not in DEPTHS:
        raise ConfigError(
            Text("timm's {value!r:.60} is not described", value=value),
            key="backbone",
            value=value,
            hint=Text("described: {depths}", depths=", ".join(DEPTHS)),
        )
    return name


def indices(value: object) -> tuple[int, ...]:
    """Take which maps are output: 0 is the stem's, before it is pooled."""
    if not isinstance(value, (list, tuple)) or not value or any(type(index) is not int or not 0 <= index <= 4 for index in value):
        raise ConfigError(Text("expected indices from 0 to 4, found {value!r:.60}", value=value), key="out_indices", value=value)
    if list(value) != sorted(set(value)):
        raise ConfigError("indices out of order, or twice", key="out_indices", value=value)
    return tuple(value)


def output_stride(value: object) -> int:
    """Take how many pixels a place of the last map stands for; 16 dilates the last stage in place of halving its map."""
    if value not in (None, 32, 16):
        raise ConfigError(Text("expected 32 or 16, found {value!r:.60}", value=value), key="output_stride", value=value)
    return 16 if value == 16 else 32


FIELDS = (
    CHANNELS,
    choice("architecture", "backbone", None, read=architecture),
    choice("outputs", "out_indices", [1, 2, 3, 4], read=indices),
    choice("output_stride", "output_stride", None, read=output_stride),
)

MORE_IGNORED_KEYS = frozenset("features_only freeze_batch_norm_2d use_pretrained_backbone use_timm_backbone".split())


def layer(c: Config, inputs: int, width: int, grids: tuple[Grid, Grid], *, shortcut: bool) -> tuple[Node, ...]:
    """Describe a residual layer between two maps."""
    before, after = grids
    steps = [(inputs, width, 3, after), (width, width, 3, after)]
    if c.architecture not in PLAIN:
        steps = [(inputs, width // 4, 1, before), (width // 4, width // 4, 3, after), (width // 4, width, 1, after)]
    parts: list[Node] = []
    for index, (from_width, to_width, kernel, grid) in enumerate(steps, 1):
        norm = batch_norm(f"bn{index}", to_width, stream=area(grid))
        parts += [conv2d(f"conv{index}", from_width, to_width, kernel, stream=area(grid), bias=False), norm]
    beside = part("downsample", conv2d("0", inputs, width, 1, bias=False), batch_norm("1", width), kind="convolution", stream=area(after))
    return (*parts, beside) if shortcut else tuple(parts)


def resnet(c: Config, picture: Grid) -> tuple[tuple[Part, ...], tuple[Grid, ...], tuple[int, ...]]:
    """Describe a ResNet up to the last map it outputs: its parts, and the maps and widths of stem and stages."""
    halved = conv_output(picture, 7, 2, 3)
    stem = conv2d("conv1", c.channels, 64, 7, stream=area(halved), bias=False), batch_norm("bn1", 64, stream=area(halved))
    before, inputs, wide = conv_output(halved, 3, 2, 1), 64, 1 if c.architecture in PLAIN else 4
    parts, maps, widths = list(stem), [halved], [64]
    for index, depth in enumerate(DEPTHS[c.architecture][: c.outputs[-1]]):
        width, stride = 64 * 2**index * wide, 2 if index and not (index == 3 and c.output_stride == 16) else 1
        after = conv_output(before, 1, stride)
        first = layer(c, inputs, width, (before, after), shortcut=inputs != width or index > 0)
        rest = part("", *layer(c, width, width, (after, after), shortcut=False), kind="layer", repeat=depth - 1, indices=Every(1))
        parts.append(part(f"layer{index + 1}", part("0", *first, kind="layer"), rest, kind="stage"))
        maps, widths, before, inputs = [*maps, after], [*widths, width], after, width
    return tuple(parts), tuple(maps), tuple(widths)
