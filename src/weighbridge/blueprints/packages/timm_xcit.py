"""timm's XCiT: attention among channels instead of places, a convolution among neighbours, and class attention at the end.

Source: "XCiT: Cross-Covariance Image Transformers" (arXiv 2106.09681); timm 1.0.31, timm/models/xcit.py and cait.py, whose live class the
tests hold this to.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output
from weighbridge.blueprints.modules.stage_fields import decimal_ratio
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.blueprints.packages.timm_vit import IMAGES, WIDTHS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import per_batch
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FOURIER = 32
"""Frequencies of each axis in the encoding of positions."""


def _halvings(c: Config) -> int:
    """Return how many convolutions halve the image: the patches have 8 or 16 pixels, and the image is a multiple of them."""
    if c.patch_height not in (8, 16) or c.patch_width != c.patch_height:
        raise ConfigError(Text("expected 8 or 16, found {value!r:.60}", value=c.patch_height), key="patch_size", value=c.patch_height)
    if c.image_height % c.patch_height:
        raise ConfigError(Text("expected a multiple of {size}", size=c.patch_height), key="img_size", value=c.image_height)
    return 4 if c.patch_height == 16 else 3


FIELDS = (
    *IMAGES,
    choice("pool", "global_pool", "token", report_default=False),
    *WIDTHS,
    *decimal_ratio("embed_dim"),
    switch("qkv_bias", "qkv_bias", True, report_default=False),
    size("class_layers", "cls_attn_layers", 2, "K", "class-attention layers", minimum=0),
    switch("positioned", "use_pos_embed", True, report_default=False),
    replace(choice("scaled", "eta", 1.0, read=lambda value: value is not None, report_default=False), nullable=True),
    switch("normed_whole", "tokens_norm", False, report_default=False),
    computed("halvings", _halvings),
)


def patches(c: Config) -> tuple[Part, Grid]:
    """Describe the convolutions that make patches, each of which halves the map; and return the last map."""
    grid, inputs, found = (c.image_height, c.image_width), c.channels, []
    for index in range(c.halvings):
        width = c.hidden // 2 ** (c.halvings - 1 - index)
        grid = conv_output(grid, 3, 2, 1)
        both = conv2d("0", inputs, width, 3, bias=False), batch_norm("1", width)
        found.append(part(str(2 * index), *both, kind="convolution", stream=area(grid)))
        inputs = width
    return part("patch_embed", part("proj", *found, kind="convolution"), kind="embeddings"), grid


def scales(c: Config, *names: str) -> tuple[Tensor, ...]:
    """Describe the factors of a layer's branches."""
    return tuple(Tensor(name, (c.hidden,), "gain") for name in names)


def feed_forward(c: Config) -> Part:
    """Describe the MLP."""
    return part("mlp", linear("fc1", c.hidden, c.mlp), linear("fc2", c.mlp, c.hidden), kind="feed_forward")


def layer(c: Config, places: Size) -> Part:
    """Describe a layer: channels attend to channels, places to their neighbours."""
    H, d = c.hidden, c.head_dim
    attention = part(
        "attn",
        Tensor("temperature", (c.heads, 1, 1), "gain"),
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("proj", H, H),
        matmul("channels", (c.heads, d, d, places), (c.heads, d, d, places)),
        kind="self_attention",
    )
    near = part(
        "local_mp",
        conv2d("conv1", H, H, 3, groups=H),
        batch_norm("bn", H),
        conv2d("conv2", H, H, 3, groups=H),
        kind="convolution",
    )
    norms = {name: layer_norm(name, H) for name in ("norm1", "norm3", "norm2")}
    children = norms["norm1"], attention, norms["norm3"], near, norms["norm2"], feed_forward(c)
    return part("blocks", *scales(c, "gamma1", "gamma3", "gamma2"), *children, kind="layer", repeat=c.layers)


def class_layer(c: Config, tokens: Size) -> Part:
    """Describe a layer in which the class token alone attends to all."""
    H, bias = c.hidden, c.qkv_bias
    attention = part(
        "attn",
        linear("q", H, H, bias=bias),
        linear("k", H, H, bias=bias, stream=tokens),
        linear("v", H, H, bias=bias, stream=tokens),
        linear("proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim, queries=1, keys=tokens),
        kind="self_attention",
        stream=1,
    )
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward", stream=1)
    gammas = scales(c, "gamma1", "gamma2") if c.scaled else ()
    children = layer_norm("norm1", H), attention, layer_norm("norm2", H, stream=tokens if c.normed_whole else 1), mlp
    return part("cls_attn_blocks", *gammas, *children, kind="layer", repeat=c.class_layers, stream=tokens)


def xcit(c: Config) -> Part:
    """Describe Xcit."""
    H = c.hidden
    embed, grid = patches(c)
    places = area(grid)
    position = conv2d("token_projection", 2 * FOURIER, H, 1, stream=per_batch(places))
    return part(
        "",
        Tensor("cls_token", (1, 1, H), "embedding"),
        embed,
        *((part("pos_embed", position, kind="embeddings"),) if c.positioned else ()),
        layer(c, places),
        class_layer(c, places + 1),
        layer_norm("norm", H, stream=places + 1),
        *((linear("head", H, c.labels, stream="one"),) if c.headed else ()),
        kind="model",
        stream=places,
    )


IGNORED_KEYS = frozenset(
    """act_layer architecture attn_drop_rate drop_path_rate drop_rate model_args norm_layer num_features pos_drop_rate pretrained_cfg
    proj_drop_rate""".split()
)
FAMILIES = {"timm_xcit": Family("timm_xcit", FIELDS, {"timm.Xcit": xcit}, "timm.Xcit", IGNORED_KEYS, normalize_config=arguments_of)}
