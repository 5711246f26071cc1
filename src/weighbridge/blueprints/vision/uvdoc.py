"""UVDoc, which says how to flatten the photograph of a page: residual blocks, dilated convolutions side by side, and a grid of points.

Source: arXiv 2302.02887; names as in transformers 5.23.0, models/uvdoc/modeling_uvdoc.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import conv_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, part, replace
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

PAGE = unknown("the size of the page depends on its image")


def residual_block(block: tuple[int, int, int, bool], kernel: int) -> tuple[Part, ...]:
    """Describe two convolutions, and a third beside them where the block halves the map."""
    inputs, outs, _, halves = block
    names = (("conv_down", inputs),) if halves else ()
    return tuple(
        conv_norm(name, width, outs, PAGE, kernel, bias=True) for name, width in (*names, ("conv_start", inputs), ("conv_final", outs))
    )


def network(c: Config) -> Part:
    """Describe UVDocBackbone: two convolutions, stages of residual blocks, and a bridge of dilated convolutions."""
    stem = (conv_norm(str(index), inputs, outs, PAGE, c.kernel) for index, (inputs, outs) in enumerate(c.stem))
    stages = ((module_list("layers", *(residual_block(block, c.kernel) for block in stage)),) for stage in c.stages)
    return part(
        "",
        part("resnet", part("resnet_head", *stem, kind="stem"), module_list("resnet_down", *stages), kind="backbone"),
        part("bridge", bridge(c.bridge), kind="neck"),
        kind="model",
        stream=PAGE,
    )


def bridge(steps: tuple[tuple[tuple[int, int], ...], ...]) -> Part:
    """Describe dilated convolutions, one step beside another."""
    found = (
        (part("blocks", *(conv_norm(str(index), width, width, PAGE, 3) for index, (width, _) in enumerate(step)), kind="convolutions"),)
        for step in steps
    )
    return module_list("bridge", *found)


def bridge_alone(c: Config) -> Part:
    """Describe UVDocBridge, which looks for its steps where the config class of the whole has none."""
    if c.steps is None:
        raise ConfigError("this class needs the steps of the bridge", key="stage_configs", hint="as backbone_config has them")
    return part("", bridge(c.steps), kind="neck", stream=PAGE)


def model(c: Config) -> Part:
    """Describe UVDocModel: what the bridge's steps found, side by side, becomes two numbers for each place."""
    (inputs, narrow), (last, points) = c.points
    slope: tuple[Node, ...] = (part("activation", Tensor("weight", (1,), "gain"), kind="activation"),) if c.activation == "prelu" else ()
    down = conv_norm("conv_down", inputs, narrow, PAGE, c.kernel, bias=False)
    grid = replace(down, children=(*down.children, *slope)), conv2d("conv_up", last, points, c.kernel)
    connector = conv_norm("bridge_connector", c.connector[0] * len(c.network.bridge), c.connector[1], PAGE)
    head = part("head", connector, part("out_point_positions2D", *grid, kind="head"), kind="head")
    return part("", as_child("backbone", submodel(c.network)), head, kind="model", stream=PAGE)


def rows(word: str, key: str, default: list[Any], length: int, depth: int) -> Field:
    """Declare lists of so many whole numbers each, in lists *depth* deep."""

    def check(value: Any, depth: int) -> Any:
        if depth:
            return tuple(check(entry, depth - 1) for entry in value)
        if len(value) != length or any(type(entry) not in (int, bool) or entry < 0 for entry in value):
            raise ConfigError(Text("expected lists of {length} whole numbers, found {value!r:.60}", length=length, value=value), key=key)
        return tuple(value)

    return Field(word, key, default, "sequence", read=lambda value: check(value, depth))


def read_bridge(value: Any) -> Any:
    """Read the steps of a bridge, if there are any."""
    read = rows("steps", "stage_configs", [], 2, 2).read
    return None if value is None or read is None else read(value)


def _stages() -> list[list[list[Any]]]:
    wider = ((32, 32, 3), (32, 64, 4), (64, 128, 6))
    return [[[inputs, outs, 1, inputs < outs], *([outs, outs, 3, False] for _ in range(blocks - 1))] for inputs, outs, blocks in wider]


def _bridge() -> list[list[list[int]]]:
    dilations = (1,), (2,), (5,), (8, 3, 2), (12, 7, 4), (18, 12, 6)
    return [[[128, dilation] for dilation in step] for step in dilations]


NETWORK = (
    rows("stem", "resnet_head", [[3, 32], [32, 32]], 2, 1),
    rows("stages", "resnet_configs", _stages(), 4, 2),
    rows("bridge", "stage_configs", _bridge(), 2, 2),
    number("kernel", "kernel_size", 5),
)
UVDOC = (
    model_config("network", "backbone_config", "uvdoc_backbone", only=True),
    choice("activation", "hidden_act", "prelu"),
    number("kernel", "kernel_size", 5),
    numbers("connector", "bridge_connector", (128, 128)),
    rows("points", "out_point_positions2D", [[128, 32], [32, 2]], 2, 1),
    choice("steps", "stage_configs", None, read=read_bridge, report_default=False),
)
OUTPUTS = frozenset("_out_features _out_indices out_features out_indices depths stage_names".split())
FAMILIES = {
    "uvdoc": Family("uvdoc", UVDOC, {"UVDocModel": model, "UVDocBridge": bridge_alone}, "UVDocModel", frozenset(("padding_mode",))),
    "uvdoc_backbone": Family("uvdoc_backbone", NETWORK, {"UVDocBackbone": network}, "UVDocBackbone", OUTPUTS),
}
