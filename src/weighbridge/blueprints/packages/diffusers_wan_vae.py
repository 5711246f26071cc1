"""diffusers: Wan's causal autoencoder of videos, which Qwen-Image has as well.

Source: arXiv 2503.20314; diffusers 0.42.1, models/autoencoders/{autoencoder_kl_wan,autoencoder_kl_qwenimage}.py.
"""

from __future__ import annotations

from itertools import pairwise

from weighbridge.blueprints.modules.convolutions import conv3d
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, entries, number, numbers, optional_number
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family
from weighbridge.config.fields import Config, computed, constant, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

CUBE = (3, 3, 3)


def _read_stages(c: Config) -> int:
    """Return the number of stages, of which each but the last says whether it halves the frames as well."""
    if len(c.in_time) < len(c.widths) - 1:
        raise ConfigError(
            Text("expected one entry for each of {stages} stages", stages=len(c.widths) - 1),
            key="temperal_downsample",
            value=list(c.in_time),
        )
    return len(c.widths)


QWEN_IMAGE = (
    number("base", "base_dim", 96),
    size("latent", "z_dim", 16, "Z", "latent channels"),
    numbers("widths", "dim_mult", (1, 2, 4, 4)),
    number("depth", "num_res_blocks", 2, most=WRITTEN_OUT),
    read_none("attn_scales", []),
    entries("in_time", "temperal_downsample", [False, True, True], bool),
    computed("stages", _read_stages),
    size("channels", "input_channels", 3, "N", "channels of the video"),
    size("outputs", "out_channels", lambda c: c.channels, "O", "output channels", report_default=False),
    constant("decoder_base", None),
    constant("residual", False),
)
WAN = (
    *(field for field in QWEN_IMAGE if field.word not in ("channels", "outputs", "decoder_base", "residual")),
    size("channels", "in_channels", 3, "N", "channels of the video"),
    size("outputs", "out_channels", 3, "O", "output channels"),
    optional_number("decoder_base", "decoder_base_dim", None),
    switch("residual", "is_residual", False, report_default=False),
)


def norm(name: str, width: Size, axes: int = 3) -> Part:
    """Describe a norm of channels, whose gains have *axes* of one place each."""
    return part(name, Tensor("gamma", (width, *(1,) * axes), "gain"), kind="rms_norm")


def resnet(before: int, after: int) -> tuple[Node, ...]:
    """Describe a residual block of two convolutions, and a third beside them where widths differ."""
    beside = (conv3d("conv_shortcut", before, after, (1, 1, 1)),) if before != after else ()
    return norm("norm1", before), conv3d("conv1", before, after, CUBE), norm("norm2", after), conv3d("conv2", after, after, CUBE), *beside


def middle(width: int) -> Part:
    """Describe attention between the places of each frame, and a residual block before and behind it."""
    maps = conv2d("to_qkv", width, 3 * width, 1), conv2d("proj", width, width, 1)
    attention = norm("norm", width, 2), *maps, attend(heads=1, head_dim=width)
    blocks = module_list("resnets", *(resnet(width, width) for _ in range(2)), kind="layer")
    return part("mid_block", module_list("attentions", attention, kind="self_attention"), blocks, kind="stage")


def resample(width: int, outputs: int, frames: int) -> tuple[Node, ...]:
    """Describe a convolution that halves or doubles the map; one over *frames* times the width is over time."""
    over_time = (conv3d("time_conv", width, frames * width, (3, 1, 1)),) if frames else ()
    return part("resample", conv2d("1", width, outputs, 3), kind="convolutions"), *over_time


def encoder(c: Config) -> Part:
    """Describe the encoder: residual blocks and what halves the map in one list, or a stage of them in each entry."""
    widths, last = [c.base, *(c.base * times for times in c.widths)], c.stages - 1
    down: list[tuple[Node, ...]] = []
    for stage, (before, after) in enumerate(pairwise(widths)):
        blocks = [resnet(before if index == 0 else after, after) for index in range(c.depth)]
        halved = resample(after, after, 1 if c.in_time[stage] else 0) if stage < last else None
        if not c.residual:
            down += blocks if halved is None else [*blocks, halved]
            continue
        factor = (4 if stage < last else 1) * (2 if stage < last and c.in_time[stage] else 1)
        if before * factor % after:
            raise ConfigError(Text("{width} channels cannot be averaged to {after}", width=before * factor, after=after), key="dim_mult")
        inner = module_list("resnets", *blocks, kind="layer")
        down.append((inner,) if halved is None else (inner, part("downsampler", *halved, kind="convolutions")))
    return part(
        "encoder",
        conv3d("conv_in", c.channels, widths[0], CUBE),
        module_list("down_blocks", *down),
        middle(widths[-1]),
        norm("norm_out", widths[-1]),
        conv3d("conv_out", widths[-1], 2 * c.latent, CUBE),
        kind="encoder",
    )


def decoder(c: Config) -> Part:
    """Describe the decoder: a stage's residual blocks, and what doubles the map and halves the width."""
    base = c.base if c.decoder_base is None else c.decoder_base
    turned = [base * times for times in c.widths[::-1]]
    up: list[tuple[Node, ...]] = []
    for stage, (before, after) in enumerate(zip([turned[0], *turned], turned, strict=False)):
        first = before // 2 if stage and not c.residual else before
        blocks = [resnet(first if index == 0 else after, after) for index in range(c.depth + 1)]
        stages: tuple[Node, ...] = (module_list("resnets", *blocks, kind="layer"),)
        if stage < c.stages - 1:
            in_time = c.in_time[::-1][stage]
            doubled = resample(after, after if c.residual else after // 2, 2 if in_time else 0)
            more = (
                part("upsampler", *doubled, kind="convolutions") if c.residual else module_list("upsamplers", doubled, kind="convolutions")
            )
            stages = *stages, more
        up.append(stages)
    return part(
        "decoder",
        conv3d("conv_in", c.latent, turned[0], CUBE),
        middle(turned[0]),
        module_list("up_blocks", *up),
        norm("norm_out", turned[-1]),
        conv3d("conv_out", turned[-1], c.outputs, CUBE),
        kind="decoder",
    )


def autoencoder(c: Config) -> Part:
    """Describe AutoencoderKLWan and AutoencoderKLQwenImage: a video to the mean and variance of its latents, and back."""
    quant = conv3d("quant_conv", 2 * c.latent, 2 * c.latent, (1, 1, 1)), conv3d("post_quant_conv", c.latent, c.latent, (1, 1, 1))
    return part("", encoder(c), *quant, decoder(c), kind="model", stream=PASS)


KEYS = frozenset("latents_mean latents_std patch_size scale_factor_spatial scale_factor_temporal".split())
FAMILIES = {
    "diffusers_wan_vae": diffusers_family("diffusers_wan_vae", WAN, "AutoencoderKLWan", autoencoder, KEYS),
    "diffusers_qwen_image_vae": diffusers_family("diffusers_qwen_image_vae", QWEN_IMAGE, "AutoencoderKLQwenImage", autoencoder, KEYS),
}
