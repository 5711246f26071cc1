"""MobileViT v1 and v2: convolutions, and attention across patches (Mehta and Rastegari, 2021 and 2022).

Source: arXiv 2110.02178 and 2206.02680; names as in transformers 5.23.0, models/mobilevit/modeling_mobilevit.py and
models/mobilevitv2/modeling_mobilevitv2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, conv_norm, group_norm, half_size, make_divisible, positive_float
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, image
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.vision.mobilenet import inverted_residual, with_classifier
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, choice, computed, constant, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, layer_norm, linear, part, split_mlp
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

SHARED = (
    CHANNELS,
    image(256),
    choice("patch", "patch_size", 2, read=lambda value: _patch(value)),
    number("kernel", "conv_kernel_size", 3),
    number("output_stride", "output_stride", 32),
    numbers("rates", "atrous_rates", (6, 12, 18)),
    switch("expanded", "expand_output", True, report_default=False),
    LABELS,
)

FIRST = (
    *SHARED,
    numbers("inner", "hidden_sizes", (144, 192, 240)),
    numbers("widths", "neck_hidden_sizes", (16, 32, 64, 96, 128, 160, 640)),
    number("heads", "num_attention_heads", 4),
    positive_float("mlp_ratio", "mlp_ratio", 2.0),
    positive_float("expansion", "expand_ratio", 4.0),
    switch("qkv_bias", "qkv_bias", True),
    size("aspp", "aspp_out_channels", 256, "S", "width of the segmentation head"),
    constant("depths", (2, 4, 3)),
    constant("second", False),
    computed("fits", lambda c: refuse_mismatch(c)),
)

SECOND = (
    *SHARED,
    positive_float("wider", "width_multiplier", 1.0),
    numbers("bases", "base_attn_unit_dims", (128, 192, 256)),
    numbers("depths", "n_attn_blocks", (2, 4, 3)),
    number("mlp_times", "ffn_multiplier", 2),
    positive_float("expansion", "expand_ratio", 2.0),
    size("aspp", "aspp_out_channels", 512, "S", "width of the segmentation head"),
    computed("inner", lambda c: tuple(make_divisible(base * c.wider) for base in c.bases)),
    computed("widths", lambda c: widths(c.wider)),
    constant("second", True),
    computed("fits", lambda c: refuse_mismatch(c)),
)


def widths(wider: float) -> tuple[int, ...]:
    """Return the widths of stem and stages, all from one multiplier."""
    stem = make_divisible(max(16, min(64, 32 * wider)), 8, 16)
    return (stem, make_divisible(64 * wider, 16), *(make_divisible(width * wider) for width in (128, 256, 384, 512)))


def refuse_mismatch(c: Config) -> bool:
    """Refuse lists that are too short; what is beyond the stages is left out."""
    lengths = {
        "hidden_sizes": (c.inner, 3),
        "neck_hidden_sizes": (c.widths, 6 if c.second else 7),
        "depths": (c.depths, 3),
    }
    for key, (entries, length) in lengths.items():
        if len(entries) < length:
            raise ConfigError(Text("expected {length} entries, found {count}", length=length, count=len(entries)), key=key, value=entries)
    return True


def _patch(value: Any) -> int | None:
    """Return the side of a patch, of which no tensor depends; two sides are none that the class can cut a map into."""
    if isinstance(value, list) and value and all(type(side) is int for side in value):
        return None
    if type(value) is not int or value < 1:
        raise ConfigError(Text("expected a whole number from 1 up, found {value!r:.60}", value=value), key="patch_size", value=value)
    return value


def behind_kernel(c: Config, grid: Grid) -> Stream:
    """Return the positions of a map that a stage's convolutions leave; what does not fit together keeps the class from running."""
    if c.kernel % 2 == 0:
        return unknown("an even kernel leaves a map of another size")
    if c.patch is None:
        return unknown("the class cuts a map into square patches of one side")
    return area(grid)


