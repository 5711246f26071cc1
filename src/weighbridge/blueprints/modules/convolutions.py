"""Shared parts of convolutional networks: a convolution with its norm, widths rounded to a divisor, halved feature maps.

Source: names as in transformers 5.23.0, models/mobilenet_v2/modeling_mobilenet_v2.py and others that took them over.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.fields import Field, choice, computed
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any, Unpack

    from weighbridge.core.parts import Place

RESIDUAL = (
    CHANNELS,
    number("stem", "embedding_size", 64),
    numbers("widths", "hidden_sizes", (256, 512, 1024, 2048)),
    numbers("depths", "depths", (3, 4, 6, 3)),
    computed("stages", lambda c: min(len(c.depths), len(c.widths))),
)
"""The fields of a residual network, with the defaults of ResNet-50: its stem, and the widths and depths of its stages."""

HEAD = frozenset("add_pooling_layer classifier_dropout_prob drop_path_rate semantic_loss_ignore_index stage_names".split())
"""Keys that change no tensor of such a network."""


def conv3d(name: str, inputs: Size, outputs: Size, kernel: tuple[int, int, int], *, bias: bool = True) -> Part:
    """Describe a convolution over frames and places."""
    weight = Tensor("weight", (outputs, inputs, *kernel))
    return part(name, weight, *((Tensor("bias", (outputs,), "bias"),) if bias else ()), kind="convolution")


def conv_norm(
    name: str, inputs: Size, outs: Size, seen: Grid | Stream, kernel: int = 1, *, groups: Size = 1, normed: bool = True, bias: bool = False
) -> Part:
    """Describe a convolution, named so, and its batch norm; *seen* is the map that comes out, or ``one``.

    >>> [part.name for part in conv_norm("conv_stem", 3, 32, (112, 112), 3).children]
    ['convolution', 'normalization']
    """
    stream: Stream = area(seen) if isinstance(seen, tuple) and len(seen) == 2 else seen
    norm = (batch_norm("normalization", outs),) if normed else ()
    return part(name, conv2d("convolution", inputs, outs, kernel, groups=groups, bias=bias), *norm, kind="convolution", stream=stream)


def group_norm(name: str, width: Size, groups: int = 1, **place: Unpack[Place]) -> Part:
    """Describe a norm over groups of channels, which divide the width: a gain and a shift for each channel.

    Raises:
        ConfigError: They do not divide it.

    >>> group_norm("norm", 64, 32).kind
    'group_norm'
    """
    exact(width, groups)
    return part(name, Tensor("weight", (width,), "gain"), Tensor("bias", (width,), "shift"), kind="group_norm", **place)


def positive_float(word: str, key: str, default: float, *, least: float | None = None) -> Field:
    """Declare a positive number, or one from *least* up, that widths or depths are multiplied with; it stays as it is."""

    def read(value: Any) -> float:
        if type(value) not in (int, float) or not value < 10**6 or not (value > 0 if least is None else value >= least):
            raise ConfigError(Text("expected a positive number, found {value!r:.60}", value=value), key=key, value=value)
        return float(value)

    return choice(word, key, default, read=read)


def make_divisible(value: float, divisor: int = 8, minimum: int | None = None) -> int:
    """Round to a multiple of *divisor*, never below nine tenths, as TensorFlow's MobileNets do.

    >>> make_divisible(37), make_divisible(16 * 1.4)
    (40, 24)
    """
    found = max(divisor if minimum is None else minimum, int(value + divisor / 2) // divisor * divisor)
    return found + divisor if found < 0.9 * value else found


def half_size(grid: Grid, stride: int = 2) -> Grid:
    """Return the map that a padded convolution leaves, rounded up.

    >>> half_size((225, 224))
    (113, 112)
    """
    return (grid[0] + stride - 1) // stride, (grid[1] + stride - 1) // stride
