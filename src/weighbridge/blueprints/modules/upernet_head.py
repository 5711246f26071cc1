"""Segmentation heads of BEiT and data2vec: UperNet over feature maps of four layers, and an FCN head.

Source: Unified Perceptual Parsing, arXiv 1807.10221; names as in transformers 5.23.0, models/beit/modeling_beit.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_transpose2d
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.fields import Config, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

FIELDS = (
    numbers("scales", "pool_scales", (1, 2, 3, 6)),
    switch("auxiliary", "use_auxiliary_head", True),
    size("auxiliary_width", "auxiliary_channels", 256, "X", "channels of the auxiliary head"),
    number("auxiliary_depth", "auxiliary_num_convs", 1, minimum=0),
    switch("auxiliary_joined", "auxiliary_concat_input", False),
)


def upsample(name: str, width: Size, grid: Grid) -> Part:
    """Describe a transposed convolution that makes four positions of each."""
    return conv_transpose2d(name, width, width, 2, area(grid))


def double_size(grid: Grid) -> Grid:
    """Return a map of twice the height and width.

    >>> double_size((14, 20))
    (28, 40)
    """
    return grid[0] * 2, grid[1] * 2


def conv_norm(name: str, inputs: Size, outputs: Size, kernel: Size, grid: Grid) -> Part:
    """Describe a convolution without bias and a batch norm."""
    inner = conv2d("convolution", inputs, outputs, kernel, bias=False)
    return part(name, inner, batch_norm("normalization", outputs), kind="convolution", stream=area(grid))


def uper_head(c: Config, grid: Grid) -> Part:
    """Describe UperNet over maps of four, two, one and half times the height and width of *grid*."""
    H = c.hidden
    maps = double_size(double_size(grid)), double_size(grid), grid
    smallest = grid[0] // 2, grid[1] // 2
    pooled = (part(str(i), conv_norm("conv", H, H, 1, (s, s)), kind="stage") for i, s in enumerate(c.scales))
    return part(
        "decode_head",
        conv2d("classifier", H, c.labels, 1, stream=area(maps[0])),
        part("psp_modules", part("blocks", *pooled)),
        conv_norm("psp_bottleneck", H + len(c.scales) * H, H, 3, smallest),
        part("lateral_convs", *(conv_norm(str(i), H, H, 1, at) for i, at in enumerate(maps))),
        part("fpn_convs", *(conv_norm(str(i), H, H, 3, at) for i, at in enumerate(maps))),
        conv_norm("fpn_bottleneck", 4 * H, H, 3, maps[0]),
        kind="head",
    )


def auxiliary_head(c: Config, grid: Grid) -> Part:
    """Describe the plain network over the map of one layer, which helps training and runs all the same."""
    width = c.auxiliary_width
    inputs = (c.hidden, *(width,) * c.auxiliary_depth)[: c.auxiliary_depth]
    joined = (conv_norm("conv_cat", c.hidden + width, width, 3, grid),) if c.auxiliary_joined else ()
    return part(
        "auxiliary_head",
        part("convs", *(conv_norm(str(i), inner, width, 3, grid) for i, inner in enumerate(inputs))),
        *joined,
        conv2d("classifier", width, c.labels, 1, stream=area(grid)),
        kind="head",
    )


def with_segmentation_heads(c: Config, grid: Grid, backbone: Part, *pyramid: Part) -> Part:
    """Describe semantic segmentation on the outputs of four layers: what makes a *pyramid* of maps of them, then both networks.

    Raises:
        ConfigError: The config names other than four layers.
    """
    if c.indices is None or len(c.indices) != 4:
        raise ConfigError("segmentation needs four layers", key="out_indices", value=c.indices, hint="such as [3, 5, 7, 11]")
    auxiliary = (auxiliary_head(c, grid),) if c.auxiliary else ()
    return part("", backbone, *pyramid, uper_head(c, grid), *auxiliary, kind="model")
