"""The vision transformer of LW-DETR: window attention in some layers, global attention in the others (Chen et al., 2024).

Source: arXiv 2406.03459; names as in transformers 5.23.0, models/lw_detr/modeling_lw_detr.py.
"""

from __future__ import annotations

from math import isqrt

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, height_width
from weighbridge.blueprints.modules.stage_fields import number, numbers, out_stages, ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, plain_mlp, replace, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor


def side(c: Config) -> int:
    """Return how many windows there are in a row, or refuse what the class refuses."""
    found = isqrt(c.windows)
    if found * found != c.windows:
        raise ConfigError("expected a square number", key="num_windows", value=c.windows)
    if c.image % (c.windows * found):
        raise ConfigError(
            Text("{image} pixels are not cut into {windows} windows", image=c.image, windows=c.windows), key="image_size", value=c.image
        )
    return found


FIELDS = (
    CHANNELS,
    HIDDEN.with_default(768),
    number("layers", "num_hidden_layers", 12),
    HEADS.with_default(12),
    size("head_dim", "head_dim", lambda c: c.hidden // c.heads, "D", "head dimension", report_default=False),
    ratio("mlp_ratio", "mlp_ratio", 4),
    number("image", "image_size", 256),
    height_width("before", "pretrain_image_size", 224),
    height_width("patch", "patch_size", 16),
    switch("qkv_bias", "qkv_bias", True),
    replace(numbers("within", "window_block_indices", (), minimum=0), read=lambda value: tuple(value)),
    switch("absolute", "use_absolute_position_embeddings", True),
    number("windows", "num_windows", 16),
    computed("side", side),
    *out_stages(lambda c: c.layers),
)


def layer(c: Config, tokens: Size, *, within: bool) -> tuple[Node, ...]:
    """Describe a layer, whose two halves are scaled; *within* windows, or among all *tokens*."""
    H, head_dim = c.hidden, c.head_dim
    inner, groups = c.heads * head_dim, c.windows if within else 1
    seen = tokens // groups
    attention = part(
        "attention",
        linear("q_proj", H, inner, bias=c.qkv_bias),
        linear("k_proj", H, inner, bias=False),
        linear("v_proj", H, inner, bias=c.qkv_bias),
        linear("o_proj", inner, H),
        attend(heads=c.heads, head_dim=head_dim, queries=seen, keys=seen, groups=groups),
        kind="self_attention",
    )
    return (
        Tensor("gamma_1", (H,), "gain"),
        Tensor("gamma_2", (H,), "gain"),
        attention,
        plain_mlp("intermediate", H, scale_width(H, c.mlp_ratio), ("fc1", "fc2"), bias=True),
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
    )


def encoder(c: Config, tokens: Size) -> tuple[Part, ...]:
    """Describe the layers over all positions of a map."""
    kinds = [index in c.within for index in layer_range(c.layers)]
    return stack("layer", kinds, c.layers, lambda within: layer(c, tokens, within=within))


def features(c: Config, picture: Grid) -> Features:
    """Describe LwDetrViTBackbone over an image: its maps are all of one size."""
    grid = picture[0] // c.patch[0], picture[1] // c.patch[1]
    before = c.before[0] // c.patch[0], c.before[1] // c.patch[1]
    whole = not any(length % c.side for length in grid) and (before[0] == before[1] or not c.absolute)
    places: Stream = area(grid) if whole else unknown("patches are not cut into whole windows, or the table of positions is not square")
    positions = (Tensor("position_embeddings", (1, area(before) + 1, c.hidden), "embedding"),) if c.absolute else ()
    embeddings = part("embeddings", *positions, conv2d("projection", c.channels, c.hidden, c.patch), kind="embeddings", stream=places)
    parts = embeddings, part("encoder", *encoder(c, area(grid)), kind="encoder", stream=places)
    return selected_outputs(c, parts, (grid,) * (c.layers + 1), (c.hidden,) * (c.layers + 1))


def encoder_alone(c: Config) -> Part:
    """Describe LwDetrViTEncoder, whose tokens are cut into windows before."""
    return part("", *encoder(c, 0), kind="model", stream=unknown("the tokens are cut into windows by the backbone"))


CLASSES = {
    "LwDetrViTEncoder": encoder_alone,
    "LwDetrViTBackbone": lambda c: part("", *features(c, (c.image, c.image)).parts, kind="model"),
}
IGNORED_KEYS = frozenset("cae_init_values dropout_prob num_windows_side stage_names".split())
FAMILIES = {"lw_detr_vit": Family("lw_detr_vit", FIELDS, CLASSES, "LwDetrViTBackbone", IGNORED_KEYS)}
