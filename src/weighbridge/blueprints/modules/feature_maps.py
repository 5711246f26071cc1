"""Shapes of feature maps: heights and widths after strides, and fields for image sizes.

Widths, depths and strides of stages are lists in a config, so they are concrete, and so is the side of the image:
whether a map is smaller than a window may be asked of ints only.
"""

from __future__ import annotations

from weighbridge.config.fields import Field, choice, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any, TypeAlias

Grid: TypeAlias = "tuple[Size, Size]"
"""Height and width of a map, in places."""

CHANNELS = size("channels", "num_channels", 3, "N", "image channels")
"""Colours of the image."""


def image(default: int | list[int] = 224, *, report_default: bool = True) -> Field:
    """Declare the side of the image, or its height and width; *report_default* is False where no config states it and it is the reader's to set."""
    return replace(height_width("image", "image_size", default), report_default=report_default)


def height_width(word: str, key: str, default: int | list[int]) -> Field:
    """Declare a height and a width, concrete: one whole number for both, or two."""
    return choice(word, key, default, read=lambda value: pair(key, value))


def pair(key: str, value: Any) -> tuple[int, int]:
    """Take one whole number for both axes, or two.

    >>> pair("image_size", 224), pair("image_size", [2560, 1920])
    ((224, 224), (2560, 1920))
    """
    sides = tuple(value) if isinstance(value, (list, tuple)) else (value, value)
    if len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
        raise ConfigError(Text("expected a whole number, or height and width, found {value!r:.60}", value=value), key=key, value=value)
    return sides


def area(grid: Grid) -> Size:
    """Count the positions of a map.

    >>> area((56, 56))
    3136
    """
    return grid[0] * grid[1]


def conv_output(grid: Grid, kernel: Size, stride: Size, padding: Size = 0) -> Grid:
    """Return the map that a convolution or a pooling outputs.

    >>> conv_output((224, 224), 7, 2, 3)
    (112, 112)
    """
    height, width = ((side + 2 * padding - kernel) // stride + 1 for side in grid)
    return height, width


def conv_transpose2d(name: str, inputs: Size, outputs: Size, kernel: Size, places: Size, *, bias: bool = True) -> Part:
    """Describe a transposed convolution, which makes a map larger; it multiplies at all *positions* of the map that it takes in.

    >>> conv_transpose2d("resize", 96, 48, 2, 196).children[0].shape
    (96, 48, 2, 2)
    """
    weight = Tensor("weight", (inputs, outputs, kernel, kernel), "weight")
    return part(name, *((weight, Tensor("bias", (outputs,), "bias")) if bias else (weight,)), kind="convolution", stream=places)


def module_list(name: str, *parts: tuple[Node, ...], kind: str = "stage") -> Part:
    """Describe a list of unlike parts, each under its index."""
    return part(name, *(part(str(index), *children, kind=kind) for index, children in enumerate(parts)))
