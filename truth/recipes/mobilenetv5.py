"""Gemma 3n's image encoder: only one architecture is described, and it takes images of 768 pixels a side."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Name the architecture, or leave it to the default."""
    raw.pop("model_args", None)
    return raw | {"architecture": "mobilenetv5_300m_enc"}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images."""
    return {"pixel_values": import_module("torch").zeros(lengths.batch, 3, 768, 768)}
