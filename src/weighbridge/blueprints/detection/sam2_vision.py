"""The image encoder of Segment Anything 2: a backbone, by default its own Hiera, and an FPN neck.

Source: arXiv 2408.00714 and 2306.00989 (Hiera); names as in transformers 5.23.0, models/sam2/modeling_sam2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, height_width
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, ratio, scale_width
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, choice, computed, sequence, size, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, matmul, part, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

HIERA = (
    HIDDEN.with_default(96),
    CHANNELS,
    height_width("image", "image_size", [1024, 1024]),
    height_width("kernel", "patch_kernel_size", [7, 7]),
    height_width("stride", "patch_stride", [4, 4]),
    height_width("padding", "patch_padding", [3, 3]),
    height_width("pooling", "query_stride", [2, 2]),
    height_width("background", "window_positional_embedding_background_size", [7, 7]),
    number("pooled", "num_query_pool_stages", 3, minimum=0),
    numbers("depths", "blocks_per_stage", (1, 2, 7, 2)),
    numbers("widths", "embed_dim_per_stage", (96, 192, 384, 768)),
    numbers("heads", "num_attention_heads_per_stage", (1, 2, 4, 8)),
    numbers("windows", "window_size_per_stage", (8, 4, 14, 7), minimum=0),
    sequence("everywhere", "global_attention_blocks", [5, 7, 9]),
    ratio("ratio", "mlp_ratio", 4.0),
    computed(
        "stages",
        lambda c: first_stages(
            "blocks_per_stage",
            len(c.depths),
            embed_dim_per_stage=c.widths,
            num_attention_heads_per_stage=c.heads,
            window_size_per_stage=c.windows,
        ),
    ),
)
TORN = unknown("these maps are not made of whole windows where they are pooled")


class Block(NamedTuple):
    """What one block of Hiera works on: widths in and out, heads, the side of a window or 0, whether it pools, and its map."""

    inputs: int
    outputs: int
    heads: int
    window: int
    pools: bool
    at: tuple[int, int]


def patches(c: Config) -> tuple[int, int]:
    """Return the map of patches, which overlap."""
    rows, columns = ((side + 2 * pad - k) // s + 1 for side, pad, k, s in zip(c.image, c.padding, c.kernel, c.stride, strict=True))
    return rows, columns


def pooled_map(c: Config, at: tuple[int, int]) -> tuple[int, int]:
    """Return the map that pooling makes of another."""
    return at[0] // c.pooling[0], at[1] // c.pooling[1]


def blocks(c: Config) -> list[Block]:
    """List the blocks of all stages: the first of a stage still works on the map and in the windows of the stage before."""
    found: list[Block] = []
    at = patches(c)
    for stage, depth in enumerate(c.depths):
        for index in layer_range(depth):
            before = stage - 1 if stage and not index else stage
            pools = 0 < stage <= c.pooled and not index
            window = 0 if len(found) in c.everywhere else c.windows[before]
            found.append(Block(c.widths[before], c.widths[stage], c.heads[stage], window, pools, at))
            at = pooled_map(c, at) if pools else at
    return found


def window_count(at: tuple[int, int], across: tuple[int, int]) -> int:
    """Count the windows that cover a map.

    >>> window_count((8, 9), (4, 4))
    6
    """
    rows, columns = (-(-side // reach) for side, reach in zip(at, across, strict=True))
    return rows * columns


def has_partial_windows(c: Config, block: Block) -> bool:
    """Say whether pooling leaves fewer windows than there were: the reference then takes windows of one image for several images."""
    if not block.pools or not block.window:
        return False
    across = block.window, block.window
    return 0 in pooled_map(c, across) or window_count(pooled_map(c, block.at), pooled_map(c, across)) != window_count(block.at, across)


def attention(c: Config, block: Block) -> Part:
    """Describe attention in windows or over the whole map; the scores are made twice, at first among the heads and for nothing."""
    across = (block.window, block.window) if block.window else block.at
    windows, keys, width = window_count(block.at, across), across[0] * across[1], block.outputs // block.heads
    queries = area(pooled_map(c, across)) if block.pools else keys
    return part(
        "attn",
        linear("qkv", block.inputs, 3 * block.outputs, stream=TORN if has_partial_windows(c, block) else windows * keys),
        linear("proj", block.outputs, block.outputs, stream=windows * queries),
        matmul("unused", (windows * keys, block.heads, block.heads, width)),
        attend(heads=block.heads, head_dim=width, queries=queries, keys=keys, groups=windows),
        kind="self_attention",
    )


def layer(c: Config, block: Block) -> tuple[Node, ...]:
    """Describe one block; where it widens, the skip connection past attention has a linear map as well."""
    inner = scale_width(block.outputs, c.ratio)
    out = area(pooled_map(c, block.at) if block.pools else block.at)
    mlp = linear("proj_in", block.outputs, inner), linear("proj_out", inner, block.outputs)
    carried = (linear("proj", block.inputs, block.outputs, stream=area(block.at)),) if block.inputs != block.outputs else ()
    return (
        layer_norm("layer_norm1", block.inputs),
        attention(c, block),
        layer_norm("layer_norm2", block.outputs),
        part("mlp", *mlp, kind="feed_forward", stream=out),
        *carried,
    )


def hiera(c: Config) -> Part:
    """Describe Sam2HieraDetModel: two tables of positions, one for a window and one that is resized to the image."""
    found, window = blocks(c), c.windows[0]
    projection = conv2d("projection", c.channels, c.hidden, c.kernel, stream=area(patches(c)))
    return part(
        "",
        Tensor("pos_embed", (1, c.hidden, *c.background), "embedding"),
        Tensor("pos_embed_window", (1, c.hidden, window, window), "embedding"),
        part("patch_embed", projection, kind="embeddings"),
        *stack("blocks", found, len(found), lambda block: layer(c, block)),
        kind="model",
        stream=area(patches(c)),
    )


def stages(c: Config) -> list[Grid]:
    """Return the map that each stage of Hiera outputs."""
    found, ends = blocks(c), [sum(c.depths[: stage + 1]) - 1 for stage in range(len(c.depths))]
    return [pooled_map(c, found[end].at) if found[end].pools else found[end].at for end in ends]


def _largest_map(sizes: Any) -> Grid:
    """Take the height and the width of the largest map."""
    first = sizes[0] if isinstance(sizes, (list, tuple)) and sizes else sizes
    sides = tuple(first) if isinstance(first, (list, tuple)) else (first, first)
    if len(sides) != 2 or any(type(side) is not int or side < 1 for side in sides):
        raise ConfigError("expected the height and the width of each map", key="backbone_feature_sizes", value=sizes)
    return sides[0], sides[1]


MAPS_OF_FOUR = {"in_chans": 3, "features_only": True, "out_indices": [0, 1, 2, 3]}
"""What EdgeTAM's class asks of timm's network where the config has none; it misspells the name, so that it is timm's ResNet-50."""
INPUTS = "backbone_channel_list"
FIELDS = (
    model_config("backbone", "backbone_config", "sam2_hiera_det_model"),
    numbers("inputs", INPUTS, (768, 384, 192, 96)),
    size("fused", "fpn_hidden_size", 256, "F", "channels of the fused maps"),
    number("kernel", "fpn_kernel_size", 1),
    number("stride", "fpn_stride", 1),
    number("padding", "fpn_padding", 0, minimum=0),
    number("levels", "num_feature_levels", 3),
)


