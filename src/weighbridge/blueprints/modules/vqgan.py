"""VQGAN's encoder and decoder: convolutional networks between an image and a grid of codes.

Source: arXiv 2012.09841 (VQGAN), section 3.1; names as in transformers 5.23.0, models/janus/modeling_janus.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.fields import IN_CHANNELS, Config, size, switch
from weighbridge.core.parts import attend, conv2d, part
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Part

FIELDS = (
    size("code", "embed_dim", 256, "D", "width of a code"),
    size("entries", "num_embeddings", 8192, "V", "codes"),
    switch("double", "double_latent", False),
    size("latent", "latent_channels", 256, "Z", "channels of the coarsest map"),
    IN_CHANNELS.with_default(3),
    size("base", "base_channels", 128, "B", "channels of the finest map"),
    numbers("levels", "channel_multiplier", (1, 1, 2, 2, 4)),
    number("blocks", "num_res_blocks", 2),
)
"""What every VQGAN has: the table of codes, and the levels of its convolutional networks."""


def resnet(name: str, c: Config, before: int, after: int) -> Part:
    """Describe two convolutions with a skip connection around them; *before* and *after* are multiples of the first width."""
    wide, width = c.base * before, c.base * after
    around = (conv2d("nin_shortcut", wide, width, 1),) if before != after else ()
    return part(
        name,
        group_norm("norm1", wide, 32),
        conv2d("conv1", wide, width, 3),
        group_norm("norm2", width, 32),
        conv2d("conv2", width, width, 3),
        *around,
        kind="block",
    )


def attention_block(name: str, c: Config, by: int) -> Part:
    """Describe attention over all positions of a map."""
    H = c.base * by
    return part(
        name,
        group_norm("norm", H, 32),
        *(conv2d(module, H, H, 1) for module in ("q", "k", "v", "proj_out")),
        attend(heads=1, head_dim=H),
        kind="self_attention",
    )


def middle_blocks(c: Config, by: int, attends: bool = True) -> Part:
    """Describe two blocks, with attention between them unless the model does without."""
    between = (attention_block("attn_1", c, by),) if attends else ()
    return part("mid", resnet("block_1", c, by, by), *between, resnet("block_2", c, by, by), kind="stage")


def resolution_level(
    index: int, c: Config, before: int, after: int, *, blocks: int, attends: bool, stream: Size, after_it: tuple[Part, ...]
) -> Part:
    """Describe the blocks of one resolution, with attention after each where it *attends*, and the way to the next."""
    inside = tuple(resnet(str(index), c, after if index else before, after) for index in layer_range(blocks))
    looks = tuple(attention_block(str(index), c, after) for index in layer_range(blocks)) if attends else ()
    return part(
        str(index),
        part("block", *inside, kind="block"),
        *((part("attn", *looks, kind="block"),) if looks else ()),
        *after_it,
        kind="stage",
        stream=stream,
    )


def encoder(c: Config, outputs: Size) -> Part:
    """Describe the network that makes the image smaller: each level but the last halves its sides, and the last attends."""
    last = len(c.levels) - 1
    sides = [c.codes * 2 ** (last - index) for index in range(last + 1)]
    return encoder_of_levels(c, outputs, sides, [index == last for index in range(last + 1)])


def encoder_of_levels(c: Config, outputs: Size, sides: Sequence[Size], attends: Sequence[bool], *, between: bool = True) -> Part:
    """Describe the same network where every level has its side, and attention or none; *between* is that of the middle blocks."""
    last = len(c.levels) - 1
    places = [side * side for side in sides]
    wanted = (1, *c.levels)
    down = []
    for index, after in enumerate(c.levels):
        conv = conv2d("conv", c.base * after, c.base * after, 3, stream=places[min(index + 1, last)])
        smaller = (part("downsample", conv, kind="convolution"),) if index < last else ()
        down.append(
            resolution_level(
                index, c, wanted[index], after, blocks=c.blocks, attends=attends[index], stream=places[index], after_it=smaller
            )
        )
    top = c.levels[-1]
    return part(
        "encoder",
        conv2d("conv_in", c.channels, c.base, 3, stream=places[0]),
        part("down", *down, kind="stages"),
        middle_blocks(c, top, between),
        group_norm("norm_out", c.base * top, 32),
        conv2d("conv_out", c.base * top, outputs, 3),
        kind="encoder",
        stream=places[last],
    )


def decoder(c: Config, inputs: Size) -> Part:
    """Describe the network that makes it larger again, from the coarsest level to the finest."""
    last = len(c.levels) - 1
    coming = [*c.levels, c.levels[-1]]
    up = []
    for doublings, index in enumerate(reversed(range(last + 1))):
        side = c.codes * 2**doublings
        conv = conv2d("conv", c.base * c.levels[index], c.base * c.levels[index], 3, stream=4 * side * side)
        larger = (part("upsample", conv, kind="convolution"),) if index else ()
        up.append(
            resolution_level(
                doublings,
                c,
                coming[index + 1],
                c.levels[index],
                blocks=c.blocks + 1,
                attends=index == last,
                stream=side * side,
                after_it=larger,
            )
        )
    wide = c.base * c.levels[0]
    side = c.codes * 2**last
    return part(
        "decoder",
        conv2d("conv_in", inputs, c.base * c.levels[-1], 3),
        middle_blocks(c, c.levels[-1]),
        part("up", *up, kind="stages"),
        group_norm("norm_out", wide, 32, stream=side * side),
        conv2d("conv_out", wide, c.outputs, 3, stream=side * side),
        kind="decoder",
        stream=c.codes * c.codes,
    )
