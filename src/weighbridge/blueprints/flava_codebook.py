"""FLAVA's codebook of image patches: the convolutional encoder of DALL-E, which pre-training asks for the words of an image.

Source: arXiv 2102.12092, section 2.1 (the discrete VAE), and 2112.04482, section 3; names as in transformers 5.23.0,
models/flava/modeling_flava.py.
"""

from __future__ import annotations

from weighbridge.blueprints.grids import CHANNELS
from weighbridge.blueprints.staged import number
from weighbridge.config.fields import Sizes, size, switch
from weighbridge.core.parts import conv2d
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    CHANNELS._replace(key="input_channels"),
    size("width", "hidden_size", 256, "H", "width of the first group"),
    number("blocks", "num_blocks_per_group", 2),
    size("codes", "vocab_size", 8192, "V", "codes of the codebook"),
    switch("frozen", "freeze", True),
)
SIDE = 112
"""The side of the images that the codebook is given, which its image processor and no config states."""


def codebook(c: Sizes) -> Part:
    """Describe FlavaImageCodebook: four groups of convolutions at half the side each, and a code for every place; frozen if not told otherwise."""
    H, sides = c.width, tuple((SIDE // 2**index) ** 2 for index in range(4))
    widths = (H, H, 2 * H, 4 * H, 8 * H)
    groups = (
        Part(
            f"group_{index + 1}",
            (Part("group", tuple(block(c, index, position, widths) for position in range(c.blocks))),),
            "stage",
            stream=places,
        )
        for index, places in enumerate(sides)
    )
    output = Part("output", (conv2d("conv", 8 * H, c.codes, 1),), "head", stream=sides[-1])
    parts = Part("", (Part("blocks", (conv2d("input", c.channels, H, 7, positions=sides[0]), *groups, output)),), "vision")
    return _frozen(parts) if c.frozen else parts


def block(c: Sizes, index: int, position: int, widths: tuple[Size, ...]) -> Part:
    """Describe one block: four convolutions beside a path that is mapped where the width changes."""
    inputs, outputs = (widths[index] if position == 0 else widths[index + 1]), widths[index + 1]
    inner = outputs // 4
    mapped = (conv2d("id_path", inputs, outputs, 1),) if position == 0 and index > 0 else ()
    path = Part("path", (
        conv2d("conv_1", inputs, inner, 3), conv2d("conv_2", inner, inner, 3), conv2d("conv_3", inner, inner, 3), conv2d("conv_4", inner, outputs, 1),
    ))  # fmt: skip
    return Part(f"block_{position + 1}", (*mapped, Part("res_path", (path,))), "convolution")


def _frozen(part: Part) -> Part:
    children = tuple(
        _frozen(child) if isinstance(child, Part) else child._replace(frozen=True) if isinstance(child, Tensor) else child
        for child in part.children
    )
    return part._replace(children=children)
