"""EfficientNet: inverted residual blocks with compound scaling of width, depth and resolution (Tan and Le, 2019).

Source: arXiv 1905.11946; names as in transformers 5.23.0, models/efficientnet/modeling_efficientnet.py.
"""

from __future__ import annotations

from math import ceil

from weighbridge.blueprints.modules.convolutions import HEAD, make_divisible, positive_float
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, image
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, computed
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, label_head, part, replace
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Part

FIELDS = (
    CHANNELS,
    image(600),
    positive_float("wider", "width_coefficient", 2.0),
    positive_float("deeper", "depth_coefficient", 3.1),
    number("divisor", "depth_divisor", 8),
    numbers("kernels", "kernel_sizes", (3, 3, 5, 3, 5, 5, 3)),
    numbers("inputs", "in_channels", (32, 16, 24, 40, 80, 112, 192)),
    numbers("outs", "out_channels", (16, 24, 40, 80, 112, 192, 320)),
    numbers("strides", "strides", (1, 2, 2, 2, 1, 2, 1)),
    numbers("repeats", "num_block_repeats", (1, 2, 2, 3, 3, 4, 1)),
    numbers("expansions", "expand_ratios", (1, 6, 6, 6, 6, 6, 6)),
    Field("evenly", "depthwise_padding", [], "sequence"),
    positive_float("squeezed", "squeeze_expansion_ratio", 0.25, least=0.0),
    number("last", "hidden_dim", 2560),
    computed("stages", lambda c: stages_of(c)),
    LABELS,
)


def stages_of(c: Config) -> int:
    """Return how many stages there are, which every list must say alike."""
    lists = {"out_channels": c.outs, "kernel_sizes": c.kernels, "strides": c.strides}
    return first_stages("in_channels", len(c.inputs), **lists, num_block_repeats=c.repeats, expand_ratios=c.expansions)


def width_of(c: Config, width: int) -> int:
    """Return a width times the config's coefficient, in steps."""
    return make_divisible(width * c.wider, c.divisor)


def padded_map(grid: Grid, kernel: int, stride: int, *, evenly: bool) -> Grid:
    """Return the map of a depthwise convolution; one that halves it pads by a row and a column less, unless *evenly*."""
    if stride == 1:
        return grid
    border = 2 * (kernel // 2) - (0 if evenly else 1)
    return (grid[0] + border - kernel) // stride + 1, (grid[1] + border - kernel) // stride + 1


def block(c: Config, name: str, stage: int, inputs: int, grids: tuple[Grid, Grid]) -> Part:
    """Describe a block: made wide, each channel with itself, gated by the mean of all positions, made narrow again."""
    before, after = (area(grid) for grid in grids)
    wide, outs, narrow = inputs * c.expansions[stage], width_of(c, c.outs[stage]), max(1, int(inputs * c.squeezed))
    expansion = conv2d("expand_conv", inputs, wide, 1, bias=False), batch_norm("expand_bn", wide)
    depthwise = conv2d("depthwise_conv", wide, wide, c.kernels[stage], groups=wide, bias=False), batch_norm("depthwise_norm", wide)
    return part(
        name,
        *((part("expansion", *expansion, kind="convolution", stream=before),) if c.expansions[stage] != 1 else ()),
        part("depthwise_conv", *depthwise, kind="convolution", stream=after),
        part("squeeze_excite", conv2d("reduce", wide, narrow, 1), conv2d("expand", narrow, wide, 1), kind="gate", stream="one"),
        part(
            "projection",
            conv2d("project_conv", wide, outs, 1, bias=False),
            batch_norm("project_bn", outs),
            kind="convolution",
            stream=after,
        ),
        kind="layer",
    )


def efficientnet(c: Config) -> tuple[Part, ...]:
    """Describe stem, blocks and the last convolution."""
    grid: Grid = ((c.image[0] - 2) // 2 + 1, (c.image[1] - 2) // 2 + 1)
    stem = conv2d("convolution", c.channels, width_of(c, 32), 3, bias=False), batch_norm("batchnorm", width_of(c, 32))
    embeddings = part("embeddings", *stem, kind="embeddings", stream=area(grid))
    blocks: list[Part] = []
    for stage, repeats in enumerate(c.repeats[: c.stages]):
        for index in layer_range(ceil(c.deeper * repeats)):
            stride = 1 if index else c.strides[stage]
            inputs = width_of(c, c.outs[stage] if index else c.inputs[stage])
            after = padded_map(grid, c.kernels[stage], stride, evenly=len(blocks) in c.evenly)
            blocks.append(block(c, str(len(blocks)), stage, inputs, (grid, after)))
            grid = after
    top = width_of(c, 1280)
    places: Stream = (
        area(grid) if top == c.last else unknown(Text("the last convolution is {top} wide, and its norm {last}", top=top, last=c.last))
    )
    last = conv2d("top_conv", width_of(c, c.outs[c.stages - 1]), top, 1, stream=places, bias=False), batch_norm("top_bn", c.last)
    return embeddings, part("encoder", part("blocks", *blocks, kind="stage"), last[0], replace(last[1], stream=places), kind="encoder")


def classification(c: Config) -> Part:
    """Describe EfficientNetForImageClassification: the labels, on the mean of all positions."""
    head = label_head("classifier", c.last, c.labels, stream="one")
    return part("", part("efficientnet", *efficientnet(c), kind="backbone"), head, kind="model")


CLASSES = {"EfficientNetModel": lambda c: part("", *efficientnet(c), kind="model"), "EfficientNetForImageClassification": classification}

MORE_IGNORED_KEYS = HEAD | frozenset(
    "batch_norm_eps batch_norm_momentum drop_connect_rate dropout_rate num_hidden_layers pooling_type".split()
)

FAMILIES = {"efficientnet": Family("efficientnet", FIELDS, CLASSES, "EfficientNetModel", MORE_IGNORED_KEYS)}
