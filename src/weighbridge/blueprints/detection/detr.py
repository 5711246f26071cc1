"""DETR: end-to-end detection with object queries that attend to the feature map of a convolutional backbone (Carion et al., 2020).

Source: arXiv 2005.12872; names as in transformers 5.23.0, models/detr/modeling_detr.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.detr_common import (
    FIELDS,
    MORE_IGNORED_KEYS,
    backbone_features,
    decoder,
    encoder,
    named_or_own_backbone,
    positions,
    with_detection_heads,
)
from weighbridge.blueprints.modules.detr_mask_head import map_attention, mask_head
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.length import Stream
from weighbridge.core.parts import conv2d, embedding, part
from weighbridge.core.tree import Node, Part


def detr(c: Config, seen: Features, decode: Callable[[Config, Stream], tuple[Node, ...]] = decoder) -> tuple[Part, ...]:
    """Describe backbone, positions, queries, encoder and decoder; *decode* describes the decoder's inside."""
    places = area(seen.maps[-1])
    return (
        part("backbone", part("model", *seen.parts, kind="backbone"), kind="vision"),
        *positions(c),
        embedding("query_position_embeddings", c.queries, c.hidden),
        conv2d("input_projection", seen.widths[-1], c.hidden, 1, stream=places),
        part("encoder", *encoder(c), kind="encoder", stream=places),
        part("decoder", *decode(c, places), kind="decoder", stream=c.queries),
    )


def detection(c: Config, seen: Features) -> tuple[Part, ...]:
    """Describe the model and what it predicts for each query: its label, or that it is nothing, and its box."""
    return with_detection_heads(c, detr(c, seen), c.labels + 1)


def segmentation(c: Config) -> Part:
    """Describe DetrForSegmentation: detection, the head of masks, and attention that is not multiplied with values."""
    seen = backbone_features(c)
    return part("", part("detr", *detection(c, seen), kind="backbone"), mask_head(c, seen), map_attention(c, seen), kind="model")


CLASSES = {
    "DetrEncoder": lambda c: part("", *encoder(c), kind="model"),
    "DetrDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "DetrModel": lambda c: part("", *detr(c, backbone_features(c)), kind="model"),
    "DetrForObjectDetection": lambda c: part("", *detection(c, backbone_features(c)), kind="model"),
    "DetrForSegmentation": segmentation,
}

FAMILIES = {"detr": Family("detr", FIELDS, CLASSES, "DetrModel", MORE_IGNORED_KEYS, normalize_config=named_or_own_backbone)}
