"""ALIGN: EfficientNet without its last convolution, and BERT, in one space.

Source: arXiv 2102.05918; names as in transformers 5.23.0, models/align/modeling_align.py.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import POOLED, SHARED, embeddings, layer, pooler
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.vision.efficientnet import FIELDS, MORE_IGNORED_KEYS, efficientnet, width_of
from weighbridge.config.family import Family
from weighbridge.config.fields import PROJECTION_DIM, Config, computed, constant
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import linear, matmul, part, replace
from weighbridge.core.tree import Part, Tensor

TEXT = (*(field for field in SHARED if field.word not in ("labels", "tied")), constant("crossed", False), POOLED)
VISION = tuple(field for field in FIELDS if field.word != "labels")
BOTH = (
    model_config("text", "text_config", "align_text_model", fixed=True),
    model_config("vision", "vision_config", "align_vision_model", fixed=True),
    PROJECTION_DIM.with_default(640),
    computed("alike", lambda c: width_of(c.vision, c.vision.outs[-1]) == c.projected),
)


def text(c: Config) -> Part:
    """Describe BERT's encoder, with its pooler unless that is left out."""
    return part("", embeddings(c), part("encoder", layer(c), kind="encoder"), *((pooler(c),) if c.pooled else ()), kind="model")


def vision(c: Config) -> Part:
    """Describe EfficientNet's stem and blocks; the mean of all positions is what they give."""
    stem, encoder, *_ = efficientnet(c)
    return part("", stem, replace(encoder, children=encoder.children[:1]), kind="vision")


def align(c: Config) -> Part:
    """Describe both, a linear layer on the text's first token, and the temperature of their similarities."""
    images: Stream = "batch" if c.alike else unknown("what the vision tower gives is not as wide as the shared space")
    return part(
        "",
        Tensor("temperature", (), "gain"),
        as_child("text_model", submodel(c.text)),
        as_child("vision_model", submodel(c.vision)),
        linear("text_projection", c.text.hidden, c.projected, stream="one"),
        matmul("similarity", (images, c.projected)),
        kind="model",
    )


FAMILIES = {
    "align": Family("align", BOTH, {"AlignModel": align}, "AlignModel", frozenset(("temperature_init_value",))),
    "align_text_model": Family("align_text_model", TEXT, {"AlignTextModel": text}, "AlignTextModel"),
    "align_vision_model": Family("align_vision_model", VISION, {"AlignVisionModel": vision}, "AlignVisionModel", MORE_IGNORED_KEYS),
}
