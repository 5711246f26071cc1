"""Autoformer: series taken apart into season and trend, and compared with themselves a while ago (Wu et al., 2021).

Source: arXiv 2106.13008; names as in transformers 5.23.0, models/autoformer/modeling_autoformer.py. Its attention is made of
Fourier transforms, which are no products of matrices.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.series import time_series_transformer
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, size
from weighbridge.core.parts import linear
from weighbridge.core.tree import Node, Op, Part, Stream, Tensor

FIELDS = (*time_series_transformer.FIELDS, size("start", "label_length", 10, "J", "known steps before those ahead"))
NEUTRAL = time_series_transformer.NEUTRAL | {"moving_average", "autocorrelation_factor"}


def layer(c: Sizes, memory: Stream | None = None) -> Part:
    """Describe a layer: the last norm is wrapped, and the decoder's gives its share of the trend."""
    plain = fairseq_transformer.layer(c, memory=memory)
    *steps, norm = (
        part._replace(children=tuple(n for n in part.children if not isinstance(n, Op)))
        for part in plain.children
        if isinstance(part, Part)
    )
    wrapped = Part("final_layer_norm", (norm._replace(name="layernorm"),), "layer_norm")
    trend = Part("trend_projection", (Tensor("weight", (c.features, c.hidden, 3), "weight"),), "convolution")
    return plain._replace(children=(*steps, wrapped, *((trend,) if memory is not None else ())))


def encoder(c: Sizes) -> tuple[Node, ...]:
    """Describe the encoder."""
    return time_series_transformer.side(c, layer(c))


def decoder(c: Sizes, memory: Stream) -> tuple[Node, ...]:
    """Describe the decoder, which ends in the features again."""
    return (*time_series_transformer.side(c, layer(c, memory)), linear("seasonality_projection", c.hidden, c.features))


def both(c: Sizes) -> tuple[Part, ...]:
    """Describe both sides."""
    sides = Part("encoder", encoder(c), "encoder", stream=c.back), Part("decoder", decoder(c, c.back), "decoder", stream=c.start + c.ahead)
    return (*time_series_transformer.tables(c), *sides)


CLASSES = {
    "AutoformerModel": lambda c: Part("", both(c), "model"),
    "AutoformerForPrediction": lambda c: time_series_transformer.forecast(c, c.features, both(c)),
    "AutoformerEncoder": lambda c: Part("", encoder(c), "model"),
    "AutoformerDecoder": lambda c: Part("", decoder(c, "encoder"), "model"),
}

FAMILIES = {"autoformer": Family("autoformer", FIELDS, CLASSES, "AutoformerModel", NEUTRAL)}
