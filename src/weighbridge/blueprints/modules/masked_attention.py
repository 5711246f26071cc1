"""Shared parts of Mask2Former and OneFormer: the pixel decoder with deformable attention, and masked-attention layers.

Source: arXiv 2112.01527 and 2211.06220; names as in transformers 5.23.0, models/mask2former/modeling_mask2former.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.backbones import Features, features
from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import area, module_list
from weighbridge.blueprints.modules.rt_detr_encoder import deformable_attention
from weighbridge.config.fields import Config, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Every, Node, Part, Tensor

LEVELS = 3
"""The maps that are looked at, whatever the backbone hands on."""

SWIN = {"model_type": "swin", "out_features": ["stage1", "stage2", "stage3", "stage4"]}


def joined_maps(c: Config) -> int:
    """Return how many larger maps are joined: as many as halve the least stride attended to to the common one."""
    stride: int = min(c.strides[-LEVELS:])
    if stride & (stride - 1) or c.common & (c.common - 1) or stride < c.common:
        raise ConfigError(
            Text("a stride of {stride} is not halved to {common}", stride=stride, common=c.common),
            key="common_stride",
            value=c.common,
            hint="powers of two",
        )
    return int(stride // c.common).bit_length() - 1


def divides_into_groups(key: str) -> Callable[[Config], bool]:
    """Return what refuses a width that the norms cannot split into 32 groups, by its key."""

    def rule(c: Config) -> bool:
        if c.feature % 32:
            raise ConfigError(
                Text("norms of 32 groups over {feature} channels", feature=c.feature), key=key, value=c.feature, hint="a multiple of 32"
            )
        return True

    return rule


def backbone_features(c: Config) -> Features:
    """Describe the backbone."""
    return features(c.backbone, c.image)


def map_areas(seen: Features) -> list[Stream]:
    """Return the positions of the maps attended to, the smallest first."""
    if len(seen.maps) < LEVELS:
        return [unknown(Text("three maps are looked at, and the backbone hands on {count}", count=len(seen.maps)))] * LEVELS
    return [area(grid) for grid in seen.maps[: -LEVELS - 1 : -1]]


def encoder(c: Config, memory: Stream) -> Part:
    """Describe the encoder's layers over the positions of three maps."""
    F = c.feature
    exact(F, c.heads)
    feed = linear("fc1", F, c.encoder_mlp), linear("fc2", c.encoder_mlp, F), layer_norm("final_layer_norm", F)
    points = deformable_attention(with_changes(c, hidden=F), c.heads, LEVELS, 4, memory, name="self_attn")
    layers = part("layers", points, layer_norm("self_attn_layer_norm", F), *feed, kind="layer", repeat=c.encoder_layers)
    return part("encoder", layers, kind="encoder", stream=memory)


def pixel_module(c: Config, seen: Features) -> tuple[Part, Stream]:
    """Describe backbone and decoder of pixels, which joins the largest maps; return the positions of the map for masks, too."""
    F, streams, memory = c.feature, map_areas(seen), unknown("three maps are looked at")
    widths, larger = seen.widths[: -LEVELS - 1 : -1], list(zip(seen.maps, seen.widths, strict=True))[: c.joined]
    inputs: list[tuple[Node, ...]] = [
        (conv2d("0", w, F, 1, stream=s), group_norm("1", F, 32, stream=s)) for w, s in zip(widths, streams, strict=False)
    ]
    total: Size = 0
    for grid in seen.maps[-LEVELS:]:
        total = total + area(grid)
    found: list[Part] = []
    for index, (grid, width) in enumerate(larger, 1):
        found.append(part(f"adapter_{index}", conv2d("0", width, F, 1, bias=False), group_norm("1", F, 32), kind="neck", stream=area(grid)))
        found.append(part(f"layer_{index}", conv2d("0", F, F, 3, bias=False), group_norm("1", F, 32), kind="neck", stream=area(grid)))
    largest: Stream = area(larger[0][0]) if larger else streams[-1]
    parts: tuple[Node, ...] = (
        Tensor("level_embed", (LEVELS, F), "embedding"),
        module_list("input_projections", *inputs, kind="projection"),
        encoder(c, total if len(seen.maps) >= LEVELS else memory),
        conv2d("mask_projection", F, c.mask, 1, stream=largest),
        *found,
    )
    levels: tuple[Node, ...] = (part("encoder", *seen.parts, kind="vision"), part("decoder", *parts, kind="decoder"))
    return part("pixel_level_module", *levels, kind="vision"), largest


def packed_attention(name: str, hidden: Size, heads: Size, keys: Stream, queries: Stream) -> Part:
    """Describe attention as torch has it: one tensor for the weights of queries, keys and values."""
    weights = Tensor("in_proj_weight", (3 * hidden, hidden), "weight"), Tensor("in_proj_bias", (3 * hidden,), "bias")
    return part(
        name,
        part("", *weights, stream=0),  # a third of it sees the queries, the rest the keys
        linear("out_proj", hidden, hidden),
        matmul("projections", (queries, hidden, hidden), (keys, 2 * hidden, hidden)),
        attend(heads=heads, head_dim=exact(hidden, heads), queries=queries, keys=keys),
        kind="cross_attention",
        stream=queries,
    )


def layers_in_turn(name: str, count: int, streams: list[Stream], layer: Callable[[Stream], tuple[Node, ...]]) -> tuple[Part, ...]:
    """Describe layers that attend to the maps one after the other."""
    found = []
    for turn, places in enumerate(streams[:count]):
        found.append(part(name, *layer(places), kind="layer", repeat=len(range(turn, count, LEVELS)), indices=Every(turn, LEVELS)))
    return tuple(found)


def mlp_head(*widths: Size) -> tuple[Part, ...]:
    """Describe linear maps in sequence, each in a block of its own."""
    maps = (part(str(index), linear("0", widths[index], widths[index + 1]), kind="head") for index in range(len(widths) - 1))
    return tuple(maps)


def loss_weights(labels: Size) -> Part:
    """Describe the weights that the loss gives each class, the last of them to queries of nothing: saved, and not learned."""
    return part("criterion", Tensor("empty_weight", (labels + 1,), "buffer"), kind="loss")


def mask_logits(c: Config, largest: Stream) -> Node:
    """Describe how every query's mask is drawn on the largest map."""
    return matmul("masks", (c.queries, largest, c.mask))
