"""HGNet v2: stages whose blocks join the outputs of all their layers; the backbone of D-FINE and others (PaddlePaddle, 2023).

Source: names as in transformers 5.23.0, models/hgnet_v2/modeling_hgnet_v2.py. The config states no image: ``image_size``
may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list, pair
from weighbridge.blueprints.modules.stage_fields import entries, equal_length, number, numbers, out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, computed, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, label_head, part
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Part, Tensor


def strides(word: str, key: str, default: tuple[int, ...]) -> Field:
    """Declare a list of strides, each of both axes or one for each."""
    return Field(word, key, list(default), "sequence", read=lambda value: tuple(pair(key, entry) for entry in value))


FIELDS = (
    CHANNELS,
    number("stem", "embedding_size", 64),
    numbers("widths", "hidden_sizes", (256, 512, 1024, 2048)),
    numbers("depths", "depths", (3, 4, 6, 3)),
    numbers("stem_widths", "stem_channels", (3, 32, 48)),
    strides("stem_strides", "stem_strides", (2, 1, 1, 2, 1)),
    numbers("inputs", "stage_in_channels", (48, 128, 512, 1024)),
    numbers("middles", "stage_mid_channels", (48, 96, 192, 384)),
    numbers("outs", "stage_out_channels", (128, 512, 1024, 2048)),
    numbers("blocks", "stage_num_blocks", (1, 1, 3, 1)),
    entries("halving", "stage_downsample", [False, True, True, True], bool),
    strides("halves", "stage_downsample_strides", (2, 2, 2, 2)),
    entries("light", "stage_light_block", [False, False, True, True], bool),
    numbers("kernels", "stage_kernel_size", (3, 3, 5, 5)),
    numbers("layers_of", "stage_numb_of_layers", (6, 6, 6, 6)),
    switch("affine", "use_learnable_affine_block", False),
    computed("stages", lambda c: stages_of(c)),
    *out_stages(lambda c: len(c.depths)),
    image(report_default=False),
    LABELS,
)


def stages_of(c: Config) -> int:
    """Return how many stages there are."""
    if len(c.stem_widths) != 3 or len(c.stem_strides) != 5:
        raise ConfigError("expected three widths and five strides of the stem", key="stem_channels", value=c.stem_widths)
    lists = {"stage_mid_channels": c.middles, "stage_out_channels": c.outs, "stage_num_blocks": c.blocks, "stage_downsample": c.halving}
    count = equal_length(
        stage_in_channels=c.inputs, **lists, stage_light_block=c.light, stage_kernel_size=c.kernels, stage_numb_of_layers=c.layers_of
    )
    # Of strides alone there may be more than stages.
    return equal_length(stage_in_channels=c.inputs, stage_downsample_strides=c.halves[:count])


def strided_map(grid: Grid, kernel: int, stride: tuple[int, int]) -> Grid:
    """Return the map of a convolution whose strides may differ between the axes."""
    border = (kernel - 1) // 2
    return conv_output(grid, kernel, stride[0], border)[0], conv_output(grid, kernel, stride[1], border)[1]


def conv(c: Config, name: str, inputs: Size, outs: Size, places: Stream, kernel: int = 1, *, groups: Size = 1, active: bool = True) -> Part:
    """Describe a convolution, its batch norm and, behind an activation, a factor and an addend where the config asks for them."""
    affine = (part("lab", Tensor("scale", (1,), "gain"), Tensor("bias", (1,), "shift"), kind="affine"),) if c.affine and active else ()
    convolution = conv2d("convolution", inputs, outs, kernel, groups=groups, bias=False)
    return part(name, convolution, batch_norm("normalization", outs), *affine, kind="convolution", stream=places)


def block(c: Config, name: str, inputs: int, index: int, places: Stream) -> Part:
    """Describe a block: layers in sequence, then all of them and the input joined and made narrow."""
    middle, outs, kernel, count = c.middles[index], c.outs[index], c.kernels[index], c.layers_of[index]
    if kernel % 2 == 0:
        places = unknown("an even kernel leaves maps that cannot be joined")
    layers = []
    for position in layer_range(count):
        before = middle if position else inputs
        if c.light[index]:
            pointwise = conv(c, "conv1", before, middle, places, active=False)
            depthwise = conv(c, "conv2", middle, middle, places, kernel, groups=middle)
            layers.append(part(str(position), pointwise, depthwise, kind="layer"))
        else:
            layers.append(conv(c, str(position), before, middle, places, kernel))
    joined = conv(c, "0", inputs + count * middle, outs // 2, places), conv(c, "1", outs // 2, outs, places)
    return part(name, part("layers", *layers, kind="stage"), part("aggregation", *joined, kind="convolution"), kind="block")


def stem(c: Config, picture: Grid) -> tuple[Grid, Part]:
    """Describe the stem, in which one path is pooled and the other convolved, each padded by a row and a column."""
    first, width, last = c.stem_widths
    steps = c.stem_strides
    one = strided_map(picture, 3, steps[0])
    three = strided_map(one, 3, steps[3])
    four = strided_map(three, 1, steps[4])
    fits = steps[1] == steps[2] == (1, 1)
    joined: Stream = area(one) if fits else unknown("the two paths of the stem differ in size")
    return four, part(
        "embedder",
        conv(c, "stem1", first, width, area(one), 3),
        conv(c, "stem2a", width, width // 2, joined, 2),
        conv(c, "stem2b", width // 2, width, joined, 2),
        conv(c, "stem3", 2 * width, width, area(three), 3),
        conv(c, "stem4", width, last, area(four)),
        kind="embeddings",
    )


def hgnet(c: Config, picture: Grid) -> tuple[list[Grid], tuple[Part, ...]]:
    """Describe stem and stages over an image; return the maps of stem and stages, too."""
    grid, embedder = stem(c, picture)
    maps, found = [grid], []
    for index, inputs in enumerate(c.inputs):
        grid = strided_map(grid, 3, c.halves[index]) if c.halving[index] else grid
        down = (conv(c, "downsample", inputs, inputs, area(grid), 3, groups=inputs, active=False),) if c.halving[index] else ()
        count = layer_range(c.blocks[index])
        blocks = tuple(block(c, str(position), c.outs[index] if position else inputs, index, area(grid)) for position in count)
        found.append((*down, part("blocks", *blocks, kind="stage")))
        maps.append(grid)
    return maps, (embedder, part("encoder", module_list("stages", *found), kind="encoder"))


def features(c: Config, picture: Grid) -> Features:
    """Describe HGNetV2Backbone over an image; its widths are those the config says, whatever its stages output."""
    maps, parts = hgnet(c, picture)
    return selected_outputs(c, parts, tuple(maps), (c.stem, *c.widths))


def classification(c: Config) -> Part:
    """Describe HGNetV2ForImageClassification: the labels, on the mean of all positions."""
    fits = c.widths[-1] == c.outs[-1]
    seen: Stream = (
        "one"
        if fits
        else unknown(Text("the last stage is {width} wide, and the classifier sees {seen}", width=c.outs[-1], seen=c.widths[-1]))
    )
    return part("", *hgnet(c, c.image)[1], label_head("fc", c.widths[-1], c.labels, stream=seen), kind="model")


CLASSES = {
    "HGNetV2Backbone": lambda c: part("", *features(c, c.image).parts, kind="model"),
    "HGNetV2ForImageClassification": classification,
}

FAMILIES = {"hgnet_v2": Family("hgnet_v2", FIELDS, CLASSES, "HGNetV2Backbone", frozenset(("stage_names",)))}