EDGE = (
    model_config("backbone", "backbone_config", "timm_wrapper", only=True, absent={"model_args": MAPS_OF_FOUR}),
    *variant(FIELDS[1:], inputs=numbers("inputs", INPUTS, (384, 192, 96, 48))),
    choice("sizes", "backbone_feature_sizes", [[256, 256], [128, 128], [64, 64]], read=_largest_map),
)


def neck_maps(c: Config) -> list[Grid]:
    """Return the maps that the neck outputs, the largest first."""
    found = edge_maps(c) if c.backbone.model_type == "timm_wrapper" else stages(c.backbone)
    return [conv_output(at, c.kernel, c.stride, c.padding) for at in found]


def edge_maps(c: Config) -> list[Grid]:
    """Return the maps of EdgeTAM's network: the config says how large the first is, and each is half as large as the one before."""
    found = [c.sizes]
    for _ in c.inputs[1:]:
        found.append(conv_output(found[-1], 3, 2, 1))
    return found


def edge_vision(c: Config) -> Part:
    """Describe EdgeTamVisionModel: one of timm's networks, whose maps a convolution each brings to one width."""
    height, across = c.sizes
    network = with_changes(c.backbone.timm, model_type=c.backbone.timm.model_type, image=(4 * height, 4 * across))
    tower = submodel(with_changes(c.backbone, model_type=c.backbone.model_type, timm=network))
    maps = neck_maps(c)[::-1]
    convs = (conv2d(str(i), width, c.fused, c.kernel, stream=area(at)) for i, (width, at) in enumerate(zip(c.inputs, maps, strict=True)))
    return part("", as_child("backbone", tower), part("neck", part("convs", *convs), kind="neck"), kind="model")


def vision(c: Config) -> Part:
    """Describe Sam2VisionModel: a convolution for each stage, the last stage first.

    Raises:
        ConfigError: The list of the neck's widths is of another length than there are stages.
    """
    maps = neck_maps(c)[::-1]
    if len(c.inputs) != len(maps):
        hint = f"one width for each of {len(maps)} stages, the last stage first"
        raise ConfigError(
            Text("{count} widths, and the backbone has {count2} stages", count=len(c.inputs), count2=len(maps)),
            key=INPUTS,
            value=c.inputs,
            hint=hint,
        )
    convs = (conv2d(str(i), width, c.fused, c.kernel, stream=area(at)) for i, (width, at) in enumerate(zip(c.inputs, maps, strict=True)))
    return part("", as_child("backbone", submodel(c.backbone)), part("neck", part("convs", *convs), kind="neck"), kind="model")


OWN_IGNORED_KEYS = IGNORED_KEYS | {"backbone_feature_sizes", "fpn_top_down_levels", "num_attention_heads"}

FAMILIES = {
    "sam2_hiera_det_model": Family("sam2_hiera_det_model", HIERA, {"Sam2HieraDetModel": hiera}, "Sam2HieraDetModel", OWN_IGNORED_KEYS),
    "edgetam_vision_model": Family(
        "edgetam_vision_model", EDGE, {"EdgeTamVisionModel": edge_vision}, "EdgeTamVisionModel", OWN_IGNORED_KEYS
    ),
    "sam2_vision_model": Family("sam2_vision_model", FIELDS, {"Sam2VisionModel": vision}, "Sam2VisionModel", OWN_IGNORED_KEYS),
}
