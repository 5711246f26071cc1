"""Table Transformer: DETR with norms before each part, for tables and their structure (Smock et al., 2021).

Source: arXiv 2110.00061; names as in transformers 5.23.0, models/table_transformer/modeling_table_transformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.detr_common import FIELDS, SKIPPED, detecting, looked_through, positions
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes
from weighbridge.core.parts import conv2d, embedding, fairseq_attention, layer_norm, linear
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Stream


def attention(c: Sizes, name: str, heads: Size, keys: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over others."""
    return fairseq_attention(name, c.hidden, heads, exact(c.hidden, heads), keys=keys)


def encoder(c: Sizes) -> tuple[Part, ...]:
    """Describe the encoder's layers and its norm."""
    layer = Part("layers", (
        attention(c, "self_attn", c.encoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        linear("fc1", c.hidden, c.encoder_mlp),
        linear("fc2", c.encoder_mlp, c.hidden),
        layer_norm("final_layer_norm", c.hidden),
    ), "layer", repeat=c.encoder_layers)  # fmt: skip
    return layer, layer_norm("layernorm", c.hidden)


def decoder(c: Sizes, keys: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers and its norm; without an encoder's tokens to look at, it looks at none."""
    given = keys if isinstance(keys, str) else None
    layer = Part("layers", (
        attention(c, "self_attn", c.decoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        attention(c, "encoder_attn", c.decoder_heads, keys)._replace(given=given),
        layer_norm("encoder_attn_layer_norm", c.hidden)._replace(given=given),
        linear("fc1", c.hidden, c.decoder_mlp),
        linear("fc2", c.decoder_mlp, c.hidden),
        layer_norm("final_layer_norm", c.hidden),
    ), "layer", repeat=c.decoder_layers)  # fmt: skip
    return layer, layer_norm("layernorm", c.hidden)


def model(c: Sizes, seen: Features) -> tuple[Part, ...]:
    """Describe backbone and positions, queries, encoder and decoder."""
    places = area(seen.maps[-1])
    inner = Part("conv_encoder", (Part("model", seen.parts, "backbone"),), "vision")
    return (
        Part("backbone", (inner, *positions(c)), "vision"),
        conv2d("input_projection", seen.widths[-1], c.hidden, 1, positions=places),
        embedding("query_position_embeddings", c.queries, c.hidden),
        Part("encoder", encoder(c), "encoder", stream=places),
        Part("decoder", decoder(c, places), "decoder", stream=c.queries),
    )


def detection(c: Sizes) -> Part:
    """Describe TableTransformerForObjectDetection: of each query its label, or that it is nothing, and its box."""
    return Part("", detecting(c, model(c, looked_through(c)), c.labels + 1), "model")


CLASSES = {
    "TableTransformerEncoder": lambda c: Part("", encoder(c), "model"),
    "TableTransformerDecoder": lambda c: Part("", decoder(c, "encoder"), "model"),
    "TableTransformerModel": lambda c: Part("", model(c, looked_through(c)), "model"),
    "TableTransformerForObjectDetection": detection,
}

FAMILIES = {"table-transformer": Family("table-transformer", FIELDS, CLASSES, "TableTransformerModel", SKIPPED)}
