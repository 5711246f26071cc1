"""Informer: ProbSparse attention and a distilling encoder for time series (Zhou et al., 2020).

Source: arXiv 2012.07436; names as in transformers 5.23.0, models/informer/modeling_informer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules import fairseq_transformer
from weighbridge.blueprints.series.time_series_transformer import FIELDS, IGNORED_KEYS, classes, side
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, switch
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.parts import attend, batch_norm, conv1d, part, replace, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State

INFORMER = (
    *FIELDS,
    choice("sight", "attention_type", "prob"),
    switch("distilled", "distil", True),
    computed("depths", lambda c: layer_range(c.layers)),
)


def distilled_length(c: Config, depth: int, own: Stream) -> Stream:
    """Return what is left for the encoder layer at *depth*: distilling halves the steps after each."""
    for _ in layer_range(depth if c.distilled else 0):
        own = (length(own) - 1) // 2 + 1
    return own


def prob_sparse(c: Config, layer: Part, *, causal: bool = False) -> tuple[Node, ...]:
    """Let attention attend to a few keys, if it is asked to; the reference makes it last. A causal one keeps all of them."""
    own, *rest = layer.children
    assert isinstance(own, Part)
    if c.sight == "prob":
        sight = unknown("Informer takes a logarithmic number of keys")
        seen = attend(heads=c.heads, head_dim=c.head_dim, keys=sight, causal=causal, cache=0)
        kept = (State("keys and values", 2 * c.decoder_heads * c.decoder_head_dim, per_token=True),) if causal else ()
        own = replace(own, children=(*own.children[:-1], seen, *kept))
    return (*rest, own)


def informer_encoder(c: Config, own: Stream) -> tuple[Node, ...]:
    """Describe Informer's encoder; a convolution stands between two layers, and a maximum that leaves every second step."""
    inner = prob_sparse(c, fairseq_transformer.layer(c))
    if not c.distilled:
        return side(c, part("layers", *inner, kind="layer", repeat=c.layers, stream=own))
    layers = stack("layers", list(c.depths), c.layers, lambda depth: (part("", *inner, stream=distilled_length(c, depth, own)),))
    down = [conv1d("downConv", c.hidden, c.hidden, 3, padding=1, of=distilled_length(c, depth, own)) for depth in c.depths]
    norm = batch_norm("norm", c.hidden)
    convolutions = stack("conv_layers", list(c.depths)[:-1], c.layers - 1, lambda depth: (down[depth], norm)) if c.depths[1:] else ()
    return (*side(c, *layers), *convolutions)


def informer_decoder(c: Config, memory: Stream) -> tuple[Node, ...]:
    """Describe Informer's decoder."""
    layer = fairseq_transformer.layer(c, memory=memory)
    return side(c, replace(layer, children=prob_sparse(c, layer, causal=True)))


CLASSES = classes("Informer", informer_encoder, informer_decoder, lambda c: distilled_length(c, c.depths[-1], c.back))

FAMILIES = {"informer": Family("informer", INFORMER, CLASSES, "InformerModel", IGNORED_KEYS)}
