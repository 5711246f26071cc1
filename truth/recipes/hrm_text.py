"""HRM's random configs: cycles of both stacks, and layers said once or twice."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw cycles."""
    raw |= {"H_cycles": rng.randint(1, 3), "L_cycles": rng.randint(1, 3)}
    layers = rng.randint(1, 3)
    raw["num_hidden_layers"] = layers
    raw.pop("num_layers_per_stack", None)
    if rng.random() < 0.4:
        raw |= {"num_layers_per_stack": layers, "num_hidden_layers": layers * raw["H_cycles"] * (raw["L_cycles"] + 1)}
    return raw
