"""OpenCLIP's own towers: a transformer of images or text with the switches it has, and the ResNet of CLIP; ``open_clip.py`` puts them together.

Source: open_clip_torch 3.3.0, open_clip/{transformer,modified_resnet}.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.vit_common import grid
from weighbridge.config.fields import Config
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.parts import attend, batch_norm, conv2d, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Every, Node, Part, Tensor

WRITTEN = length("seq") - 1
"""The tokens that CoCa's decoder sees: all but the last, which has no next one to predict."""


def layer_scale(c: Config, name: str) -> tuple[Part, ...]:
    """Describe the scale of a layer's output, if it has one."""
    return () if c.layer_scale is None else (part(name, Tensor("gamma", (c.hidden,), "gain")),)


def block(c: Config, name: str = "resblocks", *, keys: Stream | None = None, causal: bool = False) -> Part:
    """Describe a layer; over another stream, *keys*, it has a norm for what it attends to."""
    H = c.hidden
    mlp = part("mlp", linear("c_fc", H, c.mlp), linear("c_proj", c.mlp, H), kind="feed_forward")
    children = (
        layer_norm("ln_1", H),
        packed_attention("attn", c, keys=keys, causal=causal),
        *layer_scale(c, "ls_1"),
        *(() if keys is None else (layer_norm("ln_1_kv", H, stream=keys),)),
        layer_norm("ln_2", H),
        mlp,
        *layer_scale(c, "ls_2"),
    )
    return part(name, *children, kind="layer", repeat=c.layers)


def packed_attention(name: str, c: Config, *, keys: Stream | None = None, causal: bool = False) -> Part:
    """Describe torch's attention, which holds queries, keys and values in one tensor."""
    H = c.hidden
    packed: tuple[Node, ...] = (Tensor("in_proj_weight", (3 * H, H), "weight"), Tensor("in_proj_bias", (3 * H,), "bias"))
    if keys is not None:  # a third of it sees the queries, the rest the keys
        packed = (part("", *packed, stream=0), matmul("projections", (WRITTEN, H, H), (keys, 2 * H, H)))
    scores = attend(heads=c.heads, head_dim=exact(H, c.heads), keys=keys, causal=causal)
    return part(name, *packed, linear("out_proj", H, H), scores, kind="self_attention" if keys is None else "cross_attention")


def wider_block(c: Config, causal: bool) -> tuple[Node, ...]:
    """Describe a layer with norms and scales of its own inside attention and feed-forward, each by a switch."""
    H, D = c.hidden, exact(c.hidden, c.heads)
    if c.scaled_cosine_attn and c.qk_norm:
        raise ConfigError("not both scaled_cosine_attn and qk_norm", key="qk_norm", value=True)
    attention = part(
        "attn",
        Tensor("in_proj_weight", (3 * H, H), "weight"),
        Tensor("in_proj_bias", (3 * H,), "bias"),
        *((Tensor("logit_scale", (c.heads, 1, 1), "gain"),) if c.scaled_cosine_attn else ()),
        *((Tensor("head_scale", (c.heads, 1, 1), "gain"),) if c.scale_heads else ()),
        *((layer_norm("ln_q", D), layer_norm("ln_k", D)) if c.qk_norm else ()),
        *((layer_norm("ln_inner", H),) if c.scale_attn_inner else ()),
        linear("out_proj", H, H),
        attend(heads=c.heads, head_dim=D, causal=causal),
        kind="self_attention",
    )
    inner = (layer_norm("ln", c.mlp),) if c.scale_fc else ()
    mlp = part("mlp", linear("c_fc", H, c.mlp), *inner, linear("c_proj", c.mlp, H), kind="feed_forward")
    after = (layer_norm("ln_attn", H),) if c.scale_attn else ()
    return layer_norm("ln_1", H), attention, *after, *layer_scale(c, "ls_1"), layer_norm("ln_2", H), mlp, *layer_scale(c, "ls_2")


def pooler(name: str, c: Config, shared: Size, queries: Size, tokens: Size, *, one_width: bool) -> Part:
    """Describe attention of learned queries to the tokens, by which they are pooled; torch packs its maps where all have *one_width*."""
    H, heads = c.hidden, c.pool_heads
    if one_width:
        packed = Tensor("in_proj_weight", (3 * H, H), "weight"), Tensor("in_proj_bias", (3 * H,), "bias")
        inputs: tuple[Node, ...] = (part("", *packed, stream=0), matmul("projections", (queries, H, H), (tokens, 2 * H, H)))
    else:
        keys = Tensor("k_proj_weight", (shared, H), "weight"), Tensor("v_proj_weight", (shared, H), "weight")
        inputs = (
            Tensor("q_proj_weight", (shared, shared), "weight"),
            part("", *keys, stream=tokens),
            Tensor("in_proj_bias", (3 * shared,), "bias"),
        )
    scores = attend(heads=heads, head_dim=exact(shared, heads), queries=queries, keys=tokens)
    attention = part("attn", *inputs, linear("out_proj", shared, shared), scores, kind="cross_attention")
    query = Tensor("query", (queries, shared), "embedding")
    return part(name, query, attention, layer_norm("ln_q", shared), layer_norm("ln_k", H, stream=tokens), kind="pooler", stream=queries)


