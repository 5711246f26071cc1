"""A small BERT for tests: its config, and models of its classes."""

from __future__ import annotations

import weighbridge
from weighbridge.api.model import Model

CONFIG = {
    "model_type": "bert",
    "vocab_size": 100,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 16,
}


def bert(model_class: str = "BertModel", **overrides: object) -> Model:
    """Return a class of the small BERT, with fields of its config overridden."""
    return weighbridge.model({**CONFIG, **overrides}, model_class)
