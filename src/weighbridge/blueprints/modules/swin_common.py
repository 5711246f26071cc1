"""Shared parts of Swin, Swin v2 and Swin2SR: fields, stage sizes, patch embedding and merging, masked-image decoder.

Source: arXiv 2103.14030; names as in transformers 5.23.0, models/swin/modeling_swin.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, height_width, image
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, out_stages, ratio
from weighbridge.config.fields import LABELS, Config, computed, constant, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor


def doublings(c: Config) -> int:
    """Say how often the width has doubled before the decoder of masked images: the stages less one, or what ``num_layers`` says of them.

    Raises:
        ConfigError: A width that no model has.
    """
    stages = len(c.depths) if c.stated is None else int(c.stated)
    if stages > 40:
        raise ConfigError("the width doubles with each stage, and 40 stages are more than any model has", key="num_layers", value=stages)
    return stages - 1


FIELDS = (
    CHANNELS,
    size("hidden", "embed_dim", 96, "H", "width of the first stage"),
    numbers("depths", "depths", (2, 2, 6, 2)),
    numbers("heads", "num_heads", (3, 6, 12, 24), "num_attention_heads"),
    computed("stages", lambda c: first_stages("depths", len(c.depths), num_heads=c.heads)),
    number("window", "window_size", 7),
    ratio("mlp_ratio", "mlp_ratio", 4.0),
    image(),
    height_width("patch", "patch_size", 4),
    computed("picture", lambda c: c.image),
    replace(number("stated", "num_layers", None, "num_hidden_layers", minimum=0), report_default=False),
    computed("doublings", doublings),
    size("stride", "encoder_stride", 32, "E", "pixels per position of the last map"),
    switch("qkv_bias", "qkv_bias", True),
    switch("absolute", "use_absolute_embeddings", False),
    switch("masked", "use_mask_token", False, report_default=False),
    *out_stages(lambda c: len(c.depths)),
    constant("extra_position", False),
    LABELS,
)

MORE_IGNORED_KEYS = frozenset("add_pooling_layer drop_path_rate hidden_size path_norm stage_names".split())


def stage_maps(c: Config) -> list[tuple[int, int]]:
    """Return the map of every stage: patches, with the image padded to whole ones, then halves of it, padded too."""
    grid = tuple(-(-side // patch) for side, patch in zip(c.picture, c.patch, strict=True))
    found = [(grid[0], grid[1])]
    for _ in c.depths[1:]:
        found.append(((found[-1][0] + 1) // 2, (found[-1][1] + 1) // 2))
    return found


def embeddings(c: Config, masked: bool) -> Part:
    """Describe patches, with a vector for hidden ones and a table of positions where there are."""
    cut: Grid = (c.image[0] // c.patch[0], c.image[1] // c.patch[1])
    grid = stage_maps(c)[0]
    positions = Tensor("position_embeddings", (1, area(cut) + (1 if c.extra_position else 0), c.hidden), "embedding")
    parts = (
        *((Tensor("mask_token", (1, 1, c.hidden), "embedding"),) if masked else ()),
        *((positions,) if c.absolute else ()),
        part("patch_embeddings", conv2d("projection", c.channels, c.hidden, c.patch), kind="embeddings"),
        layer_norm("norm", c.hidden),
    )
    misfit = c.absolute and (c.extra_position or cut != grid)
    return part(
        "embeddings", *parts, kind="embeddings", stream=unknown("positions and patches are not equally many") if misfit else area(grid)
    )


def pixel_decoder(c: Config) -> Part:
    """Describe the decoder of masked images, which takes the last map for a square."""
    height, width = stage_maps(c)[-1]
    inputs = c.hidden * 2**c.doublings if c.doublings >= 0 else c.hidden // 2
    decoder = conv2d("0", inputs, c.stride * c.stride * c.channels, 1)
    return part("decoder", decoder, kind="head", stream=height * width if height == width else unknown("the last map is not square"))


def patch_merging(width: Size, normed: Size, grid: Grid) -> Part:
    """Describe how two by two positions become one; the norm is of their joint width, or of what comes out."""
    parts = linear("reduction", 4 * width, 2 * width, bias=False), layer_norm("norm", normed)
    return part("downsample", *parts, kind="projection", stream=area(grid))


def output_maps(c: Config) -> tuple[tuple[Grid, ...], tuple[Size, ...]]:
    """Return the maps that a backbone can output, with their widths: patches, then every stage before it is halved."""
    grids = stage_maps(c)
    return (grids[0], *grids), (c.hidden, *(c.hidden * 2**index for index in range(len(grids))))


def norms(c: Config) -> Part:
    """Describe a norm for every map that a backbone outputs."""
    grids, widths = output_maps(c)
    found = (layer_norm(f"stage{index}" if index else "stem", widths[index], stream=area(grids[index])) for index in c.outputs)
    return part("hidden_states_norms", *found, kind="norms")
