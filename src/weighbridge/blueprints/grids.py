"""What networks of images share: grids of places that strides make smaller, and lists of stages.

Widths, depths and strides of stages are lists in a config, so they are concrete, and so is the side of the image:
whether a map is smaller than a window may be asked of ints only.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config import Field, Sizes, choice, size, told
from weighbridge.errors import ConfigError
from weighbridge.records import TYPE_CHECKING
from weighbridge.sizes import Size
from weighbridge.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any, TypeAlias

Grid: TypeAlias = "tuple[Size, Size]"
"""Height and width of a map, in places."""

CHANNELS = size("channels", "num_channels", 3, "N", "image channels")
"""Colours of the image."""


def image(default: int | list[int] = 224, *, silent: bool = False) -> Field:
    """Declare the side of the image, or its height and width; *silent* where no config states it and it is the reader's to set."""
    return both("image", "image_size", default)._replace(silent=silent)


def both(word: str, key: str, default: int | list[int]) -> Field:
    """Declare a height and a width, concrete: one whole number for both, or two."""
    return choice(word, key, default, read=lambda value: pair(key, value))


def pair(key: str, value: Any) -> tuple[int, int]:
    """Take one whole number for both axes, or two.

    >>> pair("image_size", 224), pair("image_size", [2560, 1920])
    ((224, 224), (2560, 1920))
    """
    sides = tuple(value) if isinstance(value, (list, tuple)) else (value, value)
    if len(sides) != 2 or not all(type(side) is int and side > 0 for side in sides):
        raise ConfigError(f"expected a whole number, or height and width, found {value!r:.60}", key=key, value=value)
    return sides


def number(word: str, key: str, default: int | None, *, minimum: int = 1) -> Field:
    """Declare a whole number that is concrete, because it is compared with others."""

    def read(value: Any) -> int | None:
        if value is None and default is None:
            return None
        if type(value) is not int or value < minimum:
            raise ConfigError(f"expected a whole number from {minimum} up, found {value!r:.60}", key=key, value=value)
        return value

    return choice(word, key, default, read=read)


def numbers(word: str, key: str, default: tuple[int, ...], *aliases: str, minimum: int = 1) -> Field:
    """Declare a list of whole numbers, one for each stage."""

    def read(value: Any) -> tuple[int, ...]:
        wrong = [entry for entry in value if type(entry) is not int or entry < minimum]
        if wrong or not value:
            raise ConfigError(f"expected a list of whole numbers from {minimum} up, found {value!r:.60}", key=key, value=value)
        return tuple(value)

    return Field(word, key, default, "listed", aliases=aliases, read=read)  # type: ignore[arg-type]


def entries(word: str, key: str, default: list[Any], kind: type) -> Field:
    """Declare a list of names or switches, one for each stage."""

    def read(value: Any) -> tuple[Any, ...]:
        if any(type(entry) is not kind for entry in value):
            raise ConfigError(f"expected a list of {kind.__name__}, found {value!r:.60}", key=key, value=value)
        return tuple(value)

    return Field(word, key, default, "listed", read=read)


def ratio(word: str, key: str, default: float) -> Field:
    """Declare a ratio of widths as numerator and denominator; one whose products the reference rounds is refused."""

    def read(value: Any) -> tuple[int, int]:
        if type(value) not in (int, float) or not 0 < value < 2**20:
            raise ConfigError(f"expected a ratio, found {value!r:.60}", key=key, value=value)
        above, below = value.as_integer_ratio()
        if below > 2**20:
            hint = "a ratio of few binary digits, such as 4.0 or 2.75"
            raise ConfigError(f"{value}: the products with widths are rounded, and not described", key=key, value=value, hint=hint)
        return above, below

    return choice(word, key, default, read=read)


def scaled(width: Size, by: tuple[int, int]) -> Size:
    """Multiply a width by a ratio and drop the fraction, as ``int(ratio * width)`` does.

    >>> scaled(96, (4, 1)), scaled(7, (5, 2))
    (384, 17)
    """
    return width * by[0] // by[1]


def alike(**lists: tuple[Any, ...]) -> int:
    """Return how many entries lists of stages have, which must be equally many.

    >>> alike(depths=(2, 2), hidden_sizes=(32, 64))
    2
    """
    (first, length), *others = ((key, len(entries)) for key, entries in lists.items())
    for key, other in others:
        if other != length:
            raise ConfigError(f"{other} entries, but {first} has {length}", key=key, value=lists[key], hint="one for each stage")
    return length


def outputs(stages: Callable[[Sizes], int]) -> tuple[Field, ...]:
    """Declare which stages a backbone hands on, by names or by indices: the stem is 0, and by default it is the last."""
    names, indices = choice("out_features", "out_features", None), choice("out_indices", "out_indices", None)
    return names._replace(silent=True), indices._replace(silent=True), told("outputs", lambda c: _outputs(c, stages(c)))


def _outputs(c: Sizes, stages: int) -> tuple[int, ...]:
    known = ["stem", *(f"stage{index + 1}" for index in range(stages))]
    if c.out_features is None and c.out_indices is None:
        return (stages,)
    key, given = ("out_features", c.out_features) if c.out_features is not None else ("out_indices", c.out_indices)
    try:
        found = [known.index(entry) if key == "out_features" else range(stages + 1)[entry] for entry in given]
    except (ValueError, IndexError, TypeError):
        raise ConfigError(f"expected some of {', '.join(known)}, or their indices, found {given!r:.60}", key=key, value=given) from None
    both = c.out_features is not None and c.out_indices is not None
    if found != sorted(set(found)) or (both and [known[index] for index in c.out_indices] != list(c.out_features)):
        raise ConfigError(f"stages out of order or twice, or names and indices that differ: {given!r:.60}", key=key, value=given)
    return tuple(found)


def area(grid: Grid) -> Size:
    """Count the places of a map.

    >>> area((56, 56))
    3136
    """
    return grid[0] * grid[1]


def strided(grid: Grid, kernel: Size, stride: Size, padding: Size = 0) -> Grid:
    """Return the map that a convolution or a pooling puts out.

    >>> strided((224, 224), 7, 2, 3)
    (112, 112)
    """
    height, width = ((side + 2 * padding - kernel) // stride + 1 for side in grid)
    return height, width


def listing(name: str, *parts: tuple[Node, ...], kind: str = "stage") -> Part:
    """Describe a list of unlike parts, each under its index."""
    return Part(name, tuple(Part(str(index), children, kind) for index, children in enumerate(parts)))
