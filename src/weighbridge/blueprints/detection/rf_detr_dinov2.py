"""The backbone of RF-DETR: DINOv2 with window attention in all layers but those whose feature maps it outputs.

Source: names as in transformers 5.23.0, models/rf_detr/modeling_rf_detr.py; Robinson et al., 2025.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, height_width, image
from weighbridge.blueprints.modules.stage_fields import number, out_stages
from weighbridge.blueprints.modules.vit_common import token
from weighbridge.blueprints.vision.dinov2 import scale
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, conv2d, gated_mlp, layer_norm, linear, part, plain_mlp, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    CHANNELS,
    HIDDEN.with_default(768),
    size("ratio", "mlp_ratio", 4, "F", "factor by which the feed-forward network is wider"),
    number("layers", "num_hidden_layers", 12),
    HEADS.with_default(12),
    size("head_dim", "head_dim", lambda c: c.hidden // c.heads, "D", "head dimension", report_default=False),
    image(224),
    height_width("patch", "patch_size", 14),
    switch("qkv_bias", "qkv_bias", True),
    switch("gated", "use_swiglu_ffn", False),
    switch("masked", "use_mask_token", True),
    number("windows", "num_windows", 4),
    *out_stages(lambda c: c.layers),
)


def layer(c: Config, tokens: Size, *, within: bool) -> tuple[Node, ...]:
    """Describe a layer: norm, block and scale, twice; attention *within* windows, each with a class token, or among all."""
    H, head_dim, groups = c.hidden, c.head_dim, c.windows * c.windows if within else 1
    inner, seen, gate = c.heads * head_dim, tokens // groups, c.hidden * c.ratio * 2 // 3
    maps = (linear(f"{name}_proj", H, inner, bias=c.qkv_bias) for name in "qkv")
    scores = attend(heads=c.heads, head_dim=head_dim, queries=seen, keys=seen, groups=groups)
    plain = plain_mlp("mlp", H, H * c.ratio, ("fc1", "fc2"), bias=True)
    return (
        layer_norm("norm1", H),
        part("attention", *maps, linear("o_proj", inner, H), scores, kind="self_attention"),
        scale("layer_scale1", H),
        layer_norm("norm2", H),
        gated_mlp("mlp", H, (gate + 7) // 8 * 8, bias=True) if c.gated else plain,
        scale("layer_scale2", H),
    )


def encoder(c: Config, tokens: Size) -> tuple[Part, ...]:
    """Describe the layers over all tokens."""
    kinds = [index < c.outputs[-1] and index not in c.outputs for index in layer_range(c.layers)]
    return stack("layer", kinds, c.layers, lambda within: layer(c, tokens, within=within))


def features(c: Config, picture: Grid) -> Features:
    """Describe RfDetrDinov2Backbone over an image; every window has a class token of its own."""
    H = c.hidden
    grid, cut = (picture[0] // c.patch[0], picture[1] // c.patch[1]), area((c.image[0] // c.patch[0], c.image[1] // c.patch[1]))
    squares = picture == c.image and picture[0] == picture[1] and c.patch[0] == c.patch[1]
    runs = squares and not any(length % c.windows for length in grid)
    tokens = area(grid) + c.windows * c.windows
    undetermined = unknown("patches are not cut into whole windows, or the image is not square")
    places: Stream = area(grid) if runs else undetermined
    embeddings = part(
        "embeddings",
        token("cls_token", H),
        *((Tensor("mask_token", (1, H), "embedding"),) if c.masked else ()),
        Tensor("position_embeddings", (1, cut + 1, H), "embedding"),
        part("patch_embeddings", conv2d("projection", c.channels, H, c.patch, stream=places), kind="embeddings"),
        kind="embeddings",
    )
    body = part("encoder", *encoder(c, tokens), kind="encoder", stream=tokens if runs else undetermined)
    parts = embeddings, body, layer_norm("layernorm", H, executions=len(c.outputs))
    return selected_outputs(c, parts, (grid,) * (c.layers + 1), (H,) * (c.layers + 1))


def backbone(c: Config) -> Part:
    """Describe RfDetrDinov2Backbone."""
    found = features(c, c.image)
    return part("", *found.parts, kind="model", stream=found.parts[1].stream)  # type: ignore[union-attr]


def encoder_alone(c: Config) -> Part:
    """Describe RfDetrDinov2Encoder, whose tokens are cut into windows before."""
    return part("", *encoder(c, 0), kind="model", stream=unknown("the tokens are cut into windows by the backbone"))


IGNORED_KEYS = frozenset(
    """apply_layernorm drop_path_rate layerscale_value num_register_tokens reshape_hidden_states stage_names window_block_indexes""".split()
)
CLASSES = {"RfDetrDinov2Encoder": encoder_alone, "RfDetrDinov2Backbone": backbone}
FAMILIES = {"rf_detr_dinov2": Family("rf_detr_dinov2", FIELDS, CLASSES, "RfDetrDinov2Backbone", IGNORED_KEYS)}
