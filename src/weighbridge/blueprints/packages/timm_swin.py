"""timm's Swin Transformer: the network of the reference library under timm's names, whose windows shrink to their map and may differ by stage.

Source: timm 1.0.31, timm/models/swin_transformer.py, whose live class the tests hold this to.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, height_width, module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers, ratio, scale_width
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def _windows(value: Any) -> Any:
    sides = [
        side
        for entry in (value if isinstance(value, (list, tuple)) else (value,))
        for side in (entry if isinstance(entry, list) else (entry,))
    ]
    if any(type(side) is not int or side < 1 for side in sides):
        raise ConfigError(Text("expected whole numbers, found {value!r:.60}", value=value), key="window_size", value=value)
    return value


def _window_of_stages(c: Config) -> list[Grid]:
    """Return the window of each stage: one side for all, two sides, or one entry a stage."""
    stated, stages = c.window, len(c.depths)
    if isinstance(stated, int):
        return [(stated, stated)] * stages
    if len(stated) == 2 and stages != 2 and all(isinstance(side, int) for side in stated):
        return [(stated[0], stated[1])] * stages
    if len(stated) != stages:
        raise ConfigError(Text("expected one entry for each of {stages} stages", stages=stages), key="window_size", value=stated)
    return [(side, side) if isinstance(side, int) else (side[0], side[1]) for side in stated]


FIELDS = (
    replace(CHANNELS, key="in_chans", aliases=()),
    height_width("image", "img_size", 224),
    number("patch", "patch_size", 4),
    choice("headed", "num_classes", 1000, read=bool, report_default=False),
    size("labels", "num_classes", 1000, "C", "number of labels", minimum=0),
    size("hidden", "embed_dim", 96, "H", "width of the first stage"),
    numbers("depths", "depths", (2, 2, 6, 2)),
    numbers("heads", "num_heads", (3, 6, 12, 24)),
    choice("window", "window_size", 7, read=_windows),
    switch("always", "always_partition", False, report_default=False),
    ratio("mlp_ratio", "mlp_ratio", 4.0),
    switch("qkv_bias", "qkv_bias", True, report_default=False),
    computed("sides", _window_of_stages),
    computed("widths", lambda c: [c.hidden * 2**index for index in range(len(c.depths))]),
)


def grids(c: Config) -> list[Grid]:
    """Return the map of every stage: patches, and halves of them."""
    rows, columns = conv_output(c.image, c.patch, c.patch)
    found: list[Grid] = [(rows, columns)]
    for index in range(1, len(c.depths)):
        scale = 2 ** (index - 1)
        found.append(((rows + scale - 1) // scale // 2, (columns + scale - 1) // scale // 2))
    return found


def attention(c: Config, index: int, grid: Grid) -> Part:
    """Describe attention inside each window of a map."""
    width, heads = c.widths[index], c.heads[index]
    window = c.sides[index] if c.always else tuple(min(side, most) for side, most in zip(c.sides[index], grid, strict=True))
    across: Grid = ((grid[0] + window[0] - 1) // window[0], (grid[1] + window[1] - 1) // window[1])
    inside = window[0] * window[1]
    return part(
        "attn",
        Tensor("relative_position_bias_table", ((2 * window[0] - 1) * (2 * window[1] - 1), heads), "embedding"),
        linear("qkv", width, 3 * width, bias=c.qkv_bias),
        linear("proj", width, width),
        attend(heads=heads, head_dim=exact(width, heads), queries=inside, keys=inside, groups=area(across)),
        kind="self_attention",
        stream=area(across) * inside,
    )


def stage(c: Config, index: int, grid: Grid) -> tuple[Node, ...]:
    """Describe a stage: two by two positions become one, except for the first; then its layers."""
    width: Size = c.widths[index]
    inner = scale_width(width, c.mlp_ratio)
    down: tuple[Part, ...] = ()
    if index:
        before = c.widths[index - 1]
        maps = layer_norm("norm", 4 * before), linear("reduction", 4 * before, width, bias=False)
        down = (part("downsample", *maps, kind="projection", stream=area(grid)),)
    mlp = part("mlp", linear("fc1", width, inner), linear("fc2", inner, width), kind="feed_forward")
    layer = layer_norm("norm1", width), attention(c, index, grid), layer_norm("norm2", width), mlp
    return *down, part("blocks", *layer, kind="layer", repeat=c.depths[index], stream=area(grid))


def swin(c: Config) -> Part:
    """Describe SwinTransformer, with a classifier on the mean of all positions."""
    maps = grids(c)
    last = c.widths[-1]
    embed = conv2d("proj", c.channels, c.hidden, c.patch), layer_norm("norm", c.hidden)
    head = (part("head", linear("fc", last, c.labels, stream="one"), kind="head"),) if c.headed else ()
    return part(
        "",
        part("patch_embed", *embed, kind="embeddings", stream=area(maps[0])),
        module_list("layers", *(stage(c, index, grid) for index, grid in enumerate(maps))),
        layer_norm("norm", last, stream=area(maps[-1])),
        *head,
        kind="model",
    )


IGNORED_KEYS = frozenset(
    """architecture attn_drop_rate drop_path_rate drop_rate dynamic_img_size global_pool model_args norm_layer num_features pretrained_cfg
    proj_drop_rate strict_img_size weight_init""".split()
)
FAMILIES = {
    "timm_swin": Family(
        "timm_swin", FIELDS, {"timm.SwinTransformer": swin}, "timm.SwinTransformer", IGNORED_KEYS, normalize_config=arguments_of
    )
}
