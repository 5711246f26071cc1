"""The image encoder of Segment Anything: a ViT with window attention, and global attention in a few layers.

Source: arXiv 2304.02643 and 2306.01567 (HQ), after arXiv 2203.16527 (ViTDet); names as in transformers 5.23.0,
models/sam/modeling_sam.py and models/sam_hq/modeling_sam_hq.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.modules.causal_lm import HEAD_DIM, HEADS_DIVIDE
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS, QKV_BIAS, VIT_HEADS, VIT_HIDDEN, VIT_LAYERS
from weighbridge.config.family import Family
from weighbridge.config.fields import IMAGE, MLP_DIM, PATCH, Config, constant, sequence, size, switch
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, matmul, part, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Part, Tensor


def kinds(c: Config) -> list[str]:
    """Return which layers look everywhere and which only in a window; without a window all look everywhere."""
    return ["global" if c.window == 0 or index in c.everywhere else "window" for index in layer_range(c.layers)]


FIELDS = (
    *(VIT_HIDDEN, VIT_LAYERS, VIT_HEADS, HEADS_DIVIDE, HEAD_DIM, CHANNELS, QKV_BIAS),
    ratio("ratio", "mlp_ratio", 4.0),
    MLP_DIM.with_default(lambda c: scale_width(c.hidden, c.ratio)),
    size("outputs", "output_channels", 256, "O", "output channels"),
    IMAGE.with_default(1024),
    PATCH.with_default(16),
    size("window", "window_size", 14, "W", "attention window size", minimum=0),
    size("frequencies", "num_pos_feats", 128, "F", "frequencies of positions"),
    sequence("everywhere", "global_attn_indexes", lambda c: [2, 5, 8, 11]),
    switch("absolute", "use_abs_pos", True),
    switch("relative", "use_rel_pos", True),
    constant("kinds", kinds),
)


def side(c: Config) -> Size:
    """Count the patches along one side of the image."""
    result: Size = c.image // c.patch
    return result


def attention(c: Config, name: str, reach: Grid, windows: Size = 1) -> Part:
    """Describe attention among the patches of one window or map, with a learned table of distances for each axis.

    The image is padded to whole windows, and what is added is multiplied with as well.
    """
    H, among = c.hidden, area(reach)
    names = zip(("rel_pos_h", "rel_pos_w"), reach, strict=True)
    tables = (Tensor(name, (2 * side - 1, c.head_dim), "embedding") for name, side in names)
    along = ((windows, c.heads, among, side, c.head_dim) for side in reach)
    return part(
        name,
        *(tables if c.relative else ()),
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("proj", H, H),
        attend(heads=c.heads, head_dim=c.head_dim, queries=among, keys=among, groups=windows),
        *((matmul("distances", *along),) if c.relative else ()),
        kind="self_attention",
        stream=windows * among,
    )


def window_attention(c: Config, name: str, over: Grid, *, window: bool) -> Part:
    """Describe attention over a whole map, or in windows that cover it."""
    if not window:
        return attention(c, name, over)
    rows, columns = ((side + c.window - 1) // c.window for side in over)
    return attention(c, name, (c.window, c.window), rows * columns)


def layer(c: Config, kind: str) -> tuple[Part, ...]:
    """Describe a layer that looks everywhere or in windows."""
    attends = window_attention(c, "attn", (side(c), side(c)), window=kind == "window")
    mlp = part("mlp", linear("lin1", c.hidden, c.mlp), linear("lin2", c.mlp, c.hidden), kind="feed_forward")
    return layer_norm("layer_norm1", c.hidden), attends, layer_norm("layer_norm2", c.hidden), mlp


def encoder(c: Config, name: str = "") -> Part:
    """Describe SamVisionEncoder: the patches as a map, layers, and a neck of two convolutions."""
    H, O, S = c.hidden, c.outputs, side(c)
    places = S * S
    neck = (
        conv2d("conv1", H, O, 1, bias=False),
        layer_norm("layer_norm1", O),
        conv2d("conv2", O, O, 3, bias=False),
        layer_norm("layer_norm2", O),
    )
    known: Sequence[str] = c.kinds
    return part(
        name,
        *((Tensor("pos_embed", (1, S, S, H), "embedding"),) if c.absolute else ()),
        part("patch_embed", conv2d("projection", c.channels, H, c.patch), kind="embeddings"),
        *stack("layers", known, c.layers, lambda kind: layer(c, kind)),
        part("neck", *neck, kind="neck"),
        kind="vision" if name else "model",
        stream=places,
    )


def model(c: Config) -> Part:
    """Describe SamVisionModel: the encoder under a name."""
    return part("", encoder(c, "vision_encoder"), kind="model")


FAMILIES = {
    f"{name}_vision_model": Family(
        f"{name}_vision_model",
        FIELDS,
        {f"{prefix}VisionEncoder": encoder, f"{prefix}VisionModel": model},
        f"{prefix}VisionModel",
        IGNORED_KEYS | {"scale"},
    )
    for name, prefix in (("sam", "Sam"), ("sam_hq", "SamHQ"))
}
