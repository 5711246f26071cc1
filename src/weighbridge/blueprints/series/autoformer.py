"""Autoformer: series decomposition and auto-correlation instead of attention (Wu et al., 2021).

Source: arXiv 2106.13008; names as in transformers 5.23.0, models/autoformer/modeling_autoformer.py. Its attention is made of
Fourier transforms, which are no matrix products.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.series import time_series_transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size
from weighbridge.core.length import Stream
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Node, Operation, Part, State, Tensor

FIELDS = (*time_series_transformer.FIELDS, size("start", "label_length", 10, "J", "known steps before the forecast"))
IGNORED_KEYS = time_series_transformer.IGNORED_KEYS | {"moving_average", "autocorrelation_factor"}


def layer(c: Config, memory: Stream | None = None) -> Part:
    """Describe a layer: the last norm is wrapped, and the decoder's gives its share of the trend."""
    plain = fairseq_transformer.layer(c, memory=memory)
    *steps, norm = (_without_attention(c, module, memory) for module in plain.children if isinstance(module, Part))
    wrapped = part("final_layer_norm", replace(norm, name="layernorm"), kind="layer_norm")
    trend = part("trend_projection", Tensor("weight", (c.features, c.hidden, 3), "weight"), kind="convolution")
    return replace(plain, children=(*steps, wrapped, *((trend,) if memory is not None else ())))


def _without_attention(c: Config, module: Part, memory: Stream | None) -> Part:
    """Take the products of attention out; a decoder keeps the keys and values all the same."""
    inner = tuple(node for node in module.children if not isinstance(node, Operation))
    if memory is None or len(inner) == len(module.children):
        return replace(module, children=inner)
    tokens = memory if module.name == "encoder_attn" else None
    kept = State("keys and values", 2 * c.decoder_heads * c.decoder_head_dim, per_token=True, tokens=tokens)
    return replace(module, children=(*inner, kept))


def encoder(c: Config) -> tuple[Node, ...]:
    """Describe the encoder."""
    return time_series_transformer.side(c, layer(c))


def decoder(c: Config, memory: Stream) -> tuple[Node, ...]:
    """Describe the decoder, which ends in the features again."""
    return (*time_series_transformer.side(c, layer(c, memory)), linear("seasonality_projection", c.hidden, c.features))


def encoder_and_decoder(c: Config) -> tuple[Part, ...]:
    """Describe both sides."""
    sides = (
        part("encoder", *encoder(c), kind="encoder", stream=c.back),
        part("decoder", *decoder(c, c.back), kind="decoder", stream=c.start + c.ahead),
    )
    return (*time_series_transformer.tables(c), *sides)


CLASSES = {
    "AutoformerModel": lambda c: part("", *encoder_and_decoder(c), kind="model"),
    "AutoformerForPrediction": lambda c: time_series_transformer.forecast(c, c.features, encoder_and_decoder(c)),
    "AutoformerEncoder": lambda c: part("", *encoder(c), kind="model"),
    "AutoformerDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
}

FAMILIES = {"autoformer": Family("autoformer", FIELDS, CLASSES, "AutoformerModel", IGNORED_KEYS)}
