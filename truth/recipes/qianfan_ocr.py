"""Random configs and inputs of Qianfan-OCR: as InternVL's."""

from __future__ import annotations

import random
from typing import Any

from truth import seen
from truth.recipes import internvl

inputs, passes = internvl.inputs, seen.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what InternVL has."""
    name = raw["model_type"]
    raw["model_type"] = {"qianfan_ocr": "internvl", "qianfan_ocr_vision": "internvl_vision"}[name]
    return internvl.draw(rng, raw) | {"model_type": name}
