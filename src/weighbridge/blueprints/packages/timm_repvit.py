"""timm's RepViT, EdgeTAM's image encoder among them: convolutions of each channel in branches, and MLPs of each place.

Source: arXiv 2307.09283; timm 1.0.31, timm/models/repvit.py, whose live class the tests hold this to.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, height_width, module_list
from weighbridge.blueprints.modules.stage_fields import equal_length, number, numbers
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.blueprints.packages.timm_fastvit import squeeze
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core.length import Stream
from weighbridge.core.parts import batch_norm, conv2d, linear, part
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part

FIELDS = (
    size("channels", "in_chans", 3, "N", "image channels"),
    choice("headed", "num_classes", 1000, read=bool, report_default=False),
    size("labels", "num_classes", 1000, "C", "number of labels", minimum=0),
    numbers("widths", "embed_dim", (48,)),
    numbers("depths", "depth", (2,)),
    number("ratio", "mlp_ratio", 2)._replace(report_default=False),
    number("kernel", "kernel_size", 3)._replace(report_default=False),
    switch("distilled", "distillation", True, report_default=False),
    switch("normed_apart", "legacy", False, report_default=False),
    height_width("image", "img_size", 224)._replace(report_default=False),
    computed("stages", lambda c: equal_length(embed_dim=c.widths, depth=c.depths)),
)


def conv_norm(name: str, inputs: Size, outputs: int, kernel: int, places: Stream, groups: int = 1) -> Part:
    """Describe a convolution and its batch norm."""
    conv = conv2d("c", inputs, outputs, kernel, groups=groups, bias=False, stream=places)
    return part(name, conv, batch_norm("bn", outputs), kind="convolution")


def perceptron(name: str, width: int, ratio: int, places: Stream) -> Part:
    """Describe the MLP of each place."""
    up, down = conv_norm("conv1", width, width * ratio, 1, places), conv_norm("conv2", width * ratio, width, 1, places)
    return part(name, up, down, kind="feed_forward")


def block(c: Config, width: int, gated: bool, places: Stream) -> tuple[Node, ...]:
    """Describe a block: a convolution of each channel beside one of a single place, a gate in every second block, and an MLP."""
    small: tuple[Part, ...] = (conv_norm("conv1", width, width, 1, places, width),)
    if not c.normed_apart:
        small = (conv2d("conv1", width, width, 1, groups=width, stream=places), batch_norm("bn", width))
    mixer = part("token_mixer", conv_norm("conv", width, width, c.kernel, places, width), *small, kind="convolution")
    gate = (squeeze(width, max(8, int(width / 4 + 4) // 8 * 8)),) if gated else ()
    return mixer, *gate, perceptron("channel_mixer", width, c.ratio, places)


def downsample(c: Config, before: int, width: int, seen: Grid, grid: Grid) -> Part:
    """Describe the way from one stage to the next."""
    return part(
        "downsample",
        part("pre_block", *block(c, before, False, area(seen)), kind="layer"),
        conv_norm("spatial_downsample", before, before, c.kernel, area(grid), before),
        conv_norm("channel_downsample", before, width, 1, area(grid)),
        perceptron("ffn", width, c.ratio, area(grid)),
        kind="convolution",
    )


def classifier(name: str, width: int, labels: Size) -> Part:
    """Describe a norm and a linear map to the labels."""
    return part(name, batch_norm("bn", width), linear("l", width, labels), kind="head")


def repvit(c: Config) -> Part:
    """Describe RepVit; two classifiers, where one is taught by another model."""
    first = c.widths[0]
    halved = conv_output(c.image, 3, 2, 1)
    grid = conv_output(halved, 3, 2, 1)
    stem = conv_norm("conv1", c.channels, first // 2, 3, area(halved)), conv_norm("conv2", first // 2, first, 3, area(grid))
    found: list[tuple[Node, ...]] = []
    for index in layer_range(len(c.depths)):
        seen, width = grid, c.widths[index]
        if index:
            grid = conv_output(grid, c.kernel, 2, (c.kernel - 1) // 2)
        down = (downsample(c, c.widths[index - 1], width, seen, grid),) if index else ()
        layers = (
            part("blocks", *block(c, width, number % 2 == 0, area(grid)), kind="layer", repeat=1, indices=(number,))
            for number in layer_range(c.depths[index])
        )
        found.append((*down, *layers))
    heads = (classifier(name, c.widths[-1], c.labels) for name in ("head", "head_dist")[: 1 + c.distilled])
    head = (part("head", *heads, kind="head", stream="one"),) if c.headed else ()
    return part("", part("stem", *stem, kind="embeddings"), module_list("stages", *found), *head, kind="model", stream=area(grid))


IGNORED_KEYS = frozenset("act_layer architecture drop_rate global_pool model_args num_features pretrained_cfg".split())
FAMILIES = {
    "timm_repvit": Family("timm_repvit", FIELDS, {"timm.RepVit": repvit}, "timm.RepVit", IGNORED_KEYS, normalize_config=arguments_of)
}
