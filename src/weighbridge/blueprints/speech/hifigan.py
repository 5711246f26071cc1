"""HiFi-GAN: a vocoder of transposed convolutions and residual blocks from mel frames to waveform (Kong et al., 2020).

Source: arXiv 2010.05646; names as in transformers 5.23.0, models/speecht5/modeling_speecht5.py and others that took it over. ``seq``
counts frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, sequence, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv1d, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def steps(value: Any) -> tuple[tuple[int, ...], ...]:
    """Read the dilations of each residual block.

    >>> steps([[1, 3], [1, 5]])
    ((1, 3), (1, 5))
    """
    if any(not isinstance(row, (list, tuple)) or any(type(entry) is not int or entry < 1 for entry in row) for row in value):
        raise ConfigError(
            Text("expected lists of whole numbers, found {value!r:.60}", value=value), key="resblock_dilation_sizes", value=value
        )
    return tuple(tuple(row) for row in value)


def fields(rates: tuple[int, ...], kernels: tuple[int, ...]) -> tuple[Field, ...]:
    """Return the fields of the steps that enlarge, and of the residual blocks after each."""
    return (
        size("wide", "upsample_initial_channel", 512, "U", "channels before the first step"),
        numbers("rates", "upsample_rates", rates),
        numbers("kernels", "upsample_kernel_sizes", kernels),
        numbers("block_kernels", "resblock_kernel_sizes", (3, 7, 11)),
        sequence("dilations", "resblock_dilation_sizes", [[1, 3, 5]] * 3, read=steps),
    )


def conv1d_same(name: str, inputs: Size, outputs: Size, kernel: Size, *, bias: bool = True) -> Part:
    """Describe a convolution that keeps the length.

    >>> conv1d_same("conv", 8, 4, 3).children[0].shape
    (4, 8, 3)
    """
    weight = Tensor("weight", (outputs, inputs, kernel), "weight")
    return part(name, *((weight, Tensor("bias", (outputs,), "bias")) if bias else (weight,)), kind="convolution")


def conv_transpose1d(name: str, inputs: Size, outputs: Size, kernel: int, *, seen: Stream, bias: bool = True) -> Part:
    """Describe a transposed convolution over the stream *seen*: each position is multiplied with the whole kernel."""
    weight = Tensor("weight", (inputs, outputs, kernel), "weight")
    return part(name, *((weight, Tensor("bias", (outputs,), "bias")) if bias else (weight,)), kind="convolution", stream=seen)


def conv_transpose_output(of: Stream, kernel: int, rate: int) -> Stream:
    """Return the stream that a step leaves; where kernel and rate are not both even or odd, it is one longer.

    >>> conv_transpose_output("seq", 8, 4)
    seq * 4 + 0
    """
    return length(of) * rate + (kernel - rate) % 2


def residual(name: str, width: Size, kernel: int, dilations: tuple[int, ...]) -> Part:
    """Describe a residual block: pairs of convolutions, the first of each pair dilated."""
    return part(
        name,
        *(replace(conv1d_same(convs, width, width, kernel), repeat=len(dilations)) for convs in ("convs1", "convs2")),
        kind="convolution",
    )


def generator(c: Config, inputs: Size, of: Stream = "seq", *, bias: bool = True) -> tuple[Part, ...]:
    """Describe the whole: a convolution, the steps, the residual blocks of every step, and the convolution that makes the waveform."""
    ups: list[Part] = []
    blocks: list[Part] = []
    width, stream = c.wide, of
    for step, (rate, kernel) in enumerate(zip(c.rates, c.kernels, strict=False)):
        ups.append(replace(conv_transpose1d("upsampler", width, c.wide // 2 ** (step + 1), kernel, seen=stream), repeat=1, indices=(step,)))
        width, stream = c.wide // 2 ** (step + 1), conv_transpose_output(stream, kernel, rate)
        for kernel, dilations in zip(c.block_kernels, c.dilations, strict=False):
            blocks.append(replace(residual("resblocks", width, kernel, dilations), repeat=1, indices=(len(blocks),), stream=stream))
    last = replace(conv1d_same("conv_post", width, 1, 7, bias=bias), stream=stream)
    return conv1d("conv_pre", inputs, c.wide, 7, padding=3, of=of), *ups, *blocks, last


def vocoder(c: Config) -> Part:
    """Describe a vocoder by itself, which knows mean and scale of the frames it was trained with."""
    statistics = (Tensor("mean", (c.mels,), "buffer"), Tensor("scale", (c.mels,), "buffer"))
    return part("", *statistics, *generator(c, c.mels), kind="model")


def family_of(model_type: str, name: str, rates: tuple[int, ...], kernels: tuple[int, ...]) -> Family:
    """Return one model type by its class."""
    table = (size("mels", "model_in_dim", 80, "M", "mel bins"), *fields(rates, kernels))
    return Family(model_type, table, {name: vocoder}, name, frozenset("leaky_relu_slope normalize_before sampling_rate".split()))


FAMILIES = {
    "speecht5_hifigan": family_of("speecht5_hifigan", "SpeechT5HifiGan", (4, 4, 4, 4), (8, 8, 8, 8)),
    "fastspeech2_conformer_hifigan": family_of(
        "fastspeech2_conformer_hifigan", "FastSpeech2ConformerHifiGan", (8, 8, 2, 2), (16, 16, 4, 4)
    ),
}
