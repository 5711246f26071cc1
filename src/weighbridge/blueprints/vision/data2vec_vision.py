"""data2vec for images: BEiT under its earlier layer names.

Source: arXiv 2202.03555; names as in transformers 5.23.0, models/data2vec/modeling_data2vec_vision.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.blueprints.modules.upernet_head import double_size, upsample, with_segmentation_heads
from weighbridge.blueprints.modules.vit_common import WHOLE_HEADS, classifier, grid, patches, split_attention, split_layer
from weighbridge.blueprints.vision.beit import OWN_IGNORED_KEYS, embeddings, fields, last_norm, positions, scales
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.parts import batch_norm, part
from weighbridge.core.tree import Part


def backbone(c: Config, *, pooled: bool = False, name: str = "data2vec_vision") -> Part:
    """Describe the encoder, alone or as the heads hold it; keys have no bias."""
    bias = (positions(c, "relative_position_bias"),)
    attends = split_attention(c, (True, False, True), *(bias if c.relative else ()))
    layers = split_layer(c, *scales(c), attends=attends)
    children = (embeddings(c), part("encoder", *(bias if c.shared else ()), layers, kind="encoder"), *last_norm(c, pooled=pooled))
    return part(name, *children, kind="backbone" if name else "model", stream=patches(c) + 1)


def data2vec(c: Config) -> Part:
    """Describe Data2VecVisionModel."""
    return backbone(c, pooled=c.pooled, name="")


def classification(c: Config) -> Part:
    """Describe Data2VecVisionForImageClassification: one output per label on the mean of the patches, or on the class token."""
    return part("", backbone(c, pooled=True), classifier(c), kind="model")


def segmentation(c: Config) -> Part:
    """Describe Data2VecVisionForSemanticSegmentation: BEiT's pyramid with numbers for names, and UperNet."""
    H, at = c.hidden, grid(c)
    up = part("fpn1", upsample("0", H, at), batch_norm("1", H, stream=area(double_size(at))), upsample("3", H, double_size(at)))
    return with_segmentation_heads(c, at, backbone(c), up, part("fpn2", upsample("0", H, at)))


CLASSES = {
    "Data2VecVisionModel": data2vec,
    "Data2VecVisionForImageClassification": classification,
    "Data2VecVisionForSemanticSegmentation": segmentation,
}
FIELDS = fields(WHOLE_HEADS, pooled=False, indices=[3, 5, 7, 11])
FAMILIES = {"data2vec-vision": Family("data2vec-vision", FIELDS, CLASSES, "Data2VecVisionModel", OWN_IGNORED_KEYS)}
