"""LFM2: short gated convolutions with attention in some of the layers.

Source: Liquid AI, LFM2 (July 2025); names as in transformers 5.23.0, models/lfm2/modeling_lfm2.py.
The MLP is two thirds of the stated width, rounded up to a multiple, unless ``block_auto_adjust_ff_dim`` is off.
"""

from __future__ import annotations

from weighbridge.blueprints import Family
from weighbridge.blueprints.causal import FIELDS, NEUTRAL, attention, heads
from weighbridge.blueprints.sparse import one_per_layer
from weighbridge.config import Field, Sizes, choice, fact, size, switch, variant
from weighbridge.errors import ConfigError
from weighbridge.parts import depthwise, embedding, linear, rms_norm, stack
from weighbridge.sizes import Size, round_up
from weighbridge.tree import Node, Part


def convolution(c: Sizes) -> Part:
    """Describe a gated convolution over a few tokens."""
    H = c.hidden
    inner = depthwise("conv", H, c.kernel, bias=c.conv_bias)
    return Part("conv", (inner, linear("in_proj", H, 3 * H, bias=c.conv_bias), linear("out_proj", H, H, bias=c.conv_bias)), "convolution")


def inner_width(c: Sizes) -> Size:
    """Return the width of the MLP."""
    stated: Size = c.mlp
    if not c.adjusted:
        return stated
    return stated * 2 // 3 if c.multiplier is None else round_up(c.multiplier * (stated * 2 // 3), c.multiple)


def lfm2(c: Sizes) -> tuple[Node, ...]:
    """Describe embeddings, layers of two kinds, and the last norm, which stands with the embeddings."""
    H, I = c.hidden, inner_width(c)

    def layer(kind: str) -> tuple[Node, ...]:
        mixer = attention(c, out="out_proj") if kind == "full_attention" else convolution(c)
        names = (linear("w1", H, I, bias=False), linear("w3", H, I, bias=False), linear("w2", I, H, bias=False))
        return (mixer, Part("feed_forward", names, "feed_forward"), rms_norm("operator_norm", H), rms_norm("ffn_norm", H))

    return (embedding("embed_tokens", c.vocab, H), *stack("layers", c.kinds, c.layers, layer), rms_norm("embedding_norm", H))


def _kinds(c: Sizes) -> list[str]:
    return ["full_attention" if c.attended is None or index in c.attended else "conv" for index in range(c.layers)]


def _whole(value: float) -> int:
    if value != int(value):
        raise ConfigError(f"{value} is no whole number, and only those are known", key="block_ffn_dim_multiplier", value=value)
    return int(value)


TABLE = variant(
    FIELDS,
    size("kernel", "conv_L_cache", 3, "Z", "width of the convolution"),
    size("multiple", "block_multiple_of", 256, "B", "what the MLP's width is a multiple of"),
    choice("multiplier", "block_ffn_dim_multiplier", 1, read=_whole),
    switch("adjusted", "block_auto_adjust_ff_dim", True),
    switch("conv_bias", "conv_bias", False),
    Field("attended", "full_attn_idxs", None, "choice"),
    Field("told", "layer_types", _kinds, "choice"),
    fact("kinds", lambda c: one_per_layer(c, c.told, "layer_types")),
    vocab=65536, hidden=2560, kv_heads=8, qkv_bias=fact("qkv_bias", False), out_bias=fact("out_bias", False),
    mlp=size("mlp", "intermediate_size", 12288, "I", "intermediate size, as stated", "block_ff_dim"),
    tied=switch("tied", "tie_word_embeddings", True, "tie_embedding"), qk_norm="head", qk_names=("q_layernorm", "k_layernorm"),
)  # fmt: skip

FAMILIES = {
    "lfm2": Family(
        "lfm2", TABLE, heads("Lfm2", lfm2, "lm"), "Lfm2Model",
        NEUTRAL | {"norm_eps", "theta", "block_dim", "block_mlp_init_scale", "block_norm_eps", "block_out_init_scale", "block_use_swiglu",
                   "block_use_xavier_init", "conv_dim", "conv_dim_out", "conv_use_xavier_init", "use_pos_enc", "num_heads"}),
}  # fmt: skip
