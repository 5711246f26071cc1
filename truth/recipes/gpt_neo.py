"""Random configs of GPT-Neo and GPT-J: kinds of attention for every layer, rotary dimensions within a head."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Make what hangs on the number of layers and on the width of a head fit them."""
    if raw["model_type"] == "gpt_neo":
        layers = raw.setdefault("num_layers", 4)
        pairs = [["global", "local"], layers // 2] if layers % 2 == 0 else [[rng.choice(("global", "local"))], layers]
        raw["attention_types"] = [pairs]
        raw["window_size"] = rng.randint(2, 9)
    else:
        if raw["model_type"] == "codegen":  # queries, keys and values of four devices
            width = raw.get("n_embd", 4096) // raw.get("n_head", 16)
            raw["n_head"] = 4 * -(-raw.get("n_head", 16) // 4)
            raw["n_embd"] = raw["n_head"] * width
        raw["rotary_dim"] = 2 if raw.get("n_embd", 4096) // raw.get("n_head", 16) < 64 else rng.choice((2, 32, 64))
    return raw
