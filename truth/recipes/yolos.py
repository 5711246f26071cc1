"""Random configs of YOLOS: the side of the image is always a list."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Write one side as two."""
    if isinstance(raw.get("image_size"), int):
        raw["image_size"] = [raw["image_size"]] * 2
    return raw
