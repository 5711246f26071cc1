"""Shared parts of pyramid vision transformers (PVT, PVT v2, GLPN): spatial-reduction attention, patch embeddings.

Source: arXiv 2102.12122, 2106.13797 and 2201.07436; names as in transformers 5.23.0, models/pvt/modeling_pvt.py,
models/pvt_v2/modeling_pvt_v2.py and models/glpn/modeling_glpn.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers
from weighbridge.config.fields import Config
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part

SHARED = (
    CHANNELS,
    number("stage_count", "num_encoder_blocks", 4),
    numbers("depths", "depths", (2, 2, 2, 2)),
    numbers("strides", "strides", (4, 2, 2, 2)),
    numbers("heads", "num_attention_heads", (1, 2, 5, 8)),
)


def stages_of(c: Config) -> int:
    """Return how many stages there are, which every list must say alike."""
    lists = {"depths": c.depths, "strides": c.strides, "hidden_sizes": c.widths, "patch_sizes": c.patches, "mlp_ratios": c.ratios}
    return first_stages("num_encoder_blocks", c.stage_count, **lists, reductions=c.reductions, num_attention_heads=c.heads)


def queries(c: Config, index: int, keys: Stream) -> tuple[Node, ...]:
    """Describe queries, keys and values of a stage, and the attention among them."""
    width, heads = c.widths[index], c.heads[index]
    return (
        linear("query", width, width, bias=c.qkv_bias),
        linear("key", width, width, bias=c.qkv_bias, stream=keys),
        linear("value", width, width, bias=c.qkv_bias, stream=keys),
        attend(heads=heads, head_dim=exact(width, heads), keys=keys),
    )


def reduction(name: str, width: int, kernel: int, places: Stream) -> tuple[Part, ...]:
    """Describe the convolution that makes the map of keys smaller, and its norm."""
    return conv2d(name, width, width, kernel, stream=places), layer_norm("layer_norm", width, stream=places)


def mlp(c: Config, index: int) -> Part:
    """Describe the feed-forward network, with a depthwise convolution inside where patches overlap."""
    width, inner = c.widths[index], c.widths[index] * c.ratios[index]
    depthwise = (part("dwconv", conv2d("dwconv", inner, inner, 3, groups=inner), kind="convolution"),) if c.convolved else ()
    return part("mlp", linear("dense1", width, inner), *depthwise, linear("dense2", inner, width), kind="feed_forward")


def layer(c: Config, name: str, index: int, attention: Part) -> Part:
    """Describe the layers of a stage."""
    width = c.widths[index]
    parts = layer_norm("layer_norm_1", width), attention, layer_norm("layer_norm_2", width), mlp(c, index)
    return part(name, *parts, kind="layer", repeat=c.depths[index])


def attention(c: Config, index: int, grid: Grid, reduced: str, tokens: Size) -> Part:
    """Describe attention as BERT names it, to a map of keys that a strided convolution makes."""
    width, by = c.widths[index], c.reductions[index]
    small: Stream = area(conv_output(grid, by, by)) if by > 1 else tokens
    if by > 1 and tokens != area(grid):
        small = unknown("the last stage's map cannot be made smaller with a class token among its positions")
    fewer = reduction(reduced, width, by, small) if by > 1 else ()
    inner = part("self", *queries(c, index, small), *fewer, kind="self_attention")
    return part("attention", inner, part("output", linear("dense", width, width), kind="self_attention"), kind="self_attention")


def overlapping_maps(c: Config) -> list[Grid]:
    """Return the map of every stage; patches overlap, padded by half of one."""
    found = [c.image]
    for patch, stride in zip(c.patches[: c.stages], c.strides, strict=False):
        found.append(conv_output(found[-1], patch, stride, patch // 2))
    return found[1:]


def overlapping_patches(c: Config, index: int) -> tuple[Part, ...]:
    """Describe the patches of a stage."""
    inputs, width = c.widths[index - 1] if index else c.channels, c.widths[index]
    return conv2d("proj", inputs, width, c.patches[index]), layer_norm("layer_norm", width)


def with_stream(module: Part, places: Stream) -> Part:
    """Return a part that sees these positions."""
    return replace(module, stream=places)
