"""diffusers: what steers a U-Net by a picture, ControlNet (Zhang et al., 2023) and T2I-Adapter (Mou et al., 2023).

Source: arXiv 2302.05543 and 2302.08453; diffusers 0.42.1, models/controlnets/controlnet.py and models/adapter.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers
from weighbridge.blueprints.modules.words import one_of, read_none
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, kind_or_none
from weighbridge.blueprints.packages.diffusers_unet import (
    UNET,
    UNET_KEYS,
    attention_stages,
    conditions,
    down_stages,
    middle_with_text,
    one_per_stage,
    text_projection,
    time_embedding,
)
from weighbridge.config.fields import Config, choice, size, variant
from weighbridge.core.parts import conv2d, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

GONE = "outputs up kernel_in kernel_out time_condition mid_block_type depth".split()
CONTROLNET = (
    *(field for field in variant(UNET, kind_or_none("class_kind", "class_embed_type", "timestep", "projection")) if field.word not in GONE),
    number("depth", "layers_per_block", 2, most=WRITTEN_OUT),
    size("picture", "conditioning_channels", 3, "O", "channels of the picture"),
    numbers("picture_widths", "conditioning_embedding_out_channels", (16, 32, 96, 256)),
    read_none("mid_block_type", "UNetMidBlock2DCrossAttn"),
)


def picture_embedding(name: str, channels: Size, widths: tuple[int, ...], outputs: Size) -> Part:
    """Describe the convolutions that bring the picture to the size of the latents."""
    pairs = tuple((before, after) for index, before in enumerate(widths[:-1]) for after in (before, widths[index + 1]))
    return part(
        name,
        conv2d("conv_in", channels, widths[0], 3),
        part("blocks", *(conv2d(str(at), before, after, 3) for at, (before, after) in enumerate(pairs)), kind="convolutions"),
        conv2d("conv_out", widths[-1], outputs, 3),
        kind="embeddings",
    )


def controlnet(c: Config) -> Part:
    """Describe ControlNetModel: the way down of a U-Net and its middle, each map of which goes through a convolution of one pixel."""
    widths, count = c.widths, len(c.widths)
    time, stages = 4 * widths[0], attention_stages(c)
    handed = [widths[0]]
    for stage, width in enumerate(widths):
        handed += [width] * (one_per_stage(c.depth, "layers_per_block", count)[stage] + (stage < count - 1))
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], 3),
        time_embedding(c),
        *text_projection(c),
        *conditions(c, time),
        picture_embedding("controlnet_cond_embedding", c.picture, c.picture_widths, widths[0]),
        module_list("down_blocks", *down_stages(c, stages)),
        part("controlnet_down_blocks", *(conv2d(str(at), width, width, 1) for at, width in enumerate(handed)), kind="convolutions"),
        conv2d("controlnet_mid_block", widths[-1], widths[-1], 1),
        middle_with_text(c),
        kind="model",
        stream=PASS,
    )


ADAPTER = (
    size("channels", "in_channels", 3, "N", "channels of the picture"),
    numbers("widths", "channels", (320, 640, 1280, 1280)),
    number("depth", "num_res_blocks", 2),
    number("shrink", "downscale_factor", 8),
    choice(
        "form",
        "adapter_type",
        "full_adapter",
        read=one_of("adapter_type", "full_adapter", "full_adapter_xl", "light_adapter"),
        report_default=False,
    ),
)


def _adapter_block(inputs: int, width: int, depth: int) -> tuple[Node, ...]:
    """Describe residual blocks of two convolutions behind one that changes the width."""
    first = (conv2d("in_conv", inputs, width, 1),) if inputs != width else ()
    block = part("resnets", conv2d("block1", width, width, 3), conv2d("block2", width, width, 1), kind="layer", repeat=depth)
    return *first, block


def _light_block(inputs: int, width: int, depth: int) -> tuple[Node, ...]:
    """Describe residual blocks at a quarter of the width."""
    inner = width // 4
    block = part("resnets", conv2d("block1", inner, inner, 3), conv2d("block2", inner, inner, 3), kind="layer", repeat=depth)
    return conv2d("in_conv", inputs, inner, 1), block, conv2d("out_conv", inner, width, 1)


def adapter(c: Config) -> Part:
    """Describe T2IAdapter: stages of convolutions over a picture, its squares of pixels folded into channels."""
    widths, folded = c.widths, c.channels * c.shrink * c.shrink
    if c.form == "light_adapter":
        inputs, outputs = (folded, *widths), (*widths, widths[-1])
        blocks = [_light_block(before, after, c.depth) for before, after in zip(inputs, outputs, strict=True)]
        first: tuple[Node, ...] = ()
    else:
        wide = [at for at in range(1, len(widths)) if c.form == "full_adapter" or at in (1, 2)]
        blocks = [_adapter_block(widths[at - 1] if at in wide else width, width, c.depth) for at, width in enumerate(widths)]
        first = (conv2d("conv_in", folded, widths[0], 3),)
    return part("", part("adapter", *first, module_list("body", *blocks), kind="backbone"), kind="model", stream=PASS)


CONTROLNET_KEYS = UNET_KEYS | frozenset("controlnet_conditioning_channel_order global_pool_conditions".split())

FAMILIES = {
    "diffusers_controlnet": diffusers_family("diffusers_controlnet", CONTROLNET, "ControlNetModel", controlnet, CONTROLNET_KEYS),
    "diffusers_t2i_adapter": diffusers_family("diffusers_t2i_adapter", ADAPTER, "T2IAdapter", adapter),
}
