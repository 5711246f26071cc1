"""Convolutions in front of timm's hybrid vision transformers: ViTamin's stages, MobileCLIP's stem, the ResNets of the first hybrids.

Source: timm 1.0.31, timm/models/{vitamin,vision_transformer_hybrid,resnetv2}.py and timm/layers/hybrid_embed.py. Their constructor gets the
network itself (``embed_layer``); a config here says what it is made of (``timm_models.json``).
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, module_list
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

STEMS = {"mobile_stages": ("width", "widths", "depths"), "conv_stem": ("widths", "kernels", "strides"), "resnet": ("depths",)}
"""The networks described, each with the numbers that it takes."""


def stem(value: Any) -> Mapping[str, Any] | None:
    """Take what stands in front: null, or a network by its kind and its numbers.

    >>> stem(None), stem({"kind": "resnet", "depths": [3, 4, 9]})["depths"]
    (None, [3, 4, 9])
    """
    if value is None:
        return None
    kind = value.get("kind") if isinstance(value, Mapping) else None
    if kind not in STEMS or any(not _are_sizes(value.get(key)) for key in STEMS[kind]):
        raise ConfigError(Text("timm's {value!r:.60} is not described", value=value), key="embed_layer", value=value)
    return dict(value)


def _are_sizes(value: Any) -> bool:
    return all(type(entry) is int and entry > 0 for entry in (value if isinstance(value, list) else (value,)))


def refuse_other_width(c: Config) -> bool:
    """Refuse a transformer of another width than what a network without projection outputs."""
    if c.stem is not None and c.stem["kind"] != "resnet" and c.stated_width != c.stem["widths"][-1]:
        raise ConfigError(Text("the network in front puts out {width}", width=c.stem["widths"][-1]), key="embed_dim", value=c.stated_width)
    return True


def patch_embed(c: Config) -> tuple[tuple[Part, ...], Grid]:
    """Describe the network and the projection after it, if there is one, and return the grid of patches.

    A network that no projection follows outputs the transformer's width itself.
    """
    kind = c.stem["kind"]
    image = (c.image_height, c.image_width)
    children, grid, width = {"mobile_stages": mobile_stages, "conv_stem": conv_stem, "resnet": resnet}[kind](c, image)
    inner = part("backbone", *children, kind="convolutions")
    if kind != "resnet":
        return (inner,), grid
    height, across = (side // patch for side, patch in zip(grid, (c.patch_height, c.patch_width), strict=True))
    proj = conv2d("proj", width, c.hidden, (c.patch_height, c.patch_width), stream=height * across)
    return (inner, proj), (height, across)


def conv_stem(c: Config, image: Grid) -> tuple[tuple[Part, ...], Grid, Size]:
    """Describe convolutions with a batch norm after each but the last, which has a bias instead."""
    found, inputs, grid, last = [], c.channels, image, len(c.stem["widths"]) - 1
    for index, (width, kernel, stride) in enumerate(zip(*(c.stem[key] for key in STEMS["conv_stem"]), strict=True)):
        grid = conv_output(grid, kernel, stride)
        conv = conv2d("conv", inputs, width, kernel, bias=index == last)
        found.append((conv, batch_norm("bn", width)) if index < last else (conv,))
        found[-1] = (part("", *found[-1], stream=area(grid)),)
        inputs = width
    return tuple(part(str(index), *children, kind="convolution") for index, children in enumerate(found)), grid, inputs


def mobile_block(inputs: Size, width: int, seen: Grid, grid: Grid) -> tuple[Node, ...]:
    """Describe an inverted bottleneck after a norm, and the convolution beside it where widths differ."""
    inner = (4 * width + 4) // 8 * 8
    beside: tuple[Part, ...] = ()
    if seen is not grid and inputs != width:  # pooled, then widened
        beside = (part("shortcut", conv2d("expand", inputs, width, 1, stream=area(grid)), kind="shortcut"),)
    elif inputs != width:
        beside = (conv2d("shortcut", inputs, width, 1, stream=area(grid)),)
    return (
        *beside,
        layer_norm("pre_norm", inputs, stream=area(seen)),
        conv2d("conv1_1x1", inputs, inner, 1, stream=area(seen)),
        conv2d("conv2_kxk", inner, inner, 3, groups=inner, stream=area(grid)),
        conv2d("conv3_1x1", inner, width, 1, stream=area(grid)),
    )


def mobile_stages(c: Config, image: Grid) -> tuple[tuple[Part, ...], Grid, Size]:
    """Describe ViTamin's first two stages (arXiv 2404.02132), a stem before them and a convolution after."""
    width, grid = c.stem["width"], conv_output(image, 3, 2, 1)
    first = conv2d("conv1", c.channels, width, 3), layer_norm("norm1", width), conv2d("conv2", width, width, 3)
    before, inputs = part("stem", *first, kind="embeddings", stream=area(grid)), width
    stages = []
    for outputs, depth in zip(c.stem["widths"][:2], c.stem["depths"], strict=False):
        seen, grid = grid, conv_output(grid, 3, 2, 1)
        head = part("0", *mobile_block(inputs, outputs, seen, grid), kind="layer")
        rest = (part(str(index), *mobile_block(outputs, outputs, grid, grid), kind="layer") for index in range(1, depth))
        stages.append((head, *rest))
        inputs = outputs
    seen, grid = grid, conv_output(grid, 3, 2, 1)
    outputs = c.stem["widths"][2]
    pool = part("pool", conv2d("proj", inputs, outputs, 3, stream=area(grid)), layer_norm("norm", inputs, stream=area(seen)))
    return (before, module_list("stages", *stages), pool), grid, outputs


def _halve(grid: Grid) -> Grid:
    """Return the map that a stride of two leaves where the edges are filled up."""
    return (grid[0] + 1) // 2, (grid[1] + 1) // 2


def bottleneck(inputs: Size, inner: int, seen: Grid, grid: Grid, *, first: bool) -> tuple[Node, ...]:
    """Describe a residual block of three convolutions, each with a norm over groups after it."""
    wide = 4 * inner
    beside = conv2d("conv", inputs, wide, 1, bias=False), group_norm("norm", wide)
    return (
        *((part("downsample", *beside, kind="shortcut", stream=area(grid)),) if first else ()),
        conv2d("conv1", inputs, inner, 1, bias=False, stream=area(seen)),
        group_norm("norm1", inner, stream=area(seen)),
        conv2d("conv2", inner, inner, 3, bias=False, stream=area(grid)),
        group_norm("norm2", inner, stream=area(grid)),
        conv2d("conv3", inner, wide, 1, bias=False, stream=area(grid)),
        group_norm("norm3", wide, stream=area(grid)),
    )


def resnet(c: Config, image: Grid) -> tuple[tuple[Part, ...], Grid, Size]:
    """Describe the ResNet in front of the first hybrids; with no stages its stem alone."""
    grid = _halve(image)
    first = conv2d("conv", c.channels, 64, 7, bias=False, stream=area(grid)), group_norm("norm", 64, stream=area(grid))
    grid, inputs = _halve(grid), 64
    if not c.stem["depths"]:
        return first, grid, inputs
    stages = []
    for index, depth in enumerate(c.stem["depths"]):
        seen, inner, blocks = grid, 64 * 2**index, []
        grid = _halve(grid) if index else grid
        for number in range(depth):
            before = seen if number == 0 else grid
            blocks.append(bottleneck(inputs, inner, before, grid, first=number == 0))
            inputs = 4 * inner
        stages.append((module_list("blocks", *blocks, kind="layer"),))
    return (part("stem", *first, kind="embeddings"), module_list("stages", *stages)), grid, inputs
