"""ModernVBERT: ModernBERT with SigLIP's vision tower and a pixel-shuffle projector.

Source: arXiv 2510.01149; names as in transformers 5.23.0, models/modernvbert/modeling_modernvbert.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.modernbert import transform
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, merge_squares, patch_tokens, per_image, without_head
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import LABELS, Config, size, switch
from weighbridge.core.length import Stream
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Node, Part

FIELDS = (
    model_config("vision", "vision_config", "siglip_vision_model"),
    model_config("text", "text_config", "modernbert", fixed=True),
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


CLASSES = {
    "ModernVBertModel": without_head(body),
    "ModernVBertForMaskedLM": masked_lm,
    "ModernVBertForSequenceClassification": with_classifier("one"),
    "ModernVBertForTokenClassification": with_classifier(None),
}
MORE_IGNORED_KEYS = IGNORED_KEYS | {"classifier_bias", "classifier_pooling", "initializer_cutoff_factor"}
FAMILIES = {"modernvbert": Family("modernvbert", FIELDS, CLASSES, "ModernVBertModel", MORE_IGNORED_KEYS)}
