"""DPT's neck: feature maps of four scales reassembled from a vision transformer's layers, and fused from the smallest up.

Source: Vision Transformers for Dense Prediction, arXiv 2103.13413; names as in transformers 5.23.0, models/dpt/modeling_dpt.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, conv_transpose2d
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.fields import Config, Field, sequence, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any


def scale_factors(value: Any) -> list[int]:
    """Read by how much each map is enlarged; one that is downsampled is given by its stride, below zero.

    >>> scale_factors([4, 2, 1, 0.5])
    [4, 2, 1, -2]
    """
    key = "reassemble_factors"
    if any(type(entry) not in (int, float) or entry <= 0 or (entry > 1 and type(entry) is float) for entry in value):
        raise ConfigError(Text("expected whole factors, or fractions below 1, found {value!r:.60}", value=value), key=key, value=value)
    return [entry if entry > 1 else 1 if entry == 1 else -int(1 / entry) for entry in value]


def fields(fusion: int, widths: tuple[int, ...], key: str = "neck_hidden_sizes") -> tuple[Field, ...]:
    """Return the fields that all of them have."""
    return (
        numbers("widths", key, widths),
        sequence("factors", "reassemble_factors", [4, 2, 1, 0.5], read=scale_factors),
        size("fusion", "fusion_hidden_size", fusion, "F", "channels of the fused maps"),
    )


def scaled_map(at: Grid, factor: int) -> Grid:
    """Return the map that a factor makes of another.

    >>> scaled_map((8, 8), 4), scaled_map((7, 7), -2)
    ((32, 32), (4, 4))
    """
    return conv_output(at, 3, -factor, 1) if factor < 0 else (at[0] * factor, at[1] * factor)


def reassemble_layer(hidden: Size, width: Size, factor: int, at: Grid) -> tuple[Part, ...]:
    """Describe a map of a width of its own, and what brings it to its size."""
    projection = conv2d("projection", hidden, width, 1, stream=area(at))
    if factor == 1:
        return (projection,)
    if factor < 0:
        return projection, conv2d("resize", width, width, 3, stream=area(scaled_map(at, factor)))
    return projection, conv_transpose2d("resize", width, width, factor, area(at))


def reassemble_stage(c: Config, hidden: Size, at: Grid, *, readout: bool = False, first: int = 0) -> Part:
    """Describe the stage that makes maps of vectors; with *readout*, the class token is mapped into each of
    them first. The maps before the *first* are taken as they are.
    """
    pairs = list(enumerate(zip(c.widths, c.factors, strict=False)))[first:]
    layers = (part(str(i), *reassemble_layer(hidden, width, factor, at), kind="stage") for i, (width, factor) in pairs)
    projects = (part(str(i), linear("0", 2 * hidden, hidden, stream=area(at)), kind="projector") for i in range(first, len(c.widths)))
    return part("reassemble_stage", part("layers", *layers), *((part("readout_projects", *projects),) if readout else ()), kind="stage")


def reassembled_maps(c: Config, at: Grid) -> list[Grid]:
    """Return the maps that come out of it, the largest first: as many as there are widths; factors beyond are left out."""
    maps = [scaled_map(at, factor) for factor in c.factors[: len(c.widths)]]
    nobody: Any = unknown("there are fewer reassemble_factors than maps")
    return [*maps, *[(nobody, 1)] * (len(c.widths) - len(maps))]


def convolutions(c: Config, at: Sequence[Grid]) -> Part:
    """Describe the convolutions that bring all maps to one width."""
    places = zip(c.widths, at, strict=True)
    return part("convs", *(conv2d(str(i), width, c.fusion, 3, stream=area(grid), bias=False) for i, (width, grid) in enumerate(places)))


def residual_conv_unit(name: str, width: Size, at: Grid, *, bias: bool = True, normed: bool = False, requires: str | None = None) -> Part:
    """Describe two convolutions with a skip connection around them."""
    convs = (conv2d(f"convolution{i}", width, width, 3, stream=area(at), bias=bias) for i in (1, 2))
    norms = (batch_norm(f"batch_norm{i}", width) for i in (1, 2)) if normed else ()
    return part(name, *convs, *norms, kind="convolution", requires=requires)


def fusion_layer(
    name: str, width: Size, inner: Grid, outer: Grid, *more: Part, first: bool, bias: bool = True, normed: bool = False
) -> Part:
    """Describe a step that adds a map to what came from the smaller ones, and enlarges it; the first has nothing to add."""
    return part(
        name,
        conv2d("projection", width, width, 1, stream=area(outer)),
        residual_conv_unit("residual_layer1", width, inner, bias=bias, normed=normed, requires="smaller" if first else None),
        residual_conv_unit("residual_layer2", width, inner, bias=bias, normed=normed),
        *more,
        kind="stage",
    )


def double_each(at: Sequence[Grid]) -> list[tuple[Grid, Grid]]:
    """Return the map that each step works on, and the one it outputs, where each doubles the height and width.

    >>> double_each([(8, 8), (4, 4)])
    [((4, 4), (8, 8)), ((8, 8), (16, 16))]
    """
    rows, columns = at[-1]
    return [((rows * 2**i, columns * 2**i), (rows * 2 ** (i + 1), columns * 2 ** (i + 1))) for i in range(len(at))]


def match_next(at: Sequence[Grid]) -> list[tuple[Grid, Grid]]:
    """Return the same where each step outputs a map of the size of the next, and the last doubles it.

    >>> match_next([(9, 9), (4, 4)])
    [((4, 4), (9, 9)), ((9, 9), (18, 18))]
    """
    steps = [*reversed(at), (at[0][0] * 2, at[0][1] * 2)]
    return list(pairwise(steps))
