"""EnCodec: the SEANet encoder and decoder (strided convolutions between waveform and frames) and residual quantizers.

Source: arXiv 2210.13438; names as in transformers 5.23.0, models/encodec/modeling_encodec.py. Codebooks are kept as buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, prod

from weighbridge.blueprints.modules.rnn import lstm
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, Field, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text, join_with_or
from weighbridge.core.parts import part, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def one_of(*known: str) -> Callable[[Any], str]:
    """Return what reads a name, and refuses one that is not *known*."""

    def read(value: Any) -> str:
        if value not in known:
            raise ConfigError(
                Text("expected {known}, found {value!r:.40}", known=join_with_or(known), value=value), key="norm_type", value=value
            )
        return str(value)

    return read


def shared_fields(filters: int, last: int, ratios: tuple[int, ...], *, hidden: int, shortcut: bool) -> tuple[Field, ...]:
    """List the fields of both codecs."""
    return (
        size("channels", "audio_channels", 1, "N", "channels of the wave"),
        HIDDEN.with_default(hidden),
        size("filters", "num_filters", filters, "F", "channels of the first convolution"),
        size("kernel", "kernel_size", 7, "K", "kernel size of the first convolution"),
        size("last_kernel", "last_kernel_size", last, "K_las", "kernel size of the last convolution"),
        size("inner_kernel", "residual_kernel_size", 3, "K_res", "kernel size of the residual blocks"),
        size("compress", "compress", 2, "R", "reduction in the residual blocks"),
        Field("blocks", "num_residual_layers", 1, "choice", read=lambda count: max(count, 0)),  # range(-1) is empty
        numbers("ratios", "upsampling_ratios", ratios),
        switch("shortcut", "use_conv_shortcut", shortcut),
        Field("rate", "sampling_rate", 24000, "choice"),
        size("codes", "codebook_size", 2048 if last == 3 else 1024, "V", "code vectors in a group"),
        size("code", "codebook_dim", 256 if last == 3 else lambda c: c.hidden, "W", "width of a code", null=lambda c: c.hidden),
    )


def refuse_odd_codebooks(c: Config) -> bool:
    """Refuse codebooks whose size is not a power of two."""
    if c.codes & (c.codes - 1):
        raise ConfigError(Text("{codes} is not a power of two", codes=c.codes), key="codebook_size", value=c.codes)
    return True


def books(c: Config) -> int:
    """Return how many codebooks the largest bandwidth allows."""
    frames, bits = ceil(c.rate / prod(c.ratios)), c.codes.bit_length() - 1
    return int(1000 * c.bandwidths[-1] // (frames * bits))


ENCODEC = (
    *shared_fields(32, 7, (8, 5, 4, 2), hidden=128, shortcut=True),
    Field("depth", "num_lstm_layers", 2, "choice"),
    choice("norm", "norm_type", "weight_norm", read=one_of("weight_norm", "time_group_norm")),
    Field("bandwidths", "target_bandwidths", [1.5, 3.0, 6.0, 12.0, 24.0], "sequence"),
    computed("powers", refuse_odd_codebooks),
    computed("quantizers", books),
)


FILLED = unknown("waves are padded to whole frames, and codes are found by distance")


def convolution(c: Config, name: str, shape: tuple[Size, Size, Size], outs: Size, *, bias: bool = True) -> Part:
    """Describe a convolution, its weight split into length and direction, or with a norm after it."""
    shift = (Tensor("bias", (outs,), "bias"),) if bias else ()
    inner: tuple[Node, ...] = (Tensor("weight", shape, "weight"), *shift)
    if c.norm == "weight_norm":
        split = part("weight", Tensor("original0", (shape[0], 1, 1), "gain"), Tensor("original1", shape, "weight"), kind="weight_norm")
        inner = (*shift, part("parametrizations", split, kind="weight_norm"))
    norm = (
        (part("norm", Tensor("weight", (outs,), "gain"), Tensor("bias", (outs,), "shift"), kind="group_norm"),) if "group" in c.norm else ()
    )
    return part(name, part("conv", *inner, kind="convolution"), *norm, kind="convolution")


def conv(c: Config, name: str, inputs: Size, outputs: Size, kernel: Size) -> Part:
    """Describe a convolution by its widths."""
    return convolution(c, name, (outputs, inputs, kernel), outputs)


def block(c: Config, name: str, width: Size) -> Part:
    """Describe a residual block."""
    inner = width // c.compress
    pair = (conv(c, "1", width, inner, c.inner_kernel), conv(c, "3", inner, width, 1))
    return part(name, part("block", *pair), *((conv(c, "shortcut", width, width, 1),) if c.shortcut else ()), kind="convolutions")


def seanet_encoder(c: Config) -> tuple[Part, ...]:
    """Describe the convolutions that make frames of a waveform; EnCodec has an LSTM after them."""
    F, layers, index, scale = c.filters, [conv(c, "0", c.channels, c.filters, c.kernel)], 1, 1
    for ratio in reversed(c.ratios):
        layers += [block(c, str(index + step), scale * F) for step in layer_range(c.blocks)]
        index += c.blocks + 1
        layers.append(conv(c, str(index), scale * F, 2 * scale * F, 2 * ratio))
        index, scale = index + 1, 2 * scale
    if c.depth:
        layers.append(part(str(index), lstm("lstm", scale * F, c.depth)))
    layers.append(conv(c, str(index + (2 if c.norm else 1)), scale * F, c.hidden, c.last_kernel))
    return (part("layers", *layers, kind="convolutions"),)


def seanet_decoder(c: Config) -> tuple[Part, ...]:
    """Describe the convolutions that turn frames into a waveform."""
    F, scale = c.filters, 2 ** len(c.ratios)
    layers, index = [conv(c, "0", c.hidden, scale * F, c.kernel)], 1
    if c.depth:
        layers.append(part("1", lstm("lstm", scale * F, c.depth)))
    index += 1 if c.norm else 0
    for ratio in c.ratios:
        half = scale // 2 * F
        layers.append(convolution(c, str(index + 1), (scale * F, half, 2 * ratio), half))
        layers += [block(c, str(index + 2 + step), half) for step in layer_range(c.blocks)]
        index, scale = index + 2 + c.blocks, scale // 2
    layers.append(conv(c, str(index + 1), F, c.channels, c.last_kernel))
    return (part("layers", *layers, kind="convolutions"),)


def book(c: Config, *names: str) -> Part:
    """Describe a codebook: whether it is begun, how much each code is used, and the codes, all kept and not learned."""
    first, used, *kept = names
    tensors = (
        Tensor(first, (1,), "buffer"),
        Tensor(used, (c.codes,), "buffer"),
        *(Tensor(name, (c.codes, c.code), "buffer") for name in kept),
    )
    return part("layers", part("codebook", *tensors, kind="quantizer"), kind="quantizer")


def encodec(c: Config) -> Part:
    """Describe EnCodec."""
    quantizer = replace(book(c, "inited", "cluster_size", "embed", "embed_avg"), repeat=c.quantizers)
    return part(
        "",
        part("encoder", *seanet_encoder(c), kind="encoder"),
        part("decoder", *seanet_decoder(c), kind="decoder"),
        part("quantizer", quantizer, kind="quantizer"),
        kind="model",
        stream=FILLED,
    )


OUTER_IGNORED_KEYS = frozenset(
    """chunk_length_s dilation_growth_rate layer_scale_initial_scale max_position_embeddings norm_eps normalize overlap pad_mode
    sliding_window tie_word_embeddings trim_right_ratio use_causal_conv use_streaming _frame_rate""".split()
)
FAMILIES = {"encodec": Family("encodec", ENCODEC, {"EncodecModel": encodec}, "EncodecModel", OUTER_IGNORED_KEYS)}
