"""ModernVBERT and UltraVBERT: ModernBERT or UltraBERT with SigLIP's vision tower and a pixel-shuffle projector.

Source: arXiv 2510.01149; names as in transformers 5.23.0, models/modernvbert/modeling_modernvbert.py and models/ultravbert.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.modernbert import transform
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, merge_squares, patch_tokens, per_image, without_head
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import LABELS, Config, size, switch, variant
from weighbridge.core.length import Stream
from weighbridge.core.parts import linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part

FIELDS = (
    model_config("vision", "vision_config", "siglip_vision_model"),
    model_config("text", "text_config", "modernbert"),
    size("factor", "pixel_shuffle_factor", 4, "F", "patches merged along an axis"),
    LABELS,
    switch("tied", "tie_word_embeddings", False),
)


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, what joins it to the text, and the text."""
    tower = submodel(c.vision)
    proj = linear("modality_projection", c.vision.hidden * c.factor * c.factor, c.text.hidden, bias=False)
    return (
        as_child("vision_model", tower, requires="images", executions="images"),
        per_image(part("connector", proj, kind="projector", stream=merge_squares(patch_tokens(tower), c.factor))),
        as_child("text_model", submodel(c.text)),
    )


def masked_lm(c: Config) -> Part:
    """Describe ModernVBertForMaskedLM: ModernBERT's transform, and the vocabulary."""
    owner = "model.text_model.embeddings.tok_embeddings.weight" if c.tied else None
    head = linear("lm_head", c.text.hidden, c.text.vocab, bias=c.text.decoder_bias, tied_to=owner)
    return part("", part("model", *body(c), kind="backbone"), transform(c.text, "projection_head"), head, kind="model")


def with_classifier(stream: Stream | None) -> Blueprint:
    """Return the blueprint of a classifier of *stream*: one output per label behind a transform."""

    def blueprint(c: Config) -> Part:
        last = linear("classifier", c.text.hidden, c.labels, stream=stream)
        return part("", part("model", *body(c), kind="backbone"), transform(c.text, "head", stream), last, kind="model")

    return blueprint


def ultra_body(c: Config) -> tuple[Node, ...]:
    """Describe the same with UltraBERT, and a norm after the projection."""
    tower, connector, text = body(c)
    assert isinstance(connector, Part)
    return tower, replace(connector, children=(*connector.children, rms_norm("norm", c.text.hidden))), text


def ultra_masked_lm(c: Config) -> Part:
    """Describe UltraVBertForMaskedLM: down to a narrow layer, up again, and to the vocabulary."""
    H, narrow = c.text.hidden, c.text.narrow
    maps = linear("linear1", H, narrow, bias=False), linear("linear2", narrow, H, bias=False)
    owner = "model.text_model.embed_tokens.weight" if c.tied else None
    head = linear("lm_head", H, c.text.vocab, bias=False, tied_to=owner)
    return part("", part("model", *ultra_body(c), kind="backbone"), part("projection_head", *maps, kind="head"), head, kind="model")


def ultra_classifier(stream: Stream | None) -> Blueprint:
    """Return the blueprint of a classifier of *stream*: one output per label."""

    def blueprint(c: Config) -> Part:
        last = linear("classifier", c.text.hidden, c.labels, stream=stream)
        return part("", part("model", *ultra_body(c), kind="backbone"), last, kind="model")

    return blueprint


CLASSES = {
    "ModernVBertModel": without_head(body),
    "ModernVBertForMaskedLM": masked_lm,
    "ModernVBertForSequenceClassification": with_classifier("one"),
    "ModernVBertForTokenClassification": with_classifier(None),
}
ULTRA_CLASSES = {
    "UltraVBertModel": without_head(ultra_body),
    "UltraVBertForMaskedLM": ultra_masked_lm,
    "UltraVBertForSequenceClassification": ultra_classifier("one"),
    "UltraVBertForTokenClassification": ultra_classifier(None),
}
ULTRA = variant(
    FIELDS,
    vision=model_config("vision", "vision_config", "siglip_vision_model", absent={"vision_use_head": False}),
    text=model_config("text", "text_config", "ultrabert"),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {"classifier_bias", "classifier_pooling", "initializer_cutoff_factor"}
FAMILIES = {
    "modernvbert": Family("modernvbert", FIELDS, CLASSES, "ModernVBertModel", MORE_IGNORED_KEYS),
    "ultravbert": Family("ultravbert", ULTRA, ULTRA_CLASSES, "UltraVBertModel", MORE_IGNORED_KEYS),
}
