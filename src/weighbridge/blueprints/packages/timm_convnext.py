"""timm's ConvNeXt, of both generations: the networks of the reference library under timm's names, with more kinds of stems and heads.

Source: timm 1.0.31, timm/models/convnext.py and timm/layers/classifier.py, whose live classes the tests hold this to.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, height_width, module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

STEMS = ("patch", "overlap", "overlap_tiered", "overlap_act")


def stem_kind(value: Any) -> str:
    """Take the kind of the stem."""
    if value not in STEMS:
        raise ConfigError(Text("expected one of {expected}, found {value!r:.60}", expected=", ".join(STEMS), value=value), key="stem_type")
    return str(value)


def four_stages(value: Any) -> tuple[int, ...]:
    """Take one number for all stages, or four."""
    found = tuple(value) if isinstance(value, (list, tuple)) else (value,) * 4
    if len(found) != 4 or any(type(side) is not int or side < 1 for side in found):
        raise ConfigError(Text("expected one whole number or four, found {value!r:.60}", value=value), key="kernel_sizes", value=value)
    return found


FIELDS = (
    size("channels", "in_chans", 3, "N", "image channels"),
    choice("headed", "num_classes", 1000, read=bool, report_default=False),
    size("labels", "num_classes", 1000, "C", "number of labels", minimum=0),
    choice("pool", "global_pool", "avg", report_default=False),
    numbers("depths", "depths", (3, 3, 9, 3)),
    numbers("widths", "dims", (96, 192, 384, 768)),
    choice("kernels", "kernel_sizes", 7, read=four_stages, report_default=False),
    replace(choice("scaled", "ls_init_value", 1e-6, report_default=False, read=lambda value: value is not None), nullable=True),
    choice("stem", "stem_type", "patch", read=stem_kind, report_default=False),
    number("patch", "patch_size", 4),
    number("inner", "head_hidden_size", None),
    switch("normed_first", "head_norm_first", False, report_default=False),
    switch("conv_mlp", "conv_mlp", False, report_default=False),
    switch("biased", "conv_bias", True, report_default=False),
    switch("responding", "use_grn", False, report_default=False),
    choice("norm", "norm_layer", None, report_default=False),
    replace(height_width("image", "img_size", 224), report_default=False),
)


def norm(c: Config, name: str, width: int) -> Part:
    """Describe a norm of the kind that the model has."""
    return layer_norm(name, width) if c.norm in (None, "layernorm", "layernorm2d") else rms_norm(name, width)


def pointwise(c: Config, name: str, inputs: int, outputs: int) -> Part:
    """Describe a map of each position: linear, or a convolution over one place."""
    return conv2d(name, inputs, outputs, 1) if c.conv_mlp else linear(name, inputs, outputs)


def block(c: Config, width: int, kernel: int) -> tuple[Node, ...]:
    """Describe a layer: each channel with itself, a norm, an MLP, and a scale if there is one."""
    response = (part("grn", Tensor("weight", (4 * width,), "gain"), Tensor("bias", (4 * width,), "shift"), kind="response_norm"),)
    mlp = (pointwise(c, "fc1", width, 4 * width), *(response if c.responding else ()), pointwise(c, "fc2", 4 * width, width))
    gamma = (Tensor("gamma", (width,), "gain"),) if c.scaled else ()
    depthwise = conv2d("conv_dw", width, width, kernel, groups=width, bias=c.biased)
    return *gamma, depthwise, norm(c, "norm", width), part("mlp", *mlp, kind="feed_forward")


def stem(c: Config) -> tuple[Part, Grid]:
    """Describe the stem, and return the map that it makes."""
    width = c.widths[0]
    if c.stem == "patch":
        grid = conv_output(c.image, c.patch, c.patch)
        inner: tuple[Node, ...] = conv2d("0", c.channels, width, c.patch, bias=c.biased, stream=area(grid)), norm(c, "1", width)
        return part("stem", *inner, kind="embeddings", stream=area(grid)), grid
    middle = max(8, (width // 2 + 4) // 8 * 8) if c.stem == "overlap_tiered" else width
    middle += 8 if c.stem == "overlap_tiered" and 10 * middle < 9 * (width // 2) else 0
    halved, last = conv_output(c.image, 3, 2, 1), 2 if c.stem == "overlap_act" else 1
    grid = conv_output(halved, 3, 2, 1)
    first = conv2d("0", c.channels, middle, 3, bias=c.biased, stream=area(halved))
    second = conv2d(str(last), middle, width, 3, bias=c.biased, stream=area(grid))
    return part("stem", first, second, norm(c, str(last + 1), width), kind="embeddings", stream=area(grid)), grid


def stages(c: Config, grid: Grid) -> tuple[Part, Grid]:
    """Describe the stages, each but the first behind a convolution that halves the map; return the last map, too."""
    inputs, found = c.widths[0], []
    for index, width in enumerate(c.widths):
        down: tuple[Part, ...] = ()
        if index or inputs != width:
            before, kernel = grid, 2 if index else 1
            grid = conv_output(grid, 2, 2) if index else grid
            halving = conv2d("1", inputs, width, kernel, bias=c.biased, stream=area(grid))
            down = (part("downsample", replace(norm(c, "0", inputs), stream=area(before)), halving, kind="convolution"),)
        layers = part("blocks", *block(c, width, c.kernels[index]), kind="layer", repeat=c.depths[index], stream=area(grid))
        found.append((*down, layers))
        inputs = width
    return module_list("stages", *found), grid


def head(c: Config) -> tuple[Part, ...]:
    """Describe the classifier on the mean, whose norm stands before it or behind."""
    width = c.widths[-1]
    last = (linear("fc", c.inner or width, c.labels),) if c.headed else ()
    if c.normed_first:
        return norm(c, "norm_pre", width), *((part("head", *last, kind="head", stream="one"),) if last else ())
    inner = (part("pre_logits", linear("fc", width, c.inner), kind="head"),) if c.inner else ()
    return (part("head", norm(c, "norm", width), *inner, *last, kind="head", stream="one"),)


def convnext(c: Config) -> Part:
    """Describe ConvNeXt."""
    first, grid = stem(c)
    inner, _ = stages(c, grid)
    return part("", first, inner, *head(c), kind="model")


IGNORED_KEYS = frozenset(
    "act_layer architecture drop_path_rate drop_rate head_init_scale model_args norm_eps num_features output_stride pretrained_cfg".split()
)
FAMILIES = {
    "timm_convnext": Family(
        "timm_convnext", FIELDS, {"timm.ConvNeXt": convnext}, "timm.ConvNeXt", IGNORED_KEYS, normalize_config=arguments_of
    )
}
