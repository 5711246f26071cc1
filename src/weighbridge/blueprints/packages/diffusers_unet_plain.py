"""diffusers: the U-Net that removes noise from images themselves, after no text (DDPM; Ho et al., 2020).

Source: arXiv 2006.11239; diffusers 0.42.1, models/unets/{unet_2d,unet_2d_blocks}.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers, optional_number
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, kind_or_none, two_maps
from weighbridge.blueprints.packages.diffusers_unet import read_kinds, resnet, resnets, sampler, square_attention
from weighbridge.config.fields import Config, choice, computed, optional, size, switch
from weighbridge.core.parts import conv2d, embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

DOWN, UP = ("DownBlock2D", "AttnDownBlock2D"), ("UpBlock2D", "AttnUpBlock2D")
UNET = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    numbers("widths", "block_out_channels", (224, 448, 672, 896)),
    choice("down", "down_block_types", [DOWN[0], DOWN[1], DOWN[1], DOWN[1]], report_default=False),
    choice("up", "up_block_types", [UP[1], UP[1], UP[1], UP[0]], report_default=False),
    computed("down_attends", lambda c: read_kinds("down_block_types", c.down, DOWN, len(c.widths))),
    computed("up_attends", lambda c: read_kinds("up_block_types", c.up, UP, len(c.widths))),
    replace(kind_or_none("middle", "mid_block_type", "UNetMidBlock2D"), default="UNetMidBlock2D"),
    number("depth", "layers_per_block", 2, most=WRITTEN_OUT),
    optional_number("head_dim", "attention_head_dim", 8),
    switch("middle_attends", "add_attention", True, report_default=False),
    optional("time", "time_embedding_dim", None, "E", "width of the time embedding"),
    kind_or_none("class_kind", "class_embed_type", "timestep", "identity"),
    optional("classes", "num_class_embeds", None, "C", "classes"),
    read_none("time_embedding_type", "positional"),
    read_none("resnet_time_scale_shift", "default"),
    *(read_none(key, "conv") for key in ("downsample_type", "upsample_type")),
)


def _attentions(c: Config, width: int, count: int) -> tuple[Part, ...]:
    return (module_list("attentions", *(square_attention(width, c.head_dim) for _ in range(count)), kind="self_attention"),)


def _stage(c: Config, inputs: list[int], width: int, time: Size, *, attends: bool) -> tuple[Part, ...]:
    """Describe residual blocks of these *inputs*, each with attention behind it where the stage *attends*."""
    blocks = resnets(*(resnet(before, width, time) for before in inputs))
    return *(_attentions(c, width, len(inputs)) if attends else ()), blocks


def _classes(c: Config, time: Size) -> tuple[Part, ...]:
    if c.class_kind == "timestep":
        return (two_maps("class_embedding", c.widths[0], time),)
    return (embedding("class_embedding", c.classes, time),) if c.class_kind is None and c.classes is not None else ()


def unet(c: Config) -> Part:
    """Describe UNet2DModel: stages down, a middle and stages up, of which some attend to their own map."""
    widths, last = c.widths, len(c.widths) - 1
    time = 4 * widths[0] if c.time is None else c.time
    down, up, before = [], [], widths[0]
    for stage, width in enumerate(widths):
        inner = _stage(c, [before] + [width] * (c.depth - 1), width, time, attends=c.down_attends[stage])
        down.append((*inner, *(() if stage == last else (sampler("downsamplers", width),))))
        before = width
    turned = widths[::-1]
    for index, width in enumerate(turned):
        below, blocks = turned[min(index + 1, last)], c.depth + 1
        inputs = [(before if block == 0 else width) + (below if block == blocks - 1 else width) for block in range(blocks)]
        inner = _stage(c, inputs, width, time, attends=c.up_attends[index])
        up.append((*inner, *(() if index == last else (sampler("upsamplers", width),))))
        before = width
    middle = _stage(c, [widths[-1]] * 2, widths[-1], time, attends=False)
    attended = _attentions(c, widths[-1], 1) if c.middle_attends else ()
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], 3),
        part("time_embedding", linear("linear_1", widths[0], time), linear("linear_2", time, time), kind="embeddings"),
        *_classes(c, time),
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        *(() if c.middle is None else (part("mid_block", *attended, *middle, kind="stage"),)),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        kind="model",
        stream=PASS,
    )


KEYS = frozenset(
    """center_input_sample freq_shift flip_sin_to_cos mid_block_scale_factor downsample_padding attn_norm_num_groups
    num_train_timesteps""".split()
)
FAMILIES = {"diffusers_unet_plain": diffusers_family("diffusers_unet_plain", UNET, "UNet2DModel", unet, KEYS)}
