"""The towers of Gemma 4: a vision transformer for images of any size, and a conformer for audio.

Source: Google, Gemma 4 (2026); arXiv 2005.08100 (Conformer); names as in transformers 5.23.0, models/gemma4/modeling_gemma4.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gemma import SANDWICH
from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import HEAD_DIM
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, PATCH, Config, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, merge, per_batch, product_of
from weighbridge.core.parts import attend, layer_norm, linear, matmul, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor


def pair_of(convs: tuple[int, ...]) -> tuple[int, ...]:
    """Take the channels of the two convolutions over sound; what a list has beyond them is not read."""
    if len(convs) < 2:
        raise ConfigError("expected the channels of two convolutions", key="subsampling_conv_channels", value=convs)
    return convs[:2]


VISION = (
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(16),
    HEADS.with_default(12),
    KV_HEADS.with_default(12),
    size("head_dim", "head_dim", 64, "D", "head dimension"),
    size("pool", "pooling_kernel_size", 3, "M", "patches merged along an axis"),
    computed("pooled", lambda c: c.pool > 1),
    PATCH.with_default(16),
    size("positions", "position_embedding_size", 10240, "S", "positions"),
    switch("clipped", "use_clipped_linears", False),
    switch("standard", "standardize", False),
    size("out", "output_proj_dims", lambda c: c.hidden, "O", "width of a merged patch", report_default=False),
)
AUDIO = (
    HIDDEN.with_default(1024),
    LAYERS.with_default(12),
    HEADS.with_default(8),
    HEAD_DIM,
    numbers("convs", "subsampling_conv_channels", (128, 32)),
    computed("pair", lambda c: pair_of(c.convs)),
    size("kernel", "conv_kernel_size", 5, "R", "kernel size of the convolution"),
    size("chunk", "attention_chunk_size", 12, "B", "queries in a block"),
    size("past", "attention_context_left", 13, "X", "keys up to and including a query's own"),
    size("future", "attention_context_right", 0, "Y", "keys after a query", minimum=0),
    switch("clipped", "use_clipped_linears", True),
    size("out", "output_proj_dims", 1536, "O", "width of the audio output"),
)
BOUNDS = ("input_min", "input_max", "output_min", "output_max")


def clippable_linear(name: str, inputs: Size, outputs: Size, c: Config) -> Part:
    """Describe a linear layer whose inputs and outputs may be kept within bounds that are saved beside it."""
    bounds = tuple(Tensor(bound, (), "buffer") for bound in BOUNDS) if c.clipped else ()
    return part(name, *bounds, linear("linear", inputs, outputs, bias=False), kind="linear")


def pooled_patches(c: Config) -> Stream:
    """Return the stream of squares of patches."""
    return product_of(*(merge(axis, c.pool) for axis in ("rows", "columns")))


def vision(c: Config) -> Part:
    """Describe the tower: patches with a table of positions for each axis, layers, and squares of patches averaged by a product."""
    H, I, A, K, D = c.hidden, c.mlp, c.heads, c.kv_heads, c.head_dim
    attention = part(
        "self_attn",
        clippable_linear("q_proj", H, A * D, c),
        clippable_linear("k_proj", H, K * D, c),
        clippable_linear("v_proj", H, K * D, c),
        clippable_linear("o_proj", A * D, H, c),
        rms_norm("q_norm", D),
        rms_norm("k_norm", D),
        attend(heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )
    mlp = part(
        "mlp",
        clippable_linear("gate_proj", H, I, c),
        clippable_linear("up_proj", H, I, c),
        clippable_linear("down_proj", I, H, c),
        kind="feed_forward",
    )
    layer = part("layers", attention, mlp, *(rms_norm(name, H) for name in SANDWICH), kind="layer", repeat=c.layers)
    table = Tensor("position_embedding_table", (2, c.positions, H), "embedding")
    embedder = part("patch_embedder", table, linear("input_proj", 3 * c.patch * c.patch, H, bias=False), kind="embeddings")
    return part(
        "",
        *((Tensor("std_bias", (H,), "buffer"), Tensor("std_scale", (H,), "buffer")) if c.standard else ()),
        embedder,
        part("encoder", layer, kind="encoder"),
        *((matmul("pool", (pooled_patches(c), PATCHES, H)),) if c.pooled else ()),
        kind="vision",
        stream=PATCHES,
    )


def audio(c: Config) -> Part:
    """Describe the conformer: two convolutions that halve time and pitch, layers that attend to blocks, a last linear layer."""
    H, (first, second) = c.hidden, c.pair
    once: Stream = (length("seq") - 1) // 2 + 1
    twice: Stream = (length(once) - 1) // 2 + 1

    def strided_convolution(name: str, inputs: Size, outputs: Size, frames: Stream, pitches: Size) -> Part:
        conv = part("conv", Tensor("weight", (outputs, inputs, 3, 3)), kind="convolution")
        return part(name, conv, layer_norm("norm", outputs, bias=False), kind="convolution", stream=product_of(frames, pitches))

    projection = part(
        "subsample_conv_projection",
        strided_convolution("layer0", 1, first, once, first // 2),
        strided_convolution("layer1", first, second, twice, first // 4),
        linear("input_proj_linear", first // 4 * second, H, bias=False),
        kind="convolutions",
        stream=twice,
    )
    layer = part(
        "layers",
        forward("feed_forward1", c),
        forward("feed_forward2", c),
        blockwise(c, twice),
        conv_module(c),
        *(rms_norm(name, H) for name in ("norm_pre_attn", "norm_post_attn", "norm_out")),
        kind="layer",
        repeat=c.layers,
    )
    return part("", projection, layer, linear("output_proj", H, c.out), kind="audio", stream=twice)


def forward(name: str, c: Config) -> Part:
    """Describe a feed-forward network between two norms."""
    H = c.hidden
    return part(
        name,
        clippable_linear("ffw_layer_1", H, 4 * H, c),
        clippable_linear("ffw_layer_2", 4 * H, H, c),
        rms_norm("pre_layer_norm", H),
        rms_norm("post_layer_norm", H),
        kind="feed_forward",
    )


def conv_module(c: Config) -> Part:
    """Describe a gated map, a convolution of each channel with what came before, and a map back."""
    H = c.hidden
    return part(
        "lconv1d",
        clippable_linear("linear_start", H, 2 * H, c),
        clippable_linear("linear_end", H, H, c),
        part("depthwise_conv1d", Tensor("weight", (H, 1, c.kernel)), kind="convolution"),
        rms_norm("pre_layer_norm", H),
        rms_norm("conv_norm", H),
        kind="convolution",
    )


def blockwise(c: Config, frames: Stream) -> Part:
    """Describe attention of blocks of queries to the keys around them; blocks are filled up, and distances have keys of their own."""
    H, reach, blocks = c.hidden, c.chunk + c.past - 1 + c.future, (length(frames) + c.chunk - 1) // c.chunk
    distances, inner = reach // 2 + 1, c.heads * c.head_dim
    return part(
        "self_attn",
        Tensor("per_dim_scale", (c.head_dim,), "gain"),
        *(clippable_linear(f"{name}_proj", H, inner, c) for name in "qkv"),
        clippable_linear("post", H, H, c),
        linear("relative_k_proj", H, inner, bias=False, stream=per_batch(distances)),
        matmul("attend", (2, blocks, c.chunk, reach, inner), (blocks, c.chunk, distances, inner)),
        kind="self_attention",
    )


AUDIO_IGNORED_KEYS = frozenset("attention_invalid_logits_value attention_logit_cap gradient_clipping residual_weight".split())
VISION_IGNORED_KEYS = frozenset("attention_bias hidden_activation max_position_embeddings".split())
FAMILIES = {
    "gemma4_vision": Family("gemma4_vision", VISION, {"Gemma4VisionModel": vision}, "Gemma4VisionModel", VISION_IGNORED_KEYS),
    "gemma4_audio": Family("gemma4_audio", uneven_heads(AUDIO), {"Gemma4AudioModel": audio}, "Gemma4AudioModel", AUDIO_IGNORED_KEYS),
}
