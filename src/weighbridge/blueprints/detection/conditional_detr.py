"""Conditional DETR: cross-attention with a spatial query for each object query, for faster convergence (Meng et al., 2021).

Source: arXiv 2108.06152; names as in transformers 5.23.0, models/conditional_detr/modeling_conditional_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.detr import detr
from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.detr_common import (
    FIELDS,
    MORE_IGNORED_KEYS,
    backbone_features,
    encoder,
    mlp_head,
    named_or_own_backbone,
    with_detection_heads,
)
from weighbridge.blueprints.modules.detr_mask_head import map_attention, mask_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, variant
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Every, Part


def attention(c: Config) -> Part:
    """Describe attention among queries: contents and points are mapped apart, and added."""
    names = ("q_content_proj", "q_pos_proj", "k_content_proj", "k_pos_proj", "v_proj", "o_proj")
    scores = attend(heads=c.decoder_heads, head_dim=exact(c.hidden, c.decoder_heads))
    return part("self_attn", *(linear(name, c.hidden, c.hidden) for name in names), scores, kind="self_attention")


def cross_attention(c: Config, keys: Stream, *, first: bool) -> Part:
    """Describe attention to the encoder's positions, contents and points side by side; the first layer adds the queries' vectors, too."""
    H, dim = c.hidden, exact(c.hidden, c.decoder_heads)
    return part(
        "encoder_attn",
        linear("q_content_proj", H, H),
        *((linear("q_pos_proj", H, H),) if first else ()),
        linear("k_content_proj", H, H, stream=keys),
        linear("k_pos_proj", H, H, stream=keys),
        linear("v_proj", H, H, stream=keys),
        linear("q_pos_sine_proj", H, H),
        linear("o_proj", H, H),
        attend(heads=c.decoder_heads, head_dim=2 * dim, value_dim=dim, keys=keys),
        kind="cross_attention",
        requires=keys if isinstance(keys, str) else None,
    )


def layer(c: Config, keys: Stream, *, first: bool) -> Part:
    """Describe a layer of the decoder."""
    requires = keys if isinstance(keys, str) else None
    return part(
        "layers",
        attention(c),
        layer_norm("self_attn_layer_norm", c.hidden),
        cross_attention(c, keys, first=first),
        replace(layer_norm("encoder_attn_layer_norm", c.hidden), requires=requires),
        plain_mlp("mlp", c.hidden, c.decoder_mlp, ("fc1", "fc2"), bias=True),
        layer_norm("final_layer_norm", c.hidden),
        kind="layer",
        repeat=1 if first else c.decoder_layers - 1,
        indices=None if first else Every(1),
    )


def decoder(c: Config, keys: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers, its norm, the scale of points, predicted before every layer but the first, and the points."""
    H = c.hidden
    scale = mlp_head("query_scale", H, H, H, executions=c.decoder_layers - 1)
    layers = layer(c, keys, first=True), layer(c, keys, first=False)
    return *layers, layer_norm("layernorm", H), scale, mlp_head("ref_point_head", H, H, 2)


def model(c: Config, seen: Features) -> tuple[Part, ...]:
    """Describe DETR with this decoder."""
    return detr(c, seen, decoder)


def detection(c: Config, seen: Features) -> tuple[Part, ...]:
    """Describe the model and what it predicts for each query: its label and its box."""
    return with_detection_heads(c, model(c, seen), c.labels)


def segmentation(c: Config) -> Part:
    """Describe ConditionalDetrForSegmentation."""
    seen = backbone_features(c)
    return part(
        "", part("conditional_detr", *detection(c, seen), kind="backbone"), mask_head(c, seen), map_attention(c, seen), kind="model"
    )


CLASSES = {
    "ConditionalDetrEncoder": lambda c: part("", *encoder(c), kind="model"),
    "ConditionalDetrDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "ConditionalDetrModel": lambda c: part("", *model(c, backbone_features(c)), kind="model"),
    "ConditionalDetrForObjectDetection": lambda c: part("", *detection(c, backbone_features(c)), kind="model"),
    "ConditionalDetrForSegmentation": segmentation,
}

FAMILIES = {
    "conditional_detr": Family(
        "conditional_detr",
        variant(FIELDS, queries=300),
        CLASSES,
        "ConditionalDetrModel",
        MORE_IGNORED_KEYS | {"cls_loss_coefficient", "focal_alpha"},
        normalize_config=named_or_own_backbone,
    )
}
