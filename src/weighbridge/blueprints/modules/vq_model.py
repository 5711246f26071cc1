"""The tokenizer of images that Janus and LlamaGen draw with, by its own code: VQGAN's networks around a table of narrow codes.

Source: arXiv 2406.06525 (LlamaGen); janus/models/vq_model.py of deepseek-ai/Janus, whose VQ-16 fixes all sizes.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.vqgan import attention_block, resnet
from weighbridge.config.fields import Config
from weighbridge.core.parts import conv2d, embedding, part
from weighbridge.core.tree import Part, Tensor

CODES, WIDTH, LATENT, BASE, LEVELS, BLOCKS, USED = 16384, 8, 256, 128, (1, 1, 2, 2, 4), 2, 65536
SIZES = Config(base=BASE)


def level(index: int, before: int, after: int, *, blocks: int, attends: bool, last: tuple[Part, ...]) -> Part:
    """Describe the blocks of one resolution, with attention behind each where it *attends*, and the way to the next."""
    inside = (resnet(str(number), SIZES, before if number == 0 else after, after) for number in range(blocks))
    looks = (attention_block(str(number), SIZES, after) for number in range(blocks)) if attends else ()
    attention = (part("attn", *looks, kind="block"),) if attends else ()
    return part(str(index), part("res", *inside, kind="block"), *attention, *last, kind="stage")


def middle() -> Part:
    """Describe attention between two blocks."""
    by = LEVELS[-1]
    return part("mid", resnet("0", SIZES, by, by), attention_block("1", SIZES, by), resnet("2", SIZES, by, by), kind="stage")


def resample(name: str, by: int) -> tuple[Part, ...]:
    """Describe the convolution that halves the sides of a map, or follows their doubling."""
    return (part(name, conv2d("conv", BASE * by, BASE * by, 3), kind="block"),)


def encoder() -> Part:
    """Describe the network that makes the image smaller."""
    coarsest = len(LEVELS) - 1
    levels = (
        level(
            index,
            LEVELS[max(index - 1, 0)],
            by,
            blocks=BLOCKS,
            attends=index == coarsest,
            last=() if index == coarsest else resample("downsample", by),
        )
        for index, by in enumerate(LEVELS)
    )
    wide = BASE * LEVELS[-1]
    ends = group_norm("norm_out", wide), conv2d("conv_out", wide, LATENT, 3)
    return part("encoder", conv2d("conv_in", 3, BASE, 3), part("conv_blocks", *levels, kind="encoder"), middle(), *ends, kind="encoder")


def decoder() -> Part:
    """Describe the network that makes an image of the codes' map."""
    downwards = LEVELS[::-1]
    levels = (
        level(
            index,
            downwards[max(index - 1, 0)],
            by,
            blocks=BLOCKS + 1,
            attends=index == 0,
            last=() if index == len(LEVELS) - 1 else resample("upsample", by),
        )
        for index, by in enumerate(downwards)
    )
    ends = group_norm("norm_out", BASE), conv2d("conv_out", BASE, 3, 3)
    start = conv2d("conv_in", LATENT, BASE * LEVELS[-1], 3)
    return part("decoder", start, middle(), part("conv_blocks", *levels, kind="decoder"), *ends, kind="decoder")


def vq_model(name: str) -> Part:
    """Describe VQ-16."""
    table = part("quantize", embedding("embedding", CODES, WIDTH), Tensor("codebook_used", (USED,), "buffer"), kind="codebook")
    maps = conv2d("quant_conv", LATENT, WIDTH, 1), conv2d("post_quant_conv", WIDTH, LATENT, 1)
    return part(name, encoder(), decoder(), table, *maps, kind="model")
