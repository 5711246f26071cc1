"""DETR's mask head: attention maps of every query, and a small convolutional network over them.

Source: arXiv 2005.12872, section 4.4; names as in transformers 5.23.0, models/detr/modeling_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import area, module_list
from weighbridge.config.fields import Config
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part


def block(name: str, inputs: Size, outs: Size) -> Part:
    """Describe a convolution over 3 by 3 positions and a norm of groups."""
    return part(name, conv2d("conv", inputs, outs, 3), group_norm("norm", outs), kind="convolution")


def mask_head(c: Config, seen: Features) -> Part:
    """Describe the head that draws a mask of every query on ever larger maps, each joined by the backbone's."""
    if len(seen.maps) < 3:
        raise ConfigError(
            Text("a head of masks needs three maps, and the backbone hands on {count}", count=len(seen.maps)),
            key="backbone_config.out_features",
        )
    if not c.masks:
        raise ConfigError("the norms of the head of masks do not divide by 8", key="d_model", hint="a multiple of 128, with 8 heads")
    H, wide = c.hidden, c.hidden + c.encoder_heads
    last, large = area(seen.maps[-1]) * c.queries, list(zip(seen.maps, seen.widths, strict=True))[2::-1]
    stages = tuple(
        (
            conv2d("fpn_adapter", width, H // 2**power, 1, stream=area(grid) * c.queries),
            replace(block("refine", H // 2**power, H // 2 ** (power + 1)), stream=area(grid) * c.queries),
        )
        for power, (grid, width) in enumerate(large, 1)
    )
    first = (replace(block("conv1", wide, wide), stream=last), replace(block("conv2", wide, H // 2), stream=last))
    final = conv2d("output_conv", H // 16, 1, 3, stream=area(seen.maps[0]) * c.queries)
    return part("mask_head", *first, module_list("fpn_stages", *stages), final, kind="head")


def map_attention(c: Config, seen: Features) -> Part:
    """Describe how much each query attends to each place, which is not multiplied with values."""
    places = area(seen.maps[-1])
    scores = matmul("scores", (c.encoder_heads, c.queries, places, exact(c.hidden, c.encoder_heads)))
    parts = linear("q_proj", c.hidden, c.hidden, stream=c.queries), linear("k_proj", c.hidden, c.hidden, stream=places), scores
    return part("bbox_attention", *parts, kind="attention")
