"""DAC: convolutions with snake activations between waveform and frames, and residual quantizers with narrow codes.

Source: Kumar et al. 2023, arXiv 2306.06546; names as in transformers 5.23.0, models/dac/modeling_dac.py. ``seq`` counts samples of the waveform.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.speech.encodec import refuse_odd_codebooks
from weighbridge.blueprints.speech.hifigan import conv_transpose1d
from weighbridge.config.family import Family
from weighbridge.config.fields import AtInit, Config, computed, sequence, settable, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv1d, conv_output_length, embedding, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Matmul, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def whole_steps(value: Any) -> tuple[int, ...]:
    """Read the decoder's steps, which are the encoder's in reverse where a config does not say otherwise."""
    if not value or any(type(entry) is not int or entry < 1 for entry in value):
        raise ConfigError(Text("expected whole numbers from 1 up, found {value!r:.60}", value=value), key="upsampling_ratios", value=value)
    return tuple(value)


FIELDS = (
    size("filters", "encoder_hidden_size", 64, "F", "channels of the encoder's first convolution"),
    size("width", "decoder_hidden_size", 1536, "W", "channels of the decoder's first convolution"),
    size("quantizers", "n_codebooks", 9, "Q", "residual quantizers"),
    size("codes", "codebook_size", 1024, "V", "code vectors in a group"),
    size("code", "codebook_dim", 8, "C", "width of a code"),
    numbers("ratios", "downsampling_ratios", (2, 4, 8, 8)),
    computed("powers", refuse_odd_codebooks),
    settable("hidden", "hidden_size", lambda c: 2 ** len(c.ratios) * c.filters, "H", "channels of a frame"),
    sequence("steps", "upsampling_ratios", AtInit(lambda c: list(reversed(c.ratios))), read=whole_steps),
)


def snake(name: str, width: Size) -> Part:
    """Describe ``x + sin²(αx) / α``, with an α for each channel."""
    return part(name, Tensor("alpha", (1, width, 1), "gain"), kind="scale")


def residual_unit(name: str, width: Size, dilation: int, of: Stream) -> Part:
    """Describe a dilated convolution and a pointwise one, which keep the length."""
    wide = conv1d("conv1", width, width, 7, padding=3 * dilation, dilation=dilation, of=of)
    return part(name, snake("snake1", width), wide, snake("snake2", width), conv1d("conv2", width, width, 1, of=of), kind="convolutions")


def residual_units(width: Size, of: Stream) -> tuple[Part, ...]:
    """Describe three residual units, each looking three times as far as the one before."""
    return tuple(residual_unit(f"res_unit{step + 1}", width, 3**step, of) for step in range(3))


def encoder(c: Config) -> tuple[Part, Stream]:
    """Describe the encoder, whose blocks double the channels, and return the stream of frames after it."""
    stream: Stream = "seq"
    blocks = []
    for step, ratio in enumerate(c.ratios):
        width, units = 2**step * c.filters, residual_units(2**step * c.filters, stream)
        shorter = conv1d("conv1", width, 2 * width, 2 * ratio, stride=ratio, padding=(ratio + 1) // 2, of=stream)
        blocks.append(part(str(step), *units, snake("snake1", width), shorter, kind="convolutions"))
        stream = conv_output_length(stream, 2 * ratio, stride=ratio, padding=(ratio + 1) // 2)
    width = 2 ** len(c.ratios) * c.filters
    last = (snake("snake1", width), conv1d("conv2", width, c.hidden, 3, padding=1, of=stream))
    return part("encoder", conv1d("conv1", 1, c.filters, 7, padding=3), part("block", *blocks), *last, kind="encoder"), stream


def decoder(c: Config, frames: Stream) -> Part:
    """Describe the decoder, whose blocks halve the channels, from frames to a waveform."""
    stream, blocks = frames, []
    for step, ratio in enumerate(c.steps):
        inputs, outputs = c.width // 2**step, c.width // 2 ** (step + 1)
        longer = conv_transpose1d("conv_t1", inputs, outputs, 2 * ratio, seen=stream)
        stream = length(stream) * ratio - ratio % 2
        blocks.append(part(str(step), snake("snake1", inputs), longer, *residual_units(outputs, stream), kind="convolutions"))
    width = c.width // 2 ** len(c.steps)
    first = conv1d("conv1", c.hidden, c.width, 7, padding=3, of=frames)
    last = conv1d("conv2", width, 1, 7, padding=3, of=stream)
    return part("decoder", first, part("block", *blocks), snake("snake1", width), last, kind="decoder")


def quantizer(c: Config, frames: Stream) -> Part:
    """Describe the quantizers: each finds the code nearest to what the ones before it leave, by products with all codes."""
    return part(
        "quantizers",
        conv1d("in_proj", c.hidden, c.code, 1, of=frames),
        conv1d("out_proj", c.code, c.hidden, 1, of=frames),
        embedding("codebook", c.codes, c.code),
        Matmul("distances", ((frames, c.codes, c.code),)),
        kind="quantizer",
        repeat=c.quantizers,
    )


def dac(c: Config) -> Part:
    """Describe DacModel."""
    compressed, frames = encoder(c)
    return part("", compressed, decoder(c, frames), part("quantizer", quantizer(c, frames), kind="quantizer"), kind="model")


IGNORED_KEYS = frozenset("codebook_loss_weight commitment_loss_weight hop_length quantizer_dropout sampling_rate".split())
FAMILIES = {"dac": Family("dac", FIELDS, {"DacModel": dac}, "DacModel", IGNORED_KEYS)}
