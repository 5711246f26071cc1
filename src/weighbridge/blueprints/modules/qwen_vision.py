"""The vision encoders of Qwen-VL: patches of images of any size, merged in squares before they enter the text.

Source: arXiv 2409.12191 (Qwen2-VL), 2502.13923 (Qwen2.5-VL), 2511.21631 (Qwen3-VL); names as in transformers 5.23.0,
models/qwen2_vl/modeling_qwen2_vl.py, models/qwen2_5_vl and models/qwen3_vl. One picture is one frame twice.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import HEADS_DIVIDE, default_head_dim
from weighbridge.config.fields import (
    HIDDEN,
    IN_CHANNELS,
    MLP,
    NUM_HEADS,
    SPATIAL_MERGE,
    Config,
    computed,
    constant,
    derived,
    sequence,
    size,
    variant,
)
from weighbridge.core.length import Stream, merge, product_of, sum_of_squares
from weighbridge.core.parts import attend, embedding, gated_mlp, layer_norm, linear, matmul, part, plain_mlp, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Operation, Part, Tensor

PATCHES: Stream = product_of("rows", "columns")
"""The patches of an image of any size."""

FIELDS = (
    size("layers", "depth", 27, "L", "layers", "num_hidden_layers"),
    HIDDEN.with_default(1152),
    MLP.with_default(4304),
    NUM_HEADS.with_default(16),
    HEADS_DIVIDE,
    derived("head_dim", default_head_dim, "hidden_size", "num_heads"),
    IN_CHANNELS.with_default(3),
    size("patch_side", "patch_size", 16, "P", "patch size"),
    SPATIAL_MERGE.with_default(2),
    size("frames", "temporal_patch_size", 2, "T", "frames per patch"),
    size("out", "out_hidden_size", 3584, "O", "width of a merged patch"),
    size("positions", "num_position_embeddings", 2304, "S", "positions"),
    sequence("deep", "deepstack_visual_indexes", lambda c: [8, 16, 24]),
    computed("deep_runs", lambda c: len({index for index in c.deep if index < c.layers})),
    constant("window", None),
    constant("full", ()),
    computed("windowed", lambda c: [index not in c.full for index in layer_range(c.layers)]),
)
"""Qwen3-VL's fields."""

OLDER = {
    "layers": 32,
    "patch_side": 14,
    "positions": constant("positions", None),
    "deep": constant("deep", ()),
    "deep_runs": constant("deep_runs", 0),
}
QWEN2_5 = variant(
    FIELDS,
    hidden=3584,
    mlp=3420,
    **OLDER
    | {
        "window": size("window", "window_size", 112, "W", "window size in pixels"),
        "full": sequence("full", "fullatt_block_indexes", lambda c: [7, 15, 23, 31]),
    },
)
QWEN2 = variant(
    FIELDS,
    **OLDER
    | {
        "hidden": size("hidden", "embed_dim", 1280, "H", "hidden size"),
        "mlp": size("ratio", "mlp_ratio", 4, "R", "intermediate size, as a multiple of the hidden size"),
        "out": size("out", "hidden_size", 3584, "O", "width of a merged patch"),
    },
)


def merged_patches(c: Config) -> Stream:
    """Return the stream of merged patches: squares of them side by side are one token of the text."""
    return product_of(*(merge(axis, c.merge) for axis in ("rows", "columns")))


def patches(c: Config, *, bias: bool = True) -> Part:
    """Describe the convolution that turns each patch, through all its frames, into a vector."""
    weight = Tensor("weight", (c.hidden, c.channels, c.frames, c.patch_side, c.patch_side), "weight")
    proj = part("proj", *((weight, Tensor("bias", (c.hidden,), "bias")) if bias else (weight,)), kind="convolution")
    return part("patch_embed", proj, kind="embeddings")


def attention(c: Config, *, windowed: bool = False) -> Part:
    """Describe attention over an image's patches, or within square windows of them."""
    H = c.hidden
    inner: Operation = attend(heads=c.heads, head_dim=c.head_dim)
    if windowed:
        # A window's side is given in pixels, and holds whole merged patches.
        side = c.window // c.merge // c.patch_side * c.merge
        inner = matmul("attend", (2, H, sum_of_squares("rows", side), sum_of_squares("columns", side)))
    return part("attn", linear("qkv", H, 3 * H), linear("proj", H, H), inner, kind="self_attention")


def qwen2(c: Config) -> Part:
    """Describe Qwen2-VL's: layer norms and a plain feed-forward network, two linear layers that merge."""
    H = c.hidden
    mlp = plain_mlp("mlp", H, H * c.ratio, ("fc1", "fc2"), bias=True)
    block = part("blocks", layer_norm("norm1", H), layer_norm("norm2", H), attention(c), mlp, kind="layer", repeat=c.layers)
    return tower(patches(c, bias=False), block, patch_merger(c, layer_norm("ln_q", H)))


def qwen2_5(c: Config) -> Part:
    """Describe Qwen2.5-VL's: RMS norms and a gated feed-forward network; most layers look into windows only."""
    H = c.hidden

    def block(windowed: bool) -> tuple[Node, ...]:
        mlp = gated_mlp("mlp", H, c.mlp, bias=True)
        return (rms_norm("norm1", H), rms_norm("norm2", H), attention(c, windowed=windowed), mlp)

    return tower(patches(c, bias=False), *stack("blocks", c.windowed, c.layers, block), patch_merger(c, rms_norm("ln_q", H)))


def patch_merger(c: Config, norm: Part) -> Part:
    """Describe the older merger: a norm on patches, then two linear layers on squares of them."""
    wide = c.hidden * c.merge * c.merge
    mlp = part("mlp", linear("0", wide, wide), linear("2", wide, c.out), kind="feed_forward", stream=merged_patches(c))
    return part("merger", norm, mlp, kind="projector")


def qwen3(c: Config) -> Part:
    """Describe Qwen3-VL's: learned positions as well; what some layers give meets early layers of the text by a merger of its own."""
    H = c.hidden
    mlp = plain_mlp("mlp", H, c.mlp, ("linear_fc1", "linear_fc2"), bias=True)
    block = part("blocks", layer_norm("norm1", H), layer_norm("norm2", H), attention(c), mlp, kind="layer", repeat=c.layers)
    wide = H * c.merge * c.merge
    linears = (linear("linear_fc1", wide, wide, stream=merged_patches(c)), linear("linear_fc2", wide, c.out, stream=merged_patches(c)))
    merger = part("merger", layer_norm("norm", H), *linears, kind="projector")
    late = (layer_norm("norm", wide, stream=merged_patches(c)), *linears)
    deep = (part("deepstack_merger_list", *late, kind="projector", repeat=len(c.deep), executions=c.deep_runs),) if c.deep else ()
    return tower(patches(c), embedding("pos_embed", c.positions, H), block, merger, *deep)


def tower(*children: Node) -> Part:
    """Describe a whole tower, over all patches of an image."""
    return part("", *children, kind="vision", stream=PATCHES)
