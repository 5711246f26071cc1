"""timm's vision transformers with relative positions: a table of distances, or a small network that is given the distance, in each layer or one for all.

Source: timm 1.0.31, timm/models/vision_transformer_relpos.py and timm/layers/pos_embed_rel.py, whose live class the tests hold this to.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import decimal_ratio
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.blueprints.modules.vit_common import grid
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.packages.timm_vit import IMAGES, WIDTHS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import per_batch
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def _refuse_no_token(c: Config) -> bool:
    if c.pool == "token" and not c.class_token:
        raise ConfigError("pooling by a token needs the class token", key="global_pool", value="token")
    return True


FIELDS = (
    *IMAGES,
    choice("pool", "global_pool", "avg", read=one_of("global_pool", "", "avg", "token")),
    *WIDTHS,
    *decimal_ratio("embed_dim"),
    switch("qkv_bias", "qkv_bias", True, report_default=False),
    switch("qk_norm", "qk_norm", False, report_default=False),
    choice("scaled", "init_values", 1e-6, read=bool, report_default=False),
    switch("class_token", "class_token", False, report_default=False),
    switch("normed_late", "fc_norm", False, report_default=False),
    choice("distances", "rel_pos_type", "mlp", read=one_of("rel_pos_type", "mlp", "mlp-swin", "bias"), report_default=False),
    size("distance_width", "rel_pos_dim", 128, "D_rel", "width of the network of distances", report_default=False),
    switch("shared", "shared_rel_pos", False, report_default=False),
    choice("block", "block_fn", "RelPosBlock", read=one_of("block_fn", "RelPosBlock", "ResPostRelPosBlock"), report_default=False),
    computed("pools", _refuse_no_token),
)


def relative_positions(c: Config, name: str) -> Part:
    """Describe what turns distances between patches into a bias of every head."""
    rows, columns = grid(c)
    distances: Size = (2 * rows - 1) * (2 * columns - 1)
    if c.distances == "bias":
        more = 3 if c.class_token else 0
        return part(name, Tensor("relative_position_bias_table", (distances + more, c.heads), "embedding"), kind="position_bias")
    maps = linear("fc1", 2, c.distance_width), linear("fc2", c.distance_width, c.heads, bias=c.distances != "mlp-swin")
    return part(name, part("mlp", *maps, kind="feed_forward"), kind="position_bias", stream=per_batch(distances))


def layer(c: Config) -> Part:
    """Describe a layer, with its norms in front or behind."""
    H, D = c.hidden, c.head_dim
    attention = part(
        "attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        *((layer_norm("q_norm", D), layer_norm("k_norm", D)) if c.qk_norm else ()),
        *(() if c.shared else (relative_positions(c, "rel_pos"),)),
        linear("proj", H, H),
        attend(heads=c.heads, head_dim=D),
        kind="self_attention",
    )
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    norms = layer_norm("norm1", H), layer_norm("norm2", H)
    if c.block == "ResPostRelPosBlock":
        children: tuple[Node, ...] = attention, norms[0], mlp, norms[1]
    else:
        scales = [(part(name, Tensor("gamma", (H,), "gain")),) if c.scaled else () for name in ("ls1", "ls2")]
        children = norms[0], attention, *scales[0], norms[1], mlp, *scales[1]
    return part("blocks", *children, kind="layer", repeat=c.layers)


def relpos_vit(c: Config) -> Part:
    """Describe VisionTransformerRelPos."""
    H, (rows, columns) = c.hidden, grid(c)
    patches = rows * columns
    embed = conv2d("proj", c.channels, H, (c.patch_height, c.patch_width), stream=patches)
    return part(
        "",
        *((Tensor("cls_token", (1, 1, H), "embedding"),) if c.class_token else ()),
        part("patch_embed", embed, kind="embeddings"),
        *((relative_positions(c, "shared_rel_pos"),) if c.shared else ()),
        layer(c),
        layer_norm("fc_norm" if c.normed_late else "norm", H),
        *((linear("head", H, c.labels, stream="one" if c.pool else None),) if c.headed else ()),
        kind="model",
        stream=patches + (1 if c.class_token else 0),
    )


IGNORED_KEYS = frozenset(
    """act_layer architecture attn_drop_rate drop_path_rate drop_rate fix_init model_args num_features pretrained_cfg proj_drop_rate
    strict_img_size weight_init""".split()
)
FAMILIES = {
    "timm_relpos": Family(
        "timm_relpos",
        FIELDS,
        {"timm.VisionTransformerRelPos": relpos_vit},
        "timm.VisionTransformerRelPos",
        IGNORED_KEYS,
        normalize_config=arguments_of,
    )
}
