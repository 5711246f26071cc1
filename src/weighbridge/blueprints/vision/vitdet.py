"""ViTDet: a plain ViT backbone with window attention and residual bottlenecks in configured layers.

Source: arXiv 2203.16527; names as in transformers 5.23.0, models/vitdet/modeling_vitdet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam_vision import window_attention
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    QKV_BIAS,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    VIT_PATCH,
    WHOLE_HEADS,
    feed_forward,
    grid,
    patches,
    projection,
    token,
)
from weighbridge.blueprints.vision.dinov2 import RATIO, WIDENED
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, constant, sequence, sides, size, switch
from weighbridge.core.parts import conv2d, layer_norm, part, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part


def kinds(c: Config) -> list[tuple[bool, bool]]:
    """Return for each layer whether it looks in windows, and whether a bottleneck follows it."""
    return [(index in c.in_windows and c.window > 0, index in c.with_bottleneck) for index in layer_range(c.layers)]


FIELDS = (
    *(VIT_HIDDEN, RATIO, WIDENED, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, *VIT_IMAGE, *VIT_PATCH, CHANNELS, QKV_BIAS),
    *sides("trained", "pretrain_image_size", 224, "T", "image size in training"),
    size("window", "window_size", 0, "W", "attention window size", minimum=0),
    sequence("in_windows", "window_block_indices", lambda c: []),
    sequence("with_bottleneck", "residual_block_indices", lambda c: []),
    switch("absolute", "use_absolute_position_embeddings", True),
    switch("relative", "use_relative_position_embeddings", False),
    constant("kinds", kinds),
)


def bottleneck(c: Config) -> Part:
    """Describe three convolutions by way of half the width."""
    H, half = c.hidden, c.hidden // 2
    return part(
        "residual",
        conv2d("conv1", H, half, 1, bias=False),
        layer_norm("norm1", half),
        conv2d("conv2", half, half, 3, bias=False),
        layer_norm("norm2", half),
        conv2d("conv3", half, H, 1, bias=False),
        layer_norm("norm3", H),
        kind="convolution",
    )


def layer(c: Config, kind: tuple[bool, bool]) -> tuple[Node, ...]:
    """Describe a layer of one kind."""
    H, (window, residual) = c.hidden, kind
    attends = window_attention(c, "attention", grid(c), window=window)
    return (layer_norm("norm1", H), attends, layer_norm("norm2", H), feed_forward(c), *((bottleneck(c),) if residual else ()))


def vitdet(c: Config) -> Part:
    """Describe VitDetModel and VitDetBackbone; its table of positions fits the images in training."""
    trained = (c.trained_height // c.patch_height) * (c.trained_width // c.patch_width)
    table = (token("position_embeddings", c.hidden, trained + 1),) if c.absolute else ()
    embeddings = part("embeddings", *table, projection(c), kind="embeddings")
    layers = stack("layer", c.kinds, c.layers, lambda kind: layer(c, kind))
    return part("", embeddings, part("encoder", *layers, kind="encoder"), kind="model", stream=patches(c))


CLASSES = {"VitDetModel": vitdet, "VitDetBackbone": vitdet}

FAMILIES = {"vitdet": Family("vitdet", uneven_heads(FIELDS), CLASSES, "VitDetModel", IGNORED_KEYS | {"dropout_prob"})}
