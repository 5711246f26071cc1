"""Table Transformer: pre-norm DETR for tables and their structure (Smock et al., 2021).

Source: arXiv 2110.00061; names as in transformers 5.23.0, models/table_transformer/modeling_table_transformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.detr_common import (
    FIELDS,
    MORE_IGNORED_KEYS,
    backbone_features,
    named_or_own_backbone,
    positions,
    with_detection_heads,
)
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.length import Stream
from weighbridge.core.parts import conv2d, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part


def attention(c: Config, name: str, heads: Size, keys: Stream | None = None) -> Part:
    """Describe attention over the tokens themselves, or over others."""
    return fairseq_attention(name, c.hidden, heads, exact(c.hidden, heads), keys=keys)


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe the encoder's layers and its norm."""
    layer = part(
        "layers",
        attention(c, "self_attn", c.encoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        linear("fc1", c.hidden, c.encoder_mlp),
        linear("fc2", c.encoder_mlp, c.hidden),
        layer_norm("final_layer_norm", c.hidden),
        kind="layer",
        repeat=c.encoder_layers,
    )
    return layer, layer_norm("layernorm", c.hidden)


def decoder(c: Config, keys: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers and its norm; without an encoder's tokens to attend to, it attends to none."""
    requires = keys if isinstance(keys, str) else None
    layer = part(
        "layers",
        attention(c, "self_attn", c.decoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        replace(attention(c, "encoder_attn", c.decoder_heads, keys), requires=requires),
        replace(layer_norm("encoder_attn_layer_norm", c.hidden), requires=requires),
        linear("fc1", c.hidden, c.decoder_mlp),
        linear("fc2", c.decoder_mlp, c.hidden),
        layer_norm("final_layer_norm", c.hidden),
        kind="layer",
        repeat=c.decoder_layers,
    )
    return layer, layer_norm("layernorm", c.hidden)


def model(c: Config, seen: Features) -> tuple[Part, ...]:
    """Describe backbone and positions, queries, encoder and decoder."""
    places = area(seen.maps[-1])
    inner = part("conv_encoder", part("model", *seen.parts, kind="backbone"), kind="vision")
    return (
        part("backbone", inner, *positions(c), kind="vision"),
        conv2d("input_projection", seen.widths[-1], c.hidden, 1, stream=places),
        embedding("query_position_embeddings", c.queries, c.hidden),
        part("encoder", *encoder(c), kind="encoder", stream=places),
        part("decoder", *decoder(c, places), kind="decoder", stream=c.queries),
    )


def detection(c: Config) -> Part:
    """Describe TableTransformerForObjectDetection: for each query its label, or that it is nothing, and its box."""
    return part("", *with_detection_heads(c, model(c, backbone_features(c)), c.labels + 1), kind="model")


CLASSES = {
    "TableTransformerEncoder": lambda c: part("", *encoder(c), kind="model"),
    "TableTransformerDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "TableTransformerModel": lambda c: part("", *model(c, backbone_features(c)), kind="model"),
    "TableTransformerForObjectDetection": detection,
}

FAMILIES = {
    "table-transformer": Family(
        "table-transformer", FIELDS, CLASSES, "TableTransformerModel", MORE_IGNORED_KEYS, normalize_config=named_or_own_backbone
    )
}
