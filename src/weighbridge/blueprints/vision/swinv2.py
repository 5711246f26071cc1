"""Swin Transformer V2: post-norm, cosine attention, continuous position bias (Liu et al., 2021).

Source: arXiv 2111.09883; names as in transformers 5.23.0, models/swinv2/modeling_swinv2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import Grid, area, module_list
from weighbridge.blueprints.modules.stage_fields import scale_width
from weighbridge.blueprints.modules.swin_common import (
    FIELDS,
    MORE_IGNORED_KEYS,
    embeddings,
    output_maps,
    patch_merging,
    pixel_decoder,
    stage_maps,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, variant, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import per_batch
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, label_head, layer_norm, linear, part, split_mlp
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor

SWINV2 = variant(FIELDS, extra_position=True)
COORDINATES = 512
"""Width of the network that predicts the bias of a relative position."""


def attention(c: Config, index: int, grid: tuple[int, int]) -> Part:
    """Describe attention inside windows that are never higher than the map is, patches cut off at its edge left out.

    Queries and values have a bias where the config says so, keys never. The biases of relative positions are computed
    once for all windows, from two coordinates each.
    """
    width, heads = c.hidden * 2**index, c.heads[index]
    side = min(c.window, c.image[0] // c.patch[0] // 2**index)
    if not side:
        raise ConfigError(
            Text("the image is too low for stage {index}: its map has no place", index=index), key="image_size", value=c.image
        )
    across = -(-grid[0] // side), -(-grid[1] // side)
    bias = (linear("0", 2, COORDINATES), linear("2", COORDINATES, heads, bias=False))
    inner = part(
        "self",
        Tensor("logit_scale", (heads, 1, 1), "gain"),
        part("continuous_position_bias_mlp", *bias, kind="feed_forward", stream=per_batch((2 * side - 1) ** 2)),
        linear("query", width, width, bias=c.qkv_bias),
        linear("key", width, width, bias=False),
        linear("value", width, width, bias=c.qkv_bias),
        attend(heads=heads, head_dim=exact(width, heads), queries=side * side, keys=side * side, groups=area(across)),
        kind="self_attention",
    )
    parts = inner, part("output", linear("dense", width, width), kind="self_attention")
    return part("attention", *parts, kind="self_attention", stream=area(across) * side * side)


def layer(c: Config, index: int, grid: tuple[int, int]) -> Part:
    """Describe a layer of a stage: attention and a feed-forward network, each before a norm."""
    width = c.hidden * 2**index
    inner = scale_width(width, c.mlp_ratio)
    return part(
        "blocks",
        attention(c, index, grid),
        layer_norm("layernorm_before", width),
        *split_mlp(width, inner),
        layer_norm("layernorm_after", width),
        kind="layer",
        repeat=c.depths[index],
        stream=area(grid),
    )


def swin(c: Config, *, masked: bool, normed: bool = True) -> tuple[Part, ...]:
    """Describe patches, stages and the last norm."""
    grids = stage_maps(c)
    found: list[tuple[Node, ...]] = []
    for index, grid in enumerate(grids):
        width, below = c.hidden * 2**index, grids[index + 1 : index + 2]
        down = (patch_merging(width, 2 * width, below[0]),) if below else ()
        found.append((layer(c, index, grid), *down))
    last = layer_norm("layernorm", c.hidden * 2 ** (len(grids) - 1), stream=area(grids[-1]))
    return embeddings(c, masked), part("encoder", module_list("layers", *found), kind="encoder"), *((last,) if normed else ())


def base(c: Config) -> Part:
    """Describe Swinv2Model."""
    return part("", *swin(c, masked=c.masked), kind="model")


def classification(c: Config) -> Part:
    """Describe Swinv2ForImageClassification: the labels, on the mean of all positions."""
    head = label_head("classifier", c.hidden * 2 ** (len(c.depths) - 1), c.labels, stream="one")
    return part("", part("swinv2", *swin(c, masked=False), kind="backbone"), head, kind="model")


def masked_image(c: Config) -> Part:
    """Describe Swinv2ForMaskedImageModeling: each place of the last map gives its pixels back."""
    return part("", part("swinv2", *swin(c, masked=True), kind="backbone"), pixel_decoder(c), kind="model")


def features(c: Config, picture: Grid) -> Features:
    """Describe Swinv2Backbone over an image; it has no norm at all after its stages."""
    c = with_changes(c, picture=picture)
    return selected_outputs(c, swin(c, masked=False, normed=False), *output_maps(c))


def backbone(c: Config) -> Part:
    """Describe Swinv2Backbone."""
    return part("", *features(c, c.image).parts, kind="model")


CLASSES = {
    "Swinv2Model": base,
    "Swinv2ForImageClassification": classification,
    "Swinv2ForMaskedImageModeling": masked_image,
    "Swinv2Backbone": backbone,
}

FAMILIES = {"swinv2": Family("swinv2", SWINV2, CLASSES, "Swinv2Model", MORE_IGNORED_KEYS | {"pretrained_window_sizes"})}
