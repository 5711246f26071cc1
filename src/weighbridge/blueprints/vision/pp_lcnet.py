"""PP-LCNet v1, v3 and v4: depthwise separable convolutions with squeeze-and-excitation in some blocks (Cui et al., 2021).

Source: arXiv 2109.15099; names as in transformers 5.23.0, models/pp_lcnet/modeling_pp_lcnet.py,
models/pp_lcnet_v3 and models/pp_lcnet_v4. The config states no image: ``image_size`` may be set beside its fields, and
is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import conv_norm, make_divisible, positive_float
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, image, pair
from weighbridge.blueprints.modules.stage_fields import number, out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, choice, computed, constant, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, label_head, part, replace
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def middle_blocks(count: int) -> list[list[Any]]:
    """Return the blocks of 256 channels in the middle of the network."""
    return [[5, 256, 256, 1, False] for _ in layer_range(count)]


START = [[[3, 16, 32, 1, False]], [[3, 32, 64, 2, False], [3, 64, 64, 1, False]], [[3, 64, 128, 2, False], [3, 128, 128, 1, False]]]
END = [[5, 256, 512, 2, True], [5, 512, 512, 1, True]]
FIRST = [*START, [[3, 128, 256, 2, False], *middle_blocks(5)], END]
THIRD = [*START, [[3, 128, 256, 2, False], *middle_blocks(4)], [*END, *([5, 512, 512, 1, False] for _ in range(2))]]


GATED = [3, 192, 192, 1, True], [3, 192, 192, 1, False]
FOURTH = [
    [[3, 96, 96, 1, True]],
    [[3, 96, 96, 1, False], [3, 96, 96, 1, False]],
    [[3, 96, 192, [2, 1], False], *GATED, *GATED, *GATED],
    [[3, 192, 384, [2, 1], False], [3, 384, 384, 1, True], [3, 384, 384, 1, False]],
]


def stages(value: Any, count: int = 5) -> tuple[tuple[tuple[int, int, int, tuple[int, int], bool], ...], ...]:
    """Take the lists of blocks of each stage: kernel, channels in and out, stride, and whether the block is gated."""
    if len(value) != count:
        raise ConfigError(Text("expected {stages} stages, found {count}", stages=count, count=len(value)), key="block_configs", value=value)
    found = []
    for blocks in value:
        for block in blocks:
            wrong = len(block) != 5 or any(type(entry) is not int or entry < 1 for entry in block[:3]) or type(block[4]) is not bool
            if wrong or block[0] % 2 == 0:
                raise ConfigError(
                    Text("expected an odd kernel, channels in and out, stride and gate, found {block!r:.60}", block=block),
                    key="block_configs",
                )
        found.append(tuple((*block[:3], pair("block_configs", block[3]), block[4]) for block in blocks))
    return tuple(found)


def fields(blocks: list[Any], *more: Field) -> tuple[Field, ...]:
    """Return the fields of a version."""
    return (
        positive_float("scale", "scale", 1.0),
        Field("blocks", "block_configs", blocks, "sequence", read=stages),
        number("stem", "stem_channels", 16),
        number("stride", "stem_stride", 2),
        number("reduction", "reduction", 4),
        number("divisor", "divisor", 8),
        *out_stages(lambda c: 5),
        image(report_default=False),
        *more,
    )


def affine(name: str) -> Part:
    """Describe one factor and one addend for a whole map."""
    return part(name, Tensor("scale", (1,), "gain"), Tensor("bias", (1,), "shift"), kind="affine")


def convolution(c: Config, name: str, widths: tuple[int, int], kernel: int, stride: tuple[int, int], grid: Grid) -> Part:
    """Describe a convolution, of each channel with itself where it keeps their number by a kernel; the third version adds several up."""
    inputs, outs = widths
    groups = inputs if name.startswith("depthwise") else 1
    if c.version == 1:
        return conv_norm(name, inputs, outs, grid, kernel, groups=groups)
    branches = tuple(conv_norm(str(index), inputs, outs, grid, kernel, groups=groups) for index in layer_range(c.branches))
    return part(
        name,
        *((batch_norm("identity", inputs),) if inputs == outs and stride == (1, 1) else ()),
        part("conv_symmetric", *branches, kind="convolution"),
        *((conv_norm("conv_small_symmetric", inputs, outs, grid, 1, groups=groups),) if kernel > 1 else ()),
        affine("lab"),
        part("act", affine("lab"), kind="affine"),
        kind="convolution",
        stream=area(grid),
    )


def block(c: Config, name: str, entry: tuple[int, int, int, tuple[int, int], bool], grid: Grid) -> Part:
    """Describe a block: each channel with itself, a gate by the mean of all positions, then channels with each other."""
    kernel, before, after, stride, gated = entry
    inputs, outs = make_divisible(before * c.scale, c.divisor), make_divisible(after * c.scale, c.divisor)
    narrow = inputs // c.reduction
    gate = part("convolutions", conv2d("0", inputs, narrow, 1), conv2d("2", narrow, inputs, 1), kind="gate", stream="one")
    parts: tuple[Node, ...] = (
        convolution(c, "depthwise_convolution", (inputs, inputs), kernel, stride, grid),
        *((part("squeeze_excitation_module", gate, kind="gate"),) if gated else ()),
        convolution(c, "pointwise_convolution", (inputs, outs), 1, (1, 1), grid),
    )
    return part(name, *parts, kind="layer")


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe stem and stages."""
    if c.version == 4:
        parts, grid = stem(c, c.image)
        first, each, inner = part("convolution", *parts, kind="stem"), mixing_block, "blocks"
    else:
        grid = conv_output(c.image, 3, c.stride, 1)
        first, each, inner = conv_norm("convolution", 3, make_divisible(c.stem * c.scale, c.divisor), grid, 3), block, "layers"
    found = []
    for index, entries in enumerate(c.blocks):
        layers = []
        for position, entry in enumerate(entries):
            kernel, down = entry[0], entry[3]
            grid = conv_output(grid, kernel, down[0], kernel // 2)[0], conv_output(grid, kernel, down[1], kernel // 2)[1]
            layers.append(each(c, str(position), entry, grid))
        found.append(part(str(index), part(inner, *layers, kind="stage"), kind="stage"))
    return first, part("blocks", *found, kind="stage")


def classification(c: Config) -> Part:
    """Describe PPLCNetForImageClassification: the mean of all positions made wider, and the labels."""
    last = make_divisible(c.blocks[-1][-1][2] * c.scale, c.divisor)
    wider = conv2d("last_convolution", last, c.wide, 1, stream="one", bias=False)
    return part("", part("encoder", *encoder(c), kind="backbone"), wider, label_head("head", c.wide, c.labels, stream="one"), kind="model")


def stem(c: Config, grid: Grid) -> tuple[tuple[Node, ...], Grid]:
    """Describe the fourth version's stem, and the map that it outputs: the large one takes two ways and joins them."""
    channels, width, outs = c.stem

    def conv(name: str, inputs: int, wide: int, kernel: int, grid: Grid) -> Part:
        plain = conv_norm(name, inputs, wide, grid, kernel)
        return replace(plain, children=(*plain.children, affine("lab"))) if c.affine and c.large else plain

    if not c.large:
        half = conv_output(grid, 3, 2, 1)
        quarter = conv_output(half, 3, 2, 1)
        return (conv("conv1", channels, width, 3, half), conv("conv2", width, outs, 3, quarter)), quarter
    first = conv_output(grid, 3, c.strides[0], 1)
    wider: Grid = (first[0] + 1, first[1] + 1)
    second = conv_output(wider, 2, c.strides[1])
    third = conv_output((second[0] + 1, second[1] + 1), 2, c.strides[2])
    fourth = conv_output(third, 3, c.strides[3], 1)
    last = conv_output(fourth, 1, c.strides[4])
    return (
        conv("stem1", channels, width, 3, first),
        conv("stem2a", width, width // 2, 2, second),
        conv("stem2b", width // 2, width, 2, third),
        conv("stem3", width * 2, width, 3, fourth),
        conv("stem4", width, outs, 1, last),
    ), last


def mixing_block(c: Config, name: str, entry: tuple[int, int, int, tuple[int, int], bool], grid: Grid) -> Part:
    """Describe a block of the fourth version: each channel with itself, a gate, then channels with each other in twice the width."""
    kernel, inputs, outs, stride, gated = entry
    narrow = inputs // c.reduction
    gate = part("convolutions", conv2d("0", inputs, narrow, 1), conv2d("2", narrow, inputs, 1), kind="gate", stream="one")
    return part(
        name,
        conv2d("token_conv", inputs, outs, kernel, groups=inputs, stream=area(grid))
        if stride == (1, 1) and inputs == outs
        else conv_norm("token_conv", inputs, inputs, grid, kernel, groups=inputs),
        *((part("token_squeeze_excitation", gate, kind="gate"),) if gated else ()),
        conv_norm("channel_conv1", inputs, inputs * 2, grid),
        conv_norm("channel_conv2", inputs * 2, outs, grid),
        kind="layer",
    )


def family(model_type: str, prefix: str, table: tuple[Field, ...]) -> Family:
    """Return the family of a version."""
    classes = {
        f"{prefix}Encoder": lambda c: part("", *encoder(c), kind="model"),
        f"{prefix}Backbone": lambda c: part("", part("encoder", *encoder(c), kind="backbone"), kind="model"),
    }
    classes |= {f"{prefix}ForImageClassification": classification} if model_type == "pp_lcnet" else {}
    return Family(
        model_type, table, classes, f"{prefix}Backbone", frozenset(("stage_names", "depths", "num_channels", "stage_out_channels"))
    )


ONE = fields(FIRST, size("wide", "class_expand", 1280, "W", "width before the classifier"), constant("version", 1), LABELS)
THREE = fields(THIRD, number("branches", "conv_symmetric_num", 4), constant("version", 3))

FOUR = (
    positive_float("scale", "scale", 1.0),
    Field("blocks", "block_configs", FOURTH, "sequence", read=lambda value: stages(value, 4)),
    Field("stem", "stem_channels", [3, 48, 96], "sequence", read=lambda value: tuple(value)),
    Field("strides", "stem_strides", [2, 1, 1, 2, 1], "sequence", read=lambda value: tuple(value)),
    choice("stem_type", "stem_type", "large"),
    computed("large", lambda c: c.stem_type == "large"),
    switch("affine", "use_learnable_affine_block", False),
    number("reduction", "reduction", 4),
    *out_stages(lambda c: 4),
    image(report_default=False),
    constant("version", 4),
)

FAMILIES = {
    "pp_lcnet": family("pp_lcnet", "PPLCNet", ONE),
    "pp_lcnet_v3": family("pp_lcnet_v3", "PPLCNetV3", THREE),
    "pp_lcnet_v4": family("pp_lcnet_v4", "PPLCNetV4", FOUR),
}