def transformer(c: Config, index: int, grid: Grid) -> tuple[Part, ...]:
    """Describe the layers of the first version: positions of the same index in every patch attend to each other."""
    width, inner, side = c.inner[index], int(c.inner[index] * c.mlp_ratio), c.patch or 1
    patches = area(half_size(grid, side))  # a map that is not of whole patches is stretched to them
    queries = tuple(linear(name, width, width, bias=c.qkv_bias) for name in ("query", "key", "value"))
    scores = attend(heads=c.heads, head_dim=width // c.heads, queries=patches, keys=patches, groups=side * side)
    attention = (
        part("attention", *queries, scores, kind="self_attention"),
        part("output", linear("dense", width, width), kind="self_attention"),
    )
    layer = part(
        "layer",
        part("attention", *attention, kind="self_attention"),
        *split_mlp(width, inner),
        layer_norm("layernorm_before", width),
        layer_norm("layernorm_after", width),
        kind="layer",
        repeat=c.depths[index],
    )
    places = patches * side * side
    return part("transformer", layer, kind="stack", stream=places), layer_norm("layernorm", width, stream=places)


def separable(c: Config, index: int, grid: Grid) -> tuple[Part, ...]:
    """Describe the layers of the second version, whose attention is one score for each place, and linear in their number."""
    width, side = c.inner[index], c.patch or 1
    inner, places = c.mlp_times * width // 16 * 16, (grid[0] // side) * (grid[1] // side) * side * side

    def plain(name: str, inputs: int, outs: int) -> Part:
        return conv_norm(name, inputs, outs, places, normed=False, bias=True)

    layer = part(
        "layer",
        group_norm("layernorm_before", width),
        part("attention", plain("qkv_proj", width, 1 + 2 * width), plain("out_proj", width, width), kind="self_attention"),
        group_norm("layernorm_after", width),
        part("ffn", plain("conv1", width, inner), plain("conv2", inner, width), kind="feed_forward"),
        kind="layer",
        repeat=c.depths[index],
    )
    return part("transformer", layer, kind="stack", stream=places), group_norm("layernorm", width, stream=places)


def mobilevit_stage(c: Config, index: int, grids: tuple[Grid, Grid]) -> Part:
    """Describe a stage of convolutions around a transformer."""
    before, grid = grids
    inputs, width, inner = c.widths[index + 2], c.widths[index + 3], c.inner[index]
    parts = (
        inverted_residual("downsampling_layer", (inputs, make_divisible(round(inputs * c.expansion)), width), before, grid),
        conv_norm("conv_kxk", width, width, behind_kernel(c, grid), c.kernel, groups=width if c.second else 1),
        conv_norm("conv_1x1", width, inner, grid, normed=False),
        *(separable if c.second else transformer)(c, index, grid),
        conv_norm("conv_projection", inner, width, grid),
        *(() if c.second else (conv_norm("fusion", 2 * width, width, grid, c.kernel),)),
    )
    return part(str(index + 2), *parts, kind="stage")


def plain_stage(c: Config, index: int, depth: int, grids: tuple[Grid, Grid]) -> Part:
    """Describe a stage of layers that are widest in the middle."""
    found, inputs, before = [], c.widths[index], grids[0]
    for number_ in layer_range(depth):
        width = make_divisible(round(inputs * c.expansion))
        found.append(inverted_residual(str(number_), (inputs, width, c.widths[index + 1]), before, grids[1]))
        inputs, before = c.widths[index + 1], grids[1]
    return part(str(index), part("layer", *found, kind="stage"), kind="stage")


def mobilevit(c: Config, *, expanded: bool) -> tuple[Grid, tuple[Part, ...]]:
    """Describe stem and stages, and the last map; a dilated stage keeps its map."""
    grid = half_size(c.image)
    stem, small = conv_norm("conv_stem", c.channels, c.widths[0], grid, 3), half_size(grid)
    layers = [plain_stage(c, 0, 1, (grid, grid)), plain_stage(c, 1, 2 if c.second else 3, (grid, small))]
    for index in range(3):
        dilated = (index == 1 and c.output_stride == 8) or (index == 2 and c.output_stride in (8, 16))
        after = small if dilated else half_size(small)
        layers.append(mobilevit_stage(c, index, (small, after)))
        small = after
    last = (conv_norm("conv_1x1_exp", c.widths[5], c.widths[6], small),) if expanded and not c.second else ()
    return small, (stem, part("encoder", part("layer", *layers, kind="stage"), kind="encoder"), *last)


def segmentation(c: Config, name: str) -> Part:
    """Describe the pyramid of dilated convolutions beside the mean of all positions, and the labels."""
    grid, parts = mobilevit(c, expanded=False)
    if len(c.rates) != 3:
        raise ConfigError(Text("expected {length} entries, found {count}", length=3, count=len(c.rates)), key="atrous_rates", value=c.rates)
    inputs, width = c.widths[5 if c.second else -2], c.aspp
    fits = unknown("the map has another width than the head takes") if inputs != c.widths[5] else area(grid)
    kernels = enumerate((1, 3, 3, 3))
    convs = (
        *(conv_norm(str(index), inputs, width, fits, kernel) for index, kernel in kernels),
        part("4", conv_norm("conv_1x1", inputs, width, "one")),
    )
    pyramid = part("aspp", part("convs", *convs, kind="convolution"), conv_norm("project", 5 * width, width, grid), kind="convolution")
    head = part("segmentation_head", pyramid, conv_norm("classifier", width, c.labels, grid, normed=False, bias=True), kind="head")
    return part("", part(name, *parts, kind="backbone"), head, kind="model")


def family(model_type: str, prefix: str, fields: tuple[Field, ...], *ignored_keys: str) -> Family:
    """Return the family of one of the two versions."""
    classes = {
        f"{prefix}Model": lambda c: part("", *mobilevit(c, expanded=c.expanded)[1], kind="model"),
        f"{prefix}ForImageClassification": lambda c: with_classifier(model_type, mobilevit(c, expanded=True)[1], c.widths[-1], c),
        f"{prefix}ForSemanticSegmentation": lambda c: segmentation(c, model_type),
    }
    return Family(model_type, fields, classes, f"{prefix}Model", HEAD | {"aspp_dropout_prob", *ignored_keys})


FAMILIES = {
    "mobilevit": family("mobilevit", "MobileViT", FIRST),
    "mobilevitv2": family("mobilevitv2", "MobileViTV2", SECOND, "attn_dropout", "ffn_dropout"),
}
