"""Gemma 3n's audio encoder: the Universal Speech Model's conformer, whose attention looks at blocks of frames.

Source: Zhang et al. 2023, arXiv 2303.01037; names as in transformers 5.23.0, models/gemma3n/modeling_gemma3n.py. ``seq`` counts mel frames.
"""

from __future__ import annotations

from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, Field, computed, derived, sequence, size
from weighbridge.core.length import Stream, length, per_batch, product_of, unknown
from weighbridge.core.parts import linear, matmul, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    size("mels", "input_feat_size", 128, "M", "mel bins"),
    HIDDEN.with_default(1536),
    size("heads", "conf_num_attention_heads", 8, "A", "attention heads"),
    size("layers", "conf_num_hidden_layers", 12, "L", "layers"),
    derived("head_dim", lambda c: c.hidden // c.heads, "hidden_size", "conf_num_attention_heads"),
    computed("heads_divide", lambda c: c.hidden % c.heads == 0),
    size("kernel", "conf_conv_kernel_size", 5, "K", "kernel size of the depthwise convolution"),
    Field("chunk", "conf_attention_chunk_size", 12, "choice"),
    Field("past", "conf_attention_context_left", 13, "choice"),
    Field("future", "conf_attention_context_right", 0, "choice"),
    sequence("channels", "sscp_conv_channel_size", [128, 32]),
    sequence("kernels", "sscp_conv_kernel_size", [[3, 3], [3, 3]]),
    sequence("strides", "sscp_conv_stride_size", [[2, 2], [2, 2]]),
)


def subsampling(c: Config) -> tuple[Part, Stream]:
    """Describe two convolutions over frames and mel bins and a map to vectors, and return the stream of frames that are left."""
    frames: Stream = "seq"
    bins: Size = c.mels
    convs, inputs = [], 1
    for index in (0, 1):
        (height, width), (down, across), outputs = c.kernels[index], c.strides[index], c.channels[index]
        frames, bins = (length(frames) - 1) // down + 1, (bins + 2 - width) // across + 1
        conv = part("conv", Tensor("weight", (outputs, inputs, height, width)), kind="convolution")
        norm = part("norm", Tensor("weight", (outputs,), "gain"), kind="group_norm")
        convs.append(part(f"conv_{index}", conv, norm, kind="convolution", stream=product_of(frames, bins)))
        inputs = outputs
    last = linear("input_proj_linear", c.channels[-1] * bins, c.hidden, bias=False, stream=frames)
    return part("subsample_conv_projection", *convs, last, kind="convolutions"), frames


def feed_forward(c: Config, name: str) -> Part:
    """Describe half a step of a plain network between two norms."""
    H = c.hidden
    maps = linear("ffw_layer_1", H, 4 * H, bias=False), linear("ffw_layer_2", 4 * H, H, bias=False)
    return part(name, rms_norm("pre_layer_norm", H), *maps, rms_norm("post_layer_norm", H), kind="feed_forward")


def attention(c: Config, frames: Stream) -> Part:
    """Describe attention of blocks of queries to the keys around them; blocks are filled up, and distances have keys of their own."""
    H, inner, past = c.hidden, c.heads * c.head_dim, max(0, c.past - 1)
    reach, distances, blocks = c.chunk + past + c.future, past + c.future + 1, (length(frames) + c.chunk - 1) // c.chunk
    around = linear("pos_proj", H, inner, bias=False, stream=per_batch(distances))
    local = part(
        "attn",
        Tensor("per_dim_scale", (c.head_dim,), "gain"),
        part("relative_position_embedding", around, kind="embeddings"),
        *(linear(f"{name}_proj", H, inner, bias=False) for name in "qkv"),
        matmul("attend", (2, blocks, c.chunk, reach, inner), (blocks, c.chunk, distances, inner)),
        kind="self_attention",
    )
    return part("attention", rms_norm("pre_attn_norm", H), local, linear("post", H, H, bias=False), rms_norm("post_norm", H))


def convolution(c: Config) -> Part:
    """Describe a gated map, a convolution of each channel with what came before, and a map back."""
    H = c.hidden
    return part(
        "lconv1d",
        rms_norm("pre_layer_norm", H),
        linear("linear_start", H, 2 * H, bias=False),
        part("depthwise_conv1d", Tensor("weight", (H, 1, c.kernel)), kind="convolution"),
        rms_norm("conv_norm", H),
        linear("linear_end", H, H, bias=False),
        kind="convolution",
    )


def encoder(c: Config) -> Part:
    """Describe Gemma3nAudioEncoder."""
    first, frames = subsampling(c)
    layer = part(
        "conformer",
        feed_forward(c, "ffw_layer_start"),
        attention(c, frames),
        convolution(c),
        feed_forward(c, "ffw_layer_end"),
        rms_norm("norm", c.hidden),
        kind="layer",
        repeat=c.layers,
        stream=frames if c.heads_divide else unknown("the heads do not divide the hidden size"),
    )
    return part("", first, layer, kind="audio", stream=frames)


IGNORED_KEYS = frozenset(
    """conf_attention_logit_cap conf_reduction_factor conf_residual_weight gradient_clipping sscp_conv_group_norm_eps vocab_offset
    vocab_size""".split()
)
FAMILIES = {"gemma3n_audio": Family("gemma3n_audio", FIELDS, {"Gemma3nAudioEncoder": encoder}, "Gemma3nAudioEncoder", IGNORED_KEYS)}
