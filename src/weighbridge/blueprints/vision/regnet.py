"""RegNet: residual blocks with group convolutions, and squeeze-and-excitation in RegNetY (Radosavovic et al., 2020).

Source: arXiv 2003.13678; names as in transformers 5.23.0, models/regnet/modeling_regnet.py. The config states no image:
``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, RESIDUAL, conv_norm, half_size
from weighbridge.blueprints.modules.feature_maps import Grid, image, module_list
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, label_head, part
from weighbridge.core.tree import Every, Node, Part


def kind(value: str) -> str:
    """Take one of the two kinds of layers."""
    if value not in ("x", "y"):
        raise ConfigError(Text("expected x or y, found {value!r:.60}", value=value), key="layer_type", value=value)
    return value


FIELDS = (
    *variant(RESIDUAL, stem=32, widths=(128, 192, 512, 1088), depths=(2, 6, 12, 2)),
    number("group", "groups_width", 64),
    choice("layer_type", "layer_type", "y", read=kind),
    switch("early", "downsample_in_first_stage", True),
    image(report_default=False),
    LABELS,
)


def layer(c: Config, inputs: int, width: int, grids: tuple[Grid, Grid], *, shortcut: bool) -> tuple[Node, ...]:
    """Describe a residual layer between two maps; a gate of its Y kind is a quarter as wide as what comes in."""
    before, after = grids
    narrow = round(inputs / 4)
    gate = conv2d("0", width, narrow, 1), conv2d("2", narrow, width, 1)
    gated = (part("2", part("attention", *gate, kind="feed_forward"), kind="gate", stream="one"),) if c.layer_type == "y" else ()
    path = (
        conv_norm("0", inputs, width, before),
        conv_norm("1", width, width, after, 3, groups=max(1, width // c.group)),
        *gated,
        conv_norm("3" if gated else "2", width, width, after),
    )
    return *((conv_norm("shortcut", inputs, width, after),) if shortcut else ()), part("layer", *path)


def regnet(c: Config) -> tuple[Part, ...]:
    """Describe stem and stages."""
    grid, inputs = half_size(c.image), c.stem
    embedder, found = conv_norm("embedder", c.channels, c.stem, grid, 3), []
    for index, (width, depth) in enumerate(zip(c.widths, c.depths, strict=False)):
        stride = 2 if index or c.early else 1
        after = half_size(grid, stride)
        first = layer(c, inputs, width, (grid, after), shortcut=inputs != width or stride != 1)
        rest = layer(c, width, width, (after, after), shortcut=False)
        parts = part("layers", *first, kind="layer", repeat=1), part("layers", *rest, kind="layer", repeat=depth - 1, indices=Every(1))
        found.append(parts if depth > 1 else parts[:1])
        grid, inputs = after, width
    return part("embedder", embedder, kind="embeddings"), part("encoder", module_list("stages", *found), kind="encoder")


def classification(c: Config) -> Part:
    """Describe RegNetForImageClassification: the labels, on the mean of all positions."""
    head = part("classifier", label_head("1", c.widths[-1], c.labels, stream="one"), kind="head")
    return part("", part("regnet", *regnet(c), kind="backbone"), head, kind="model")


CLASSES = {"RegNetModel": lambda c: part("", *regnet(c), kind="model"), "RegNetForImageClassification": classification}

FAMILIES = {"regnet": Family("regnet", FIELDS, CLASSES, "RegNetModel", HEAD)}
