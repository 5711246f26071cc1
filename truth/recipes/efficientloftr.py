"""Random configs of Efficient LoFTR: as many depths, widths and strides, heads of a width that rotates in quarters."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists of stages."""
    heads, stages = rng.choice((1, 2)), rng.randint(2, 5)
    width = raw["hidden_size"] = heads * 8 * rng.randint(1, 2)
    raw |= {"num_attention_heads": heads, "stage_num_blocks": [rng.randint(1, 3) for _ in range(stages)]}
    raw |= {"out_features": [rng.choice((4, 6, width)) for _ in range(stages - 1)] + [width]}
    raw.pop("rope_parameters", None)
    return raw | {"stage_stride": [rng.randint(1, 2) for _ in range(stages)], "q_aggregation_kernel_size": rng.randint(1, 5)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: two images are as large as they are."""
    raise RefusedError("two images are as large as they are")
