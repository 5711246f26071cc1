"""SegGPT: a vision transformer over a prompt image with its mask, stacked on an image without one.

Source: arXiv 2304.03284; names as in transformers 5.23.0, models/seggpt/modeling_seggpt.py. The image and the masks run beside
each other up to the layer of ``merge_index``, where they are added.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam_vision import attention
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS, area
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    QKV_BIAS,
    SQUARE_PATCH,
    VIT_HEADS,
    VIT_LAYERS,
    WHOLE_HEADS,
    grid,
    patches,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, MLP_DIM, Config, constant, sequence, sides, size, switch
from weighbridge.core.parts import conv2d, layer_norm, linear, part, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    HIDDEN.with_default(1024),
    VIT_LAYERS.with_default(24),
    VIT_HEADS.with_default(16),
    *(WHOLE_HEADS, CHANNELS, QKV_BIAS, *SQUARE_PATCH),
    *sides("image", "image_size", (896, 448), "R", "image size"),
    MLP_DIM.with_default(lambda c: c.hidden * 4),
    size("trained", "pretrain_image_size", 224, "T", "image size in training"),
    size("decoder", "decoder_hidden_size", 64, "U", "channels of the head"),
    switch("relative", "use_relative_position_embeddings", True),
    number("merged", "merge_index", 2, minimum=0),
    sequence("used", "intermediate_hidden_state_indices", [5, 11, 17, 23]),
    constant("kinds", lambda c: [2 if index <= c.merged else 1 for index in layer_range(c.layers)]),
)
TOKENS = "mask_token segment_token_input segment_token_prompt type_token_semantic type_token_instance".split()


def layer(c: Config, beside: int) -> tuple[Node, ...]:
    """Describe a layer over one map, or over two beside each other."""
    mlp = linear("lin1", c.hidden, c.mlp), linear("lin2", c.mlp, c.hidden)
    return (
        attention(c, "attention", grid(c), beside),
        part("mlp", *mlp, kind="feed_forward", stream=patches(c) * beside),
        layer_norm("layernorm_before", c.hidden),
        layer_norm("layernorm_after", c.hidden),
    )


def seggpt(c: Config, name: str = "") -> Part:
    """Describe SegGptModel: tokens that distinguish image and mask, and a table of positions that is resized."""
    H, across = c.hidden, c.trained // c.patch_height
    learned = (Tensor(token, (1, 1, 1, H), "embedding") for token in TOKENS)
    patch = conv2d("projection", c.channels, H, (c.patch_height, c.patch_width), stream=patches(c) * 2)
    embeddings = part(
        "embeddings",
        *learned,
        Tensor("position_embeddings", (1, across * across + 1, H), "embedding"),
        part("patch_embeddings", patch, kind="embeddings"),
        kind="embeddings",
    )
    layers = stack("layers", c.kinds, c.layers, lambda beside: layer(c, beside))
    encoder = part("encoder", *layers, layer_norm("layernorm", H), kind="encoder")
    return part(name, embeddings, encoder, kind="backbone" if name else "model", stream=patches(c))


def segmentation(c: Config) -> Part:
    """Describe SegGptForImageSegmentation: the outputs of a few layers, drawn back to pixels."""
    U, inputs = c.decoder, c.hidden * len(c.used)
    pixels = area(grid(c)) * c.patch_height * c.patch_width
    head = part(
        "decoder_pred",
        conv2d("conv", U, U, 3, stream=pixels),
        layer_norm("layernorm", U, stream=pixels),
        conv2d("head", U, 3, 1, stream=pixels),
        kind="head",
    )
    embed = linear("decoder_embed", inputs, c.patch_height * c.patch_width * U, stream=patches(c))
    return part("", seggpt(c, "model"), part("decoder", embed, head, kind="decoder"), kind="model")


CLASSES = {"SegGptModel": seggpt, "SegGptForImageSegmentation": segmentation}

FAMILIES = {"seggpt": Family("seggpt", uneven_heads(FIELDS), CLASSES, "SegGptModel", IGNORED_KEYS | {"beta"})}
