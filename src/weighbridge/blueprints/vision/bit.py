"""BiT: pre-activation ResNets with group norm and weight standardization (Kolesnikov et al., 2019).

Source: arXiv 1912.11370; names as in transformers 5.23.0, models/bit/modeling_bit.py. The config states no image:
``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, RESIDUAL, group_norm, half_size, make_divisible
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import number, out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, computed, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, label_head, part
from weighbridge.core.tree import Every, Node, Part


def is_preactivated(value: str) -> bool:
    """Say whether norms stand before convolutions, and not after them."""
    if value not in ("preactivation", "bottleneck"):
        raise ConfigError(Text("expected preactivation or bottleneck, found {value!r:.60}", value=value), key="layer_type", value=value)
    return value == "preactivation"


def conv_padding(value: object) -> str:
    """Take how convolutions pad: by half their kernel where the config has null."""
    found = value.upper() if isinstance(value, str) else "" if value is None else None
    if found not in ("", "SAME", "VALID"):
        raise ConfigError(Text("expected SAME, VALID or null, found {value!r:.60}", value=value), key="global_padding", value=value)
    return found


FIELDS = (
    *variant(RESIDUAL, stages=computed("stages", lambda c: min(len(c.depths), len(c.widths)))),
    choice("before", "layer_type", "preactivation", read=is_preactivated),
    choice("padding", "global_padding", None, read=conv_padding),
    switch("dynamic", "embedding_dynamic_padding", False),
    number("output_stride", "output_stride", 32),
    number("times", "width_factor", 1),
    number("groups", "num_groups", 32),
    image(report_default=False),
    *out_stages(lambda c: len(c.depths)),
    LABELS,
)


def layer(c: Config, widths: tuple[int, int], grids: tuple[Grid, Grid], *, shortcut: bool) -> tuple[Node, ...]:
    """Describe a residual layer of three convolutions, the middle one a quarter as wide as what comes out."""
    (inputs, width), (before, after) = widths, grids
    narrow = make_divisible(width * 0.25)
    normed = (inputs, narrow, narrow) if c.before else (narrow, narrow, width)
    seen = (before, before, after) if c.before else (before, after, after)
    norms = [group_norm(f"norm{index + 1}", normed[index], groups=c.groups, stream=area(seen[index])) for index in range(3)]
    convs = [
        conv2d("conv1", inputs, narrow, 1, stream=area(before), bias=False),
        conv2d("conv2", narrow, narrow, 3, stream=area(after), bias=False),
        conv2d("conv3", narrow, width, 1, stream=area(after), bias=False),
    ]
    path = [module for both in zip(*((norms, convs) if c.before else (convs, norms)), strict=True) for module in both]
    beside = conv2d("conv", inputs, width, 1, bias=False), *(() if c.before else (group_norm("norm", width, groups=c.groups),))
    return *((part("downsample", *beside, kind="convolution", stream=area(after)),) if shortcut else ()), *path


def stem(c: Config) -> tuple[Grid, Grid]:
    """Return the maps of the first convolution and of the pooling after it, around which a border stands but for SAME."""
    grid = conv_output(c.image, 7, 2) if c.padding == "VALID" else half_size(c.image)
    wide = grid if c.padding == "SAME" else (grid[0] + 2, grid[1] + 2)
    return grid, half_size(wide) if c.dynamic else conv_output(wide, 3, 2)


def bit(c: Config) -> tuple[Part, ...]:
    """Describe stem, stages and the last norm."""
    first, grid = stem(c)
    wide, stride = first if c.padding == "SAME" else (first[0] + 2, first[1] + 2), 4
    embedder: list[Part] = [conv2d("convolution", c.channels, c.stem, 7, stream=area(first), bias=False)]
    if not c.before:
        embedder.append(group_norm("norm", c.stem, groups=c.groups, stream=area(wide)))
    maps, widths, found = [grid], [c.stem], []
    for index, depth in enumerate(c.depths[: c.stages]):
        step = 1 if index == 0 or stride >= c.output_stride else 2
        stride, width, after = stride * step, make_divisible(c.widths[index] * c.times), half_size(maps[-1], step)
        opening = part("layers", *layer(c, (widths[-1], width), (maps[-1], after), shortcut=True), kind="layer", repeat=1)
        rest = part("layers", *layer(c, (width, width), (after, after), shortcut=False), kind="layer", repeat=depth - 1, indices=Every(1))
        found.append((opening, rest) if depth > 1 else (opening,))
        maps, widths = [*maps, after], [*widths, width]
    last: Stream = area(maps[-1])
    if c.padding == "VALID":
        last = unknown("without padding, a layer's convolutions and what is added to them differ in size")
    fits = widths[-1] == c.widths[-1]  # the reference forgets the factor here
    whole = last if fits else unknown(Text("the last stage is {width} wide, and its norm {norm}", width=widths[-1], norm=c.widths[-1]))
    norm = (group_norm("norm", c.widths[-1], groups=c.groups, stream=whole),) if c.before else ()
    encoder = part("encoder", module_list("stages", *found), kind="encoder", stream=last)
    return (part("embedder", *embedder, kind="embeddings"), encoder, *norm)


def classification(c: Config) -> Part:
    """Describe BitForImageClassification: the labels, on the mean of all positions."""
    head = part("classifier", label_head("1", c.widths[-1], c.labels, stream="one"), kind="head")
    return part("", part("bit", *bit(c), kind="backbone"), head, kind="model")


CLASSES = {
    "BitModel": lambda c: part("", *bit(c), kind="model"),
    "BitForImageClassification": classification,
    "BitBackbone": lambda c: part("", part("bit", *bit(c), kind="backbone"), kind="model"),
}

FAMILIES = {"bit": Family("bit", FIELDS, CLASSES, "BitModel", HEAD)}
