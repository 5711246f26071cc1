"""The Fast Conformer encoder: subsampling convolutions over mel frames, then conformer layers.

Source: arXiv 2305.05084; names as in transformers 5.23.0, models/parakeet/modeling_parakeet.py, models/nemotron_asr_streaming and
models/lasr. ``seq`` counts mel frames.
"""

from __future__ import annotations

from math import log2

from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MEL_BINS,
    MLP,
    Config,
    Field,
    constant,
    size,
    switch,
    variant,
)
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, product_of
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv1d, conv2d, layer_norm, linear, matmul, part
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

ENCODER = (
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(24),
    HEADS.with_default(8),
    KV_HEADS.with_default(lambda c: c.heads),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    MEL_BINS.with_default(80),
    size("kernel", "conv_kernel_size", 9, "K_dep", "kernel size of the depthwise convolution"),
    size("thin_kernel", "subsampling_conv_kernel_size", 3, "K_sub", "kernel size of the first convolutions"),
    size("stride", "subsampling_conv_stride", 2, "R_sub", "stride of the first convolutions"),
    size("channels", "subsampling_conv_channels", 256, "C_sub", "channels of the first convolutions"),
    Field("halvings", "subsampling_factor", 8, "choice", read=lambda value: log2_factor(value)),
    switch("bias", "attention_bias", True),
    switch("conv_bias", "convolution_bias", True),
    constant("causal", False),
    constant("rotary", False),
)
STREAMING = variant(ENCODER, causal=True)
LASR = variant(
    tuple(field for field in ENCODER if field.word != "halvings"),
    hidden=512,
    layers=17,
    mlp=2048,
    mels=128,
    kernel=32,
    thin_kernel=5,
    rotary=True,
    bias=switch("bias", "attention_bias", False),
    conv_bias=switch("conv_bias", "convolution_bias", False),
)


def log2_factor(value: Any) -> int:
    """Return how many convolutions thin the frames out by a factor; the first is always there.

    >>> log2_factor(8)
    3
    """
    if type(value) is not int or value < 1:
        raise ConfigError(Text("expected a whole number, found {value!r:.60}", value=value), key="subsampling_factor", value=value)
    return int(log2(value))


def subsampled_length(c: Config, of: Stream, times: int = 1) -> Stream:
    """Return what convolutions leave of frames or of mel bins; a causal one is padded before, and behind by its stride."""
    padded = c.stride - 2 if c.causal else (c.thin_kernel - 1) // 2 * 2 - c.thin_kernel
    return of if times == 0 else subsampled_length(c, (length(of) + padded) // c.stride + 1, times - 1)


def frames(c: Config) -> Stream:
    """Return the stream that the encoder outputs."""
    if c.rotary:
        return (((length("seq") - c.thin_kernel) // c.stride + 1) - c.thin_kernel) // c.stride + 1
    return subsampled_length(c, "seq", max(c.halvings, 1))


def remaining_mels(c: Config) -> Size:
    """Return how many mel bins the last map has."""
    mels: Size = c.mels
    for _ in layer_range(c.halvings):
        mels = (mels + c.stride - 2) // c.stride + 1 if c.causal else mels
    return mels if c.causal else mels // _power(c.stride, c.halvings)


def _power(base: Size, exponent: int) -> Size:
    result: Size = 1
    for _ in layer_range(exponent):
        result = result * base
    return result


def subsampling_convolutions(c: Config) -> Part:
    """Describe the convolutions over frames and mel bins: one, then pairs of a depthwise and a pointwise one."""
    C, K = c.channels, c.thin_kernel

    def place(index: int) -> Stream:
        return product_of(subsampled_length(c, "seq", index + 1), subsampled_length(c, c.mels, index + 1))

    convs: list[Part] = []
    for index in range(1, c.halvings):
        names = ("depthwise_conv", "pointwise_conv") if c.causal else (f"layers.{3 * index - 1}", f"layers.{3 * index}")
        pair = (conv2d(names[0], C, C, K, groups=C, stream=place(index)), conv2d(names[1], C, C, 1, stream=place(index)))
        convs += [part("layers", *pair, kind="convolution", repeat=1, indices=(index - 1,))] if c.causal else pair
    first = conv2d("conv_in" if c.causal else "layers.0", 1, C, K, stream=place(0))
    return part("subsampling", first, *convs, linear("linear", C * remaining_mels(c), c.hidden, stream=frames(c)), kind="convolutions")


def lasr_subsampling(c: Config) -> Part:
    """Describe LASR's two convolutions over frames, between two maps."""
    first = conv1d("conv_0", c.hidden, c.hidden, c.thin_kernel, stride=c.stride)
    second = conv1d("conv_1", c.hidden, c.channels, c.thin_kernel, stride=c.stride, of=first.stream or "seq")
    return part(
        "subsampler",
        linear("dense_0", c.mels, c.hidden),
        first,
        second,
        linear("dense_1", c.channels, c.hidden, stream=frames(c)),
        kind="convolutions",
    )


def attention(c: Config) -> Part:
    """Describe attention, to which relative positions add."""
    H, A, K, D, tokens = c.hidden, c.heads, c.kv_heads, c.head_dim, frames(c)
    around = length(tokens) * 2 - 1
    maps = [
        linear("q_proj", H, A * D, bias=c.bias),
        *(linear(f"{name}_proj", H, K * D, bias=c.bias) for name in "kv"),
        linear("o_proj", A * D, H, bias=c.bias),
    ]
    biases = () if c.rotary else (Tensor("bias_u", (A, D), "bias"), Tensor("bias_v", (A, D), "bias"))
    seen: tuple[Node, ...] = (
        ()
        if c.rotary
        else (
            linear("relative_k_proj", H, A * D, bias=False, stream=around),
            matmul("positions", (A, tokens, around, D)),
        )
    )
    return part("self_attn", *biases, *maps, *seen, attend(heads=A, kv_heads=K, head_dim=D), kind="self_attention")


def layer(c: Config) -> tuple[Part, ...]:
    """Describe a layer: attention and a convolution between two halves of a feed-forward step."""
    H = c.hidden

    def convolution(name: str, *shape: Size) -> Part:
        weight = Tensor("weight", shape, "weight")
        return part(name, *((weight, Tensor("bias", shape[:1], "bias")) if c.conv_bias else (weight,)), kind="convolution")

    def mlp(name: str) -> Part:
        return part(name, linear("linear1", H, c.mlp, bias=c.bias), linear("linear2", c.mlp, H, bias=c.bias), kind="feed_forward")

    norm = layer_norm("norm", H) if c.causal else batch_norm("norm", H)
    conv = (
        convolution("pointwise_conv1", 2 * H, H, 1),
        convolution("depthwise_conv", H, 1, c.kernel),
        norm,
        convolution("pointwise_conv2", H, H, 1),
    )
    norms = ("norm_feed_forward1", "norm_self_att", "norm_conv", "norm_feed_forward2", "norm_out")
    return (
        mlp("feed_forward1"),
        attention(c),
        part("conv", *conv, kind="convolutions"),
        mlp("feed_forward2"),
        *(layer_norm(name, H, bias=not c.rotary) for name in norms),
    )


def encoder(c: Config) -> Part:
    """Describe the encoder."""
    layers = part("layers", *layer(c), kind="layer", repeat=c.layers, stream=frames(c))
    last = (layer_norm("out_norm", c.hidden, bias=False, stream=frames(c)),) if c.rotary else ()
    return part("", lasr_subsampling(c) if c.rotary else subsampling_convolutions(c), layers, *last, kind="model")
