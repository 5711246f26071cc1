"""TextNet: re-parameterised blocks of square, vertical and horizontal convolutions for text detection (Chen et al., 2021).

Source: arXiv 2111.02394; names as in transformers 5.23.0, models/textnet/modeling_textnet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import equal_length, first_stages, number, numbers, out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, computed
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, label_head, part
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

KERNELS = [[[3, 3]] * 3, [[3, 3], [1, 3], [3, 3], [3, 1]], [[3, 3], [3, 3], [3, 1], [1, 3]], [[3, 3], [3, 1], [1, 3], [3, 3]]]
STRIDES = [[1, 2, 1], [2, 1, 1, 1], [2, 1, 1, 1], [2, 1, 1, 1]]

FIELDS = (
    number("channels", "stem_num_channels", 3),
    number("kernel", "stem_kernel_size", 3),
    number("stride", "stem_stride", 2),
    number("stem", "stem_out_channels", 64),
    image([640, 640]),
    Field("kernels", "conv_layer_kernel_sizes", KERNELS, "sequence", read=lambda value: nested_tuples(value, "conv_layer_kernel_sizes")),
    Field("strides", "conv_layer_strides", STRIDES, "sequence", read=lambda value: nested_tuples(value, "conv_layer_strides")),
    numbers("widths", "hidden_sizes", (64, 64, 128, 256, 512)),
    computed("stages", lambda c: stages_of(c)),
    *out_stages(lambda c: 4),
    LABELS,
)


def nested_tuples(value: Any, key: str) -> Any:
    """Take lists in lists as tuples of whole numbers."""
    if isinstance(value, (list, tuple)):
        return tuple(nested_tuples(entry, key) for entry in value)
    if type(value) is not int or value < 1:
        raise ConfigError(Text("expected lists of whole numbers, found {value!r:.60}", value=value), key=key, value=value)
    return value


def stages_of(c: Config) -> int:
    """Return how many stages there are; each has as many kernels as strides, and all kernels are odd."""
    for kernels, strides in zip(c.kernels, c.strides, strict=False):
        equal_length(conv_layer_kernel_sizes=kernels, conv_layer_strides=strides)
        if any(side % 2 == 0 for kernel in kernels for side in kernel):
            raise ConfigError("even kernels leave maps that cannot be added", key="conv_layer_kernel_sizes", value=kernels)
    return first_stages("conv_layer_kernel_sizes", len(c.kernels), conv_layer_strides=c.strides, hidden_sizes=c.widths[1:])


def layer(inputs: int, width: int, kernel: tuple[int, int], stride: int) -> tuple[Node, ...]:
    """Describe a layer: the whole kernel, its height alone, its width alone, and a norm of what comes in, where each is not the same."""
    height, across = kernel
    parts: list[Node] = [conv2d("main_conv", inputs, width, kernel, bias=False), batch_norm("main_batch_norm", width)]
    if across != 1:
        parts += [conv2d("vertical_conv", inputs, width, (height, 1), bias=False), batch_norm("vertical_batch_norm", width)]
    if height != 1:
        parts += [conv2d("horizontal_conv", inputs, width, (1, across), bias=False), batch_norm("horizontal_batch_norm", width)]
    return *parts, *((batch_norm("rbr_identity", inputs),) if inputs == width and stride == 1 else ())


def textnet(c: Config) -> tuple[Part, ...]:
    """Describe stem and stages."""
    grid: Grid = conv_output(c.image, c.kernel, c.stride, c.kernel // 2)
    parts = conv2d("conv", c.channels, c.stem, c.kernel, bias=False), batch_norm("batch_norm", c.stem)
    stem, found = part("stem", *parts, kind="embeddings", stream=area(grid)), []
    for index, (kernels, strides) in enumerate(zip(c.kernels, c.strides, strict=True)):
        layers = []
        for position, (kernel, stride) in enumerate(zip(kernels, strides, strict=True)):
            inputs, width = c.widths[index + 1] if position else c.widths[index], c.widths[index + 1]
            grid = conv_output(grid, 1, stride)
            layers.append(part(str(position), *layer(inputs, width, kernel, stride), kind="layer", stream=area(grid)))
        found.append((part("stage", *layers, kind="stage"),))
    return stem, part("encoder", module_list("stages", *found), kind="encoder")


def classification(c: Config) -> Part:
    """Describe TextNetForImageClassification: the labels, on the mean of all positions."""
    return part("", part("textnet", *textnet(c), kind="backbone"), label_head("fc", c.widths[-1], c.labels, stream="one"), kind="model")


CLASSES = {
    "TextNetModel": lambda c: part("", *textnet(c), kind="model"),
    "TextNetForImageClassification": classification,
    "TextNetBackbone": lambda c: part("", part("textnet", *textnet(c), kind="backbone"), kind="model"),
}

MORE_IGNORED_KEYS = frozenset("batch_norm_eps depths stage_names stem_act_func".split())

FAMILIES = {"textnet": Family("textnet", FIELDS, CLASSES, "TextNetModel", MORE_IGNORED_KEYS)}
