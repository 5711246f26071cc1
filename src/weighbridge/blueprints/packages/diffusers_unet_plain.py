"""diffusers: the U-Net that removes noise from images themselves, after no text (DDPM, Ho et al., 2020; score networks, Song et al., 2021).

Source: arXiv 2006.11239 and 2011.13456; diffusers 0.42.1, models/unets/{unet_2d,unet_2d_blocks}.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers, optional_number
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, kind_or_none, two_maps
from weighbridge.blueprints.packages.diffusers_unet import named_kinds, resnet, resnets, sampler, square_attention
from weighbridge.config.fields import Config, choice, computed, optional, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import conv2d, embedding, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

DOWN = ("DownBlock2D", "AttnDownBlock2D", "ResnetDownsampleBlock2D", "SkipDownBlock2D", "AttnSkipDownBlock2D")
UP = ("UpBlock2D", "AttnUpBlock2D", "ResnetUpsampleBlock2D", "SkipUpBlock2D", "AttnSkipUpBlock2D")
IMAGE = 3
"""Channels of the image that is led past the stages of a network with skips, whatever the network's own are."""

UNET = (
    size("channels", "in_channels", 3, "N", "channels of the image"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    numbers("widths", "block_out_channels", (224, 448, 672, 896)),
    choice("down", "down_block_types", [DOWN[0], DOWN[1], DOWN[1], DOWN[1]], report_default=False),
    choice("up", "up_block_types", [UP[1], UP[1], UP[1], UP[0]], report_default=False),
    computed("down_kinds", lambda c: named_kinds("down_block_types", c.down, DOWN, len(c.widths))),
    computed("up_kinds", lambda c: named_kinds("up_block_types", c.up, UP, len(c.widths))),
    replace(kind_or_none("middle", "mid_block_type", "UNetMidBlock2D"), default="UNetMidBlock2D"),
    number("depth", "layers_per_block", 2, most=WRITTEN_OUT),
    optional_number("head_dim", "attention_head_dim", 8),
    switch("middle_attends", "add_attention", True, report_default=False),
    optional_number("middle_groups", "attn_norm_num_groups", None),
    optional("time", "time_embedding_dim", None, "E", "width of the time embedding"),
    kind_or_none("class_kind", "class_embed_type", "timestep", "identity"),
    optional("classes", "num_class_embeds", None, "C", "classes"),
    choice(
        "time_kind",
        "time_embedding_type",
        "positional",
        read=one_of("time_embedding_type", "positional", "fourier", "learned"),
        report_default=False,
    ),
    optional("steps", "num_train_timesteps", None, "T", "steps of the noise"),
    choice(
        "shift",
        "resnet_time_scale_shift",
        "default",
        read=one_of("resnet_time_scale_shift", "default", "scale_shift"),
        report_default=False,
    ),
    kind_or_none("down_sampler", "downsample_type", "conv", "resnet"),
    kind_or_none("up_sampler", "upsample_type", "conv", "resnet"),
)


def _attentions(c: Config, width: int, count: int, *, normed: bool = True) -> tuple[Part, ...]:
    inner = (square_attention(width, c.head_dim, normed=normed) for _ in range(count))
    return (module_list("attentions", *inner, kind="self_attention"),)


def _resnet(c: Config, inputs: int, width: int, time: Size, *, always: bool = False) -> tuple[Node, ...]:
    return resnet(inputs, width, time, scaled=c.shift == "scale_shift", always=always)


def _sampler(c: Config, kind: str, name: str, width: int, time: Size) -> tuple[Node, ...]:
    """Describe what halves or doubles a map behind a stage of this *kind*: a convolution, or a residual block; with skips, the image beside it too."""
    if "Skip" in kind:
        down = name == "downsamplers"
        block = part("resnet_down" if down else "resnet_up", *_resnet(c, width, width, time, always=True), kind="layer")
        if down:
            return block, conv2d("skip_conv", IMAGE, width, 1)
        return block, conv2d("skip_conv", width, IMAGE, 3), group_norm("skip_norm", width)
    stated = c.down_sampler if name == "downsamplers" else c.up_sampler
    if kind.startswith("Resnet") or (kind.startswith("Attn") and stated == "resnet"):
        return (module_list(name, _resnet(c, width, width, time), kind="layer"),)
    return (sampler(name, width),)


def _stage(c: Config, kind: str, inputs: Sequence[int], width: int, time: Size) -> tuple[Node, ...]:
    """Describe residual blocks of these *inputs*, each with attention behind it where the stage attends; with skips one on the way up has one."""
    blocks = resnets(*(_resnet(c, before, width, time) for before in inputs))
    count = 1 if kind == "AttnSkipUpBlock2D" else len(inputs)
    return *(_attentions(c, width, count) if kind.startswith("Attn") else ()), blocks


def _middle(c: Config, time: Size) -> Part:
    width = c.widths[-1]
    normed = c.shift == "default" or c.middle_groups is not None
    attended = _attentions(c, width, 1, normed=normed) if c.middle_attends else ()
    return part("mid_block", *attended, *_stage(c, "", [width] * 2, width, time), kind="stage")


def _times(c: Config) -> tuple[tuple[Part, ...], int]:
    """Describe what a step of the noise becomes before it is embedded, and return its width."""
    width: int = c.widths[0]
    if c.time_kind == "fourier":
        return (part("time_proj", Tensor("weight", (width,), frozen=True), kind="embeddings"),), 2 * width
    if c.time_kind == "positional":
        return (), width
    if c.steps is None:
        raise ConfigError("missing, and the class needs it", key="num_train_timesteps")
    return (embedding("time_proj", c.steps, width),), width


def _classes(c: Config, inputs: int, time: Size) -> tuple[Part, ...]:
    if c.class_kind == "timestep":
        return (two_maps("class_embedding", inputs, time),)
    return (embedding("class_embedding", c.classes, time),) if c.class_kind is None and c.classes is not None else ()


def unet(c: Config) -> Part:
    """Describe UNet2DModel: stages down, a middle and stages up, of which some attend to their own map."""
    widths, last = c.widths, len(c.widths) - 1
    time = 4 * widths[0] if c.time is None else c.time
    down, up, before = [], [], widths[0]
    for stage, (kind, width) in enumerate(zip(c.down_kinds, widths, strict=True)):
        inner = _stage(c, kind, [before] + [width] * (c.depth - 1), width, time)
        down.append((*inner, *(() if stage == last else _sampler(c, kind, "downsamplers", width, time))))
        before = width
    turned = widths[::-1]
    for index, (kind, width) in enumerate(zip(c.up_kinds, turned, strict=True)):
        below, blocks = turned[min(index + 1, last)], c.depth + 1
        inputs = [(before if block == 0 else width) + (below if block == blocks - 1 else width) for block in range(blocks)]
        inner = _stage(c, kind, inputs, width, time)
        up.append((*inner, *(() if index == last else _sampler(c, kind, "upsamplers", width, time))))
        before = width
    steps, entering = _times(c)
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], 3),
        *steps,
        part("time_embedding", linear("linear_1", entering, time), linear("linear_2", time, time), kind="embeddings"),
        *_classes(c, entering, time),
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        *(() if c.middle is None else (_middle(c, time),)),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        kind="model",
        stream=PASS,
    )


KEYS = frozenset("""center_input_sample freq_shift flip_sin_to_cos mid_block_scale_factor downsample_padding""".split())
FAMILIES = {"diffusers_unet_plain": diffusers_family("diffusers_unet_plain", UNET, "UNet2DModel", unet, KEYS)}
