"""Dense passage retrieval: BERT encoders of questions and passages, and a BERT reader (Karpukhin et al., 2020).

Source: arXiv 2004.04906; class and tensor names as in transformers 5.23.0, models/dpr/modeling_dpr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders import bert
from weighbridge.blueprints.modules.bert_family import bert_fields
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, Config, computed, size
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Part

FIELDS = (
    *(field for field in bert_fields() if field.word not in ("tied", "labels")),
    size("projection", "projection_dim", 0, "P", "width of the projection", minimum=0),
    computed("projected", lambda c: c.projection > 0),
    *DECODER,
)


def encoder(c: Config, name: str) -> Part:
    """Describe BERT and, if there is one, the projection of its first token."""
    projection = (linear("encode_proj", c.hidden, c.projection, stream="one"),) if c.projected else ()
    return part(name, part("bert_model", *bert.encoder(c, pooled=False), kind="backbone"), *projection, kind="encoder")


def reader(c: Config, name: str) -> Part:
    """Describe start and end on every token, and how relevant the passage is on the first."""
    width = c.projection if c.projected else c.hidden
    return part(
        name, encoder(c, "encoder"), linear("qa_outputs", width, 2), linear("qa_classifier", width, 1, stream="one"), kind="backbone"
    )


CLASSES = {
    "DPREncoder": lambda c: part("", encoder(c, ""), kind="model"),
    "DPRQuestionEncoder": lambda c: part("", encoder(c, "question_encoder"), kind="model"),
    "DPRContextEncoder": lambda c: part("", encoder(c, "ctx_encoder"), kind="model"),
    "DPRSpanPredictor": lambda c: part("", reader(c, ""), kind="model"),
    "DPRReader": lambda c: part("", reader(c, "span_predictor"), kind="model"),
}

FAMILIES = {"dpr": Family("dpr", FIELDS, CLASSES, "DPRQuestionEncoder")}
