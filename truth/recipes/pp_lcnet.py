"""PP-LCNet's random configs: blocks of five stages, gated and not."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw blocks that follow on each other."""
    width = raw["stem_channels"] = rng.randint(6, 20)
    stages = 5
    if raw["model_type"] == "pp_lcnet_v4":
        stages, width = 4, 2 * rng.randint(3, 10)
        raw |= {"stem_channels": [3, 2 * rng.randint(2, 10), width], "stem_type": rng.choice(("large", "small"))}
        raw["stem_strides"] = [rng.randint(1, 2), 1, 1, rng.randint(1, 2), 1]
    raw["block_configs"] = []
    for _ in range(stages):
        blocks = []
        for _ in range(rng.randint(1, 2)):
            after = rng.choice((width, rng.randint(6, 30)))
            blocks.append([rng.choice((1, 3, 5)), width, after, rng.choice((1, 2, 1, [2, 1])), rng.random() < 0.4])
            width = after
        raw["block_configs"].append(blocks)
    if stages == 4:
        return raw | {"scale": 1.0, "reduction": rng.randint(1, 2), "image_size": images.picture(rng)} | images.outputs(rng, 4)
    raw |= {"scale": rng.choice((0.5, 1.0, 1.3)), "divisor": rng.choice((2, 4, 8)), "reduction": rng.randint(1, 2)}
    if raw["model_type"] == "pp_lcnet_v3":
        raw["conv_symmetric_num"] = rng.randint(1, 3)
    return raw | {"stem_stride": rng.randint(1, 2), "image_size": images.picture(rng)} | images.outputs(rng, 5)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make pictures of three channels."""
    return images.pictures(model, lengths)
