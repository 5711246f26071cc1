"""Speech2Text: a BART-like encoder-decoder over mel frames subsampled by gated convolutions.

Source: arXiv 2010.05171; names as in transformers 5.23.0, models/speech_to_text/modeling_speech_to_text.py. Positions are
computed; ``seq`` counts frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, sequence, size, variant
from weighbridge.core.length import Stream
from weighbridge.core.parts import conv1d, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Part

FIELDS = variant(
    tuple(field for field in fairseq_transformer.fields(10000, 1024, 256, 2048, (12, 6), 4) if field.word not in ("positions", "labels")),
    sequence("kernels", "conv_kernel_sizes", lambda c: [5, 5]),
    size("channels", "conv_channels", 1024, "C", "channels of the convolutions"),
    size("mels", "input_feat_per_channel", 80, "M", "mel bins"),
    size("inputs", "input_channels", 1, "N", "input channels"),
)
IGNORED_KEYS = fairseq_transformer.IGNORED_KEYS | {"max_source_positions", "max_target_positions", "num_conv_layers"}


def convolutions(c: Config) -> tuple[Part, Stream]:
    """Describe the convolutions, each of which halves the frames and gates away half of its channels."""
    layers, stream = [], "seq"
    for index, kernel in enumerate(c.kernels):
        entering = c.mels * c.inputs if index == 0 else c.channels // 2
        leaving = 2 * c.hidden if index == len(c.kernels) - 1 else c.channels
        inner = conv1d("conv_layers", entering, leaving, kernel, stride=2, padding=kernel // 2, of=stream)
        stream = inner.stream  # type: ignore[assignment]
        layers.append(replace(inner, repeat=1, indices=(index,)))
    return part("conv", *layers, kind="convolutions"), stream


def encoder(c: Config) -> Part:
    """Describe the encoder; there is no table of positions on either side."""
    convolved, frames = convolutions(c)
    return part("encoder", convolved, fairseq_transformer.layer(c), layer_norm("layer_norm", c.hidden), kind="encoder", stream=frames)


def decoder(c: Config, memory: Stream) -> tuple[Part, ...]:
    """Describe the decoder, which attends to the frames that are left."""
    return embedding("embed_tokens", c.vocab, c.hidden), fairseq_transformer.layer(c, memory=memory), layer_norm("layer_norm", c.hidden)


def backbone(c: Config) -> tuple[Part, ...]:
    """Describe encoder and decoder."""
    return encoder(c), part("decoder", *decoder(c, convolutions(c)[1]), kind="decoder", stream="decoder")


def speech_to_text(c: Config) -> Part:
    """Describe Speech2TextModel."""
    return part("", *backbone(c), kind="model")


def generation(c: Config) -> Part:
    """Describe Speech2TextForConditionalGeneration: the decoder's table is its head."""
    tied_to = "model.decoder.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", c.hidden, c.vocab, bias=False, tied_to=tied_to, stream="decoder")
    return part("", part("model", *backbone(c), kind="backbone"), head, kind="model")


CLASSES = {
    "Speech2TextModel": speech_to_text,
    "Speech2TextForConditionalGeneration": generation,
    "Speech2TextEncoder": lambda c: part("", replace(encoder(c), name=""), kind="model"),
    "Speech2TextDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
}

FAMILIES = {"speech_to_text": Family("speech_to_text", FIELDS, CLASSES, "Speech2TextModel", IGNORED_KEYS)}
