"""diffusers: the U-Net of Stable Video Diffusion, each block of which works over places and then over frames.

Source: arXiv 2311.15127; diffusers 0.42.1, models/unets/{unet_spatio_temporal_condition,unet_3d_blocks}.py,
models/transformers/transformer_temporal.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, numbers
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, feed_forward, two_maps
from weighbridge.blueprints.packages.diffusers_autoencoders import mixed_resnet
from weighbridge.blueprints.packages.diffusers_unet import (
    each_stage,
    one_per_stage,
    read_kinds,
    resnets,
    sampler,
    text_layer,
    time_embedding,
    transformer_sizes,
)
from weighbridge.config.fields import Config, choice, computed, size
from weighbridge.core.parts import conv2d, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

DOWN = ("DownBlockSpatioTemporal", "CrossAttnDownBlockSpatioTemporal")
UP = ("UpBlockSpatioTemporal", "CrossAttnUpBlockSpatioTemporal")
UNET = (
    size("channels", "in_channels", 8, "N", "latent channels"),
    size("outputs", "out_channels", 4, "O", "output channels"),
    numbers("widths", "block_out_channels", (320, 640, 1280, 1280)),
    choice("down", "down_block_types", [DOWN[1], DOWN[1], DOWN[1], DOWN[0]], report_default=False),
    choice("up", "up_block_types", [UP[0], UP[1], UP[1], UP[1]], report_default=False),
    computed("down_attends", lambda c: read_kinds("down_block_types", c.down, DOWN, len(c.widths))),
    computed("up_attends", lambda c: read_kinds("up_block_types", c.up, UP, len(c.widths))),
    size("conditions", "projection_class_embeddings_input_dim", 768, "Q", "width of further conditions"),
    each_stage("depth", "layers_per_block", 2, WRITTEN_OUT),
    each_stage("text", "cross_attention_dim", 1024),
    each_stage("transformers", "transformer_layers_per_block", 1),
    each_stage("heads", "num_attention_heads", [5, 10, 20, 20]),
)


def transformer(c: Config, width: int, stage: int) -> tuple[Node, ...]:
    """Describe layers over the places of a frame, layers over the frames at each place, and the learned share of both."""
    text, heads, layers = transformer_sizes(c, width, stage, "num_attention_heads")
    first, *rest = text_layer(width, text, heads)
    frames = layer_norm("norm_in", width), feed_forward("ff_in", width, gated=True), first, *rest
    places = part("time_pos_embed", linear("linear_1", width, 4 * width), linear("linear_2", 4 * width, width), kind="embeddings")
    return (
        group_norm("norm", width),
        linear("proj_in", width, width),
        part("transformer_blocks", first, *rest, kind="layer", repeat=layers),
        part("temporal_transformer_blocks", *frames, kind="layer", repeat=layers),
        places,
        part("time_mixer", Tensor("mix_factor", (1,), "gain"), kind="mixer"),
        linear("proj_out", width, width),
    )


def stage_parts(c: Config, stage: int, inputs: Sequence[int], width: int, *, attends: bool, time: Size) -> tuple[Part, ...]:
    """Describe a stage: residual blocks of these *inputs*, each with a transformer behind it where it *attends*."""
    blocks = resnets(*(mixed_resnet(before, width, time) for before in inputs))
    attentions = module_list("attentions", *(transformer(c, width, stage) for _ in inputs), kind="block")
    return (attentions, blocks) if attends else (blocks,)


def unet(c: Config) -> Part:
    """Describe UNetSpatioTemporalConditionModel: an image's U-Net, with as much again for the frames."""
    widths, count = c.widths, len(c.widths)
    time, last, depths = 4 * widths[0], count - 1, one_per_stage(c.depth, "layers_per_block", count)
    down, up, before = [], [], widths[0]
    for stage, width in enumerate(widths):
        inner = stage_parts(c, stage, (before, *(width,) * (depths[stage] - 1)), width, attends=c.down_attends[stage], time=time)
        down.append((*inner, *(() if stage == last else (sampler("downsamplers", width),))))
        before = width
    turned = widths[::-1]
    for index, width in enumerate(turned):
        below, blocks = turned[min(index + 1, last)], depths[last - index] + 1
        inputs = [(before if block == 0 else width) + (below if block == blocks - 1 else width) for block in range(blocks)]
        inner = stage_parts(c, last - index, inputs, width, attends=c.up_attends[index], time=time)
        up.append((*inner, *(() if index == last else (sampler("upsamplers", width),))))
        before = width
    attention = module_list("attentions", transformer(c, widths[-1], last), kind="block")
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], 3),
        time_embedding(c),
        two_maps("add_embedding", c.conditions, time),
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        part("mid_block", attention, resnets(*(mixed_resnet(widths[-1], widths[-1], time) for _ in range(2))), kind="stage"),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        kind="model",
        stream=PASS,
    )


KEYS = frozenset("addition_time_embed_dim num_frames".split())
FAMILIES = {"diffusers_unet_video": diffusers_family("diffusers_unet_video", UNET, "UNetSpatioTemporalConditionModel", unet, KEYS)}
