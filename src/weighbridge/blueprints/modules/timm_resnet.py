"""timm's ResNets: the backbone of many published detectors, and what the package's own models are made of.

Source: timm 1.0.31, timm/models/resnet.py, behind transformers 5.23.0, models/timm_backbone/modeling_timm_backbone.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output
from weighbridge.config.fields import Config, choice
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Every, Node, Part, Tensor


class Network(NamedTuple):
    """What timm's constructor is given for a ResNet, by the words of its arguments.

    Attributes:
        layers: How many blocks each stage has.
        bottleneck: Whether a block has three convolutions, the middle one narrow, or two.
        channels: The width of each stage; a bottleneck outputs four times as many.
        cardinality, base_width: Groups of the middle convolution, and its width of 64 channels.
        stem_width, stem_type: Of the stem, which in ``deep`` and ``deep_tiered`` has three convolutions.
        pooled_by_convolution: Whether a convolution stands in place of the stem's pooling.
        reduce_first, down_kernel, averaged_down: Of the first convolution of a block, and of the skip connection past it.
        averaged: Whether a pooling halves the maps in a block, and not a convolution.
        gate: ``se`` or ``eca`` where a block ends in a gate of channels; *gate_ratio* is one over that of SE.
        group_norms: Whether norms are over groups.
    """

    layers: tuple[int, ...]
    bottleneck: bool = True
    channels: tuple[int, ...] = (64, 128, 256, 512)
    cardinality: int = 1
    base_width: int = 64
    stem_width: int = 64
    stem_type: str = ""
    pooled_by_convolution: bool = False
    reduce_first: int = 1
    down_kernel: int = 1
    averaged_down: bool = False
    averaged: bool = False
    gate: str = ""
    gate_ratio: int = 16
    group_norms: bool = False


NETWORKS = {
    "resnet18": Network((2, 2, 2, 2), bottleneck=False),
    "resnet34": Network((3, 4, 6, 3), bottleneck=False),
    "resnet50": Network((3, 4, 6, 3)),
    "resnet101": Network((3, 4, 23, 3)),
    "resnet152": Network((3, 8, 36, 3)),
}
"""Those that are common as backbones."""


def network(value: str | None) -> Network:
    """Take the name of a network, without the tag of its weights."""
    name = "resnet50" if value is None else value.partition(".")[0] if isinstance(value, str) else ""
    if name not in NETWORKS:
        raise ConfigError(
            Text("timm's {value!r:.60} is not described", value=value),
            key="backbone",
            value=value,
            hint=Text("described: {depths}", depths=", ".join(NETWORKS)),
        )
    return NETWORKS[name]


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
    choice("network", "backbone", None, read=network),
    choice("outputs", "out_indices", [1, 2, 3, 4], read=indices),
    choice("output_stride", "output_stride", None, read=output_stride),
)

MORE_IGNORED_KEYS = frozenset("features_only freeze_batch_norm_2d use_pretrained_backbone use_timm_backbone".split())


def norm(n: Network, name: str, width: Size, seen: Stream | None = None) -> Part:
    """Describe a norm of batches, or of groups."""
    return group_norm(name, width, stream=seen) if n.group_norms else batch_norm(name, width, stream=seen)


def convolution(name: str, inputs: Size, outs: Size, kernel: int, at: Grid, groups: int = 1) -> Part:
    """Describe a convolution without bias."""
    return conv2d(name, inputs, outs, kernel, groups=groups, stream=area(at), bias=False)


def gate(n: Network, width: int) -> tuple[Part, ...]:
    """Describe a gate of channels: two maps of their mean, or a convolution along the means."""
    if n.gate == "se":
        narrow = max(8, (width // n.gate_ratio + 4) // 8 * 8)
        return (part("se", conv2d("fc1", width, narrow, 1), conv2d("fc2", narrow, width, 1), kind="gate", stream="one"),)
    if n.gate == "eca":
        kernel = (width.bit_length() - 1 + 1) // 2
        side = max(kernel if kernel % 2 else kernel + 1, 3)
        return (part("se", part("conv", Tensor("weight", (1, 1, side)), kind="convolution", stream=width), kind="gate"),)
    return ()


def block(n: Network, inputs: int, planes: int, grids: tuple[Grid, Grid], *, first: bool) -> tuple[Node, ...]:
    """Describe a block between two maps; the *first* of a stage may carry another width past it."""
    before, after = grids
    middle = before if n.averaged and before != after else after  # where a pooling halves the map
    outs = 4 * planes if n.bottleneck else planes
    wide = planes * n.base_width // 64 * n.cardinality if n.bottleneck else planes
    narrow = wide // n.reduce_first
    steps = [(inputs, narrow, 3, middle, 1), (narrow, outs, 3, after, 1)]
    if n.bottleneck:
        steps = [(inputs, narrow, 1, before, 1), (narrow, wide, 3, middle, n.cardinality), (wide, outs, 1, after, 1)]
    parts: list[Node] = []
    for index, (few, many, kernel, at, groups) in enumerate(steps, 1):
        parts += [convolution(f"conv{index}", few, many, kernel, at, groups), norm(n, f"bn{index}", many, area(at))]
    parts += gate(n, outs)
    if not first or (inputs == outs and before == after):
        return tuple(parts)
    start, kernel = (1, 1) if n.averaged_down else (0, n.down_kernel if before != after else 1)
    carried = convolution(str(start), inputs, outs, kernel, after), norm(n, str(start + 1), outs, area(after))
    return *parts, part("downsample", *carried, kind="convolution", stream=area(after))


def stem(n: Network, channels: Size, picture: Grid) -> tuple[tuple[Part, ...], Grid, Grid, int]:
    """Describe the stem: its parts, the map before and after its pooling, and how many channels it outputs."""
    deep = n.stem_type.startswith("deep")
    halved = conv_output(picture, 3, 2, 1) if deep else conv_output(picture, 7, 2, 3)
    outs, after = 2 * n.stem_width if deep else 64, conv_output(halved, 3, 2, 1)
    if n.averaged and not n.pooled_by_convolution:
        after = halved[0] // 2, halved[1] // 2
    first = convolution("conv1", channels, outs, 7, halved)
    if deep:
        few = 3 * (n.stem_width // 4) if n.stem_type == "deep_tiered" else n.stem_width
        first = part(
            "conv1",
            convolution("0", channels, few, 3, halved),
            norm(n, "1", few, area(halved)),
            convolution("3", few, n.stem_width, 3, halved),
            norm(n, "4", n.stem_width, area(halved)),
            convolution("6", n.stem_width, outs, 3, halved),
            kind="convolutions",
        )
    pooling: tuple[Part, ...] = ()
    if n.pooled_by_convolution:
        places, last = (halved, "2") if n.averaged else (after, "1")
        pooling = (part("maxpool", convolution("0", outs, outs, 3, places), norm(n, last, outs, area(after)), kind="convolutions"),)
    return (first, norm(n, "bn1", outs, area(halved)), *pooling), halved, after, outs


def stages(n: Network, inputs: int, before: Grid, *, last: int, dilated: bool = False) -> tuple[list[Part], list[Grid], list[int]]:
    """Describe the stages up to the *last*: parts, maps and widths; where the last of all is *dilated*, it does not halve its map."""
    parts: list[Part] = []
    maps: list[Grid] = []
    widths: list[int] = []
    for index, (depth, planes) in enumerate(zip(n.layers[:last], n.channels, strict=False)):
        after = conv_output(before, 1, 1 if not index or (index == 3 and dilated) else 2)
        outs = 4 * planes if n.bottleneck else planes
        head = block(n, inputs, planes, (before, after), first=True)
        rest = part("", *block(n, outs, planes, (after, after), first=False), kind="layer", repeat=depth - 1, indices=Every(1))
        parts.append(part(f"layer{index + 1}", part("0", *head, kind="layer"), rest, kind="stage"))
        maps, widths, before, inputs = [*maps, after], [*widths, outs], after, outs
    return parts, maps, widths


def resnet(c: Config, picture: Grid) -> tuple[tuple[Part, ...], tuple[Grid, ...], tuple[int, ...]]:
    """Describe a ResNet up to the last map it outputs: its parts, and the maps and widths of stem and stages."""
    first, halved, before, inputs = stem(c.network, c.channels, picture)
    parts, maps, widths = stages(c.network, inputs, before, last=c.outputs[-1], dilated=c.output_stride == 16)
    return (*first, *parts), (halved, *maps), (inputs, *widths)