def transformer(c: Config, *, causal: bool = False) -> Part:
    """Describe the layers of a tower."""
    layers = block(c, causal=causal)
    if c.wider:
        layers = replace(layers, children=wider_block(c, causal))
    return part("transformer", layers, kind="encoder")


def poolers(c: Config, shared: Size, tokens: Size, *, one_width: bool) -> tuple[Part, ...]:
    """Describe what pools by attention, if anything does: for the decoder, and in CoCa's paper once more for the shared space."""
    if not c.pooling:
        return ()
    first = pooler("attn_pool", c, shared, c.queries, tokens, one_width=one_width)
    if c.pooling is True:
        return (first,)
    seen = tokens if c.pooling == "parallel" else c.queries
    return first, pooler("attn_pool_contrastive", c, shared, 1, seen, one_width=one_width)


def vision_transformer(c: Config, shared: Size, *, one_width: bool) -> tuple[Node, ...]:
    """Describe VisionTransformer: patches behind a class token, layers, and a projection of what is pooled."""
    H, (rows, columns) = c.hidden, grid(c)
    tokens, pooled = rows * columns + 1, shared if c.pooling else H
    return (
        Tensor("class_embedding", (H,), "embedding"),
        Tensor("positional_embedding", (tokens, H), "embedding", frozen=c.frozen_positions),
        part("", Tensor("proj", (pooled, shared), "weight"), stream="one"),
        conv2d("conv1", 3, H, (c.patch_height, c.patch_width), stream=rows * columns, bias=False),
        *(() if c.first_norm else (layer_norm("ln_pre", H),)),
        transformer(c),
        *poolers(c, shared, tokens, one_width=one_width),
        layer_norm("ln_post", pooled, stream=c.queries if c.pooling is True else None),
    )


def bottleneck(inputs: Size, width: Size, before: Size, after: Size, *, beside: bool) -> tuple[Node, ...]:
    """Describe a residual layer of three convolutions; the map is averaged down before the last one."""
    shortcut = part(
        "downsample", conv2d("0", inputs, 4 * width, 1, bias=False), batch_norm("1", 4 * width), kind="convolution", stream=after
    )
    return (
        conv2d("conv1", inputs, width, 1, bias=False, stream=before),
        batch_norm("bn1", width, stream=before),
        conv2d("conv2", width, width, 3, bias=False, stream=before),
        batch_norm("bn2", width, stream=before),
        conv2d("conv3", width, 4 * width, 1, bias=False, stream=after),
        batch_norm("bn3", 4 * width, stream=after),
        *((shortcut,) if beside else ()),
    )


def modified_resnet(c: Config, shared: Size) -> tuple[Node, ...]:
    """Describe ModifiedResNet: a stem of three convolutions, four stages, and attention that pools."""
    H, half = c.hidden, c.hidden // 2
    halved: Grid = ((c.image_height - 1) // 2 + 1,) * 2
    stem: list[Node] = []
    for index, (inputs, width) in enumerate(((3, half), (half, half), (half, H)), 1):
        stem += [
            conv2d(f"conv{index}", inputs, width, 3, bias=False, stream=area(halved)),
            batch_norm(f"bn{index}", width, stream=area(halved)),
        ]
    side, inputs, stages = halved[0] // 2, H, []
    for index, depth in enumerate(c.depths):
        width, below = H * 2**index, side // 2 if index else side
        first = part("", *bottleneck(inputs, width, side * side, below * below, beside=True), kind="layer", repeat=1)
        rest = part(
            "", *bottleneck(4 * width, width, below * below, below * below, beside=False), kind="layer", repeat=depth - 1, indices=Every(1)
        )
        stages.append(part(f"layer{index + 1}", first, *((rest,) if depth > 1 else ()), kind="stage"))
        side, inputs = below, 4 * width
    wide, tokens = 32 * H, side * side + 1
    names = ("k_proj", "q_proj", "v_proj")
    pool = part(
        "attnpool",
        Tensor("positional_embedding", ((c.image_height // 32) * (c.image_height // 32) + 1, wide), "embedding"),
        *(linear(name, wide, wide) for name in names),
        linear("c_proj", wide, shared),
        attend(heads=c.heads, head_dim=exact(wide, c.heads)),
        kind="pooler",
        stream=tokens,
    )
    return *stem, *stages, pool
