"""Random configs of UVDoc: stages and a bridge of any number of blocks."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists of widths."""
    if raw["model_type"] == "uvdoc_backbone":
        return _network(rng, raw)
    raw |= {"backbone_config": _network(rng, {"model_type": "uvdoc_backbone"}), "kernel_size": rng.choice((1, 3, 5))}
    raw["stage_configs"] = raw["backbone_config"]["stage_configs"]
    raw |= {"bridge_connector": [rng.randint(1, 9), rng.randint(1, 9)], "hidden_act": rng.choice(("prelu", "relu"))}
    return raw | {"out_point_positions2D": [[rng.randint(1, 9), rng.randint(1, 9)] for _ in range(2)]}


def _network(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    width = rng.randint(1, 9)
    raw |= {"resnet_head": [[3, width], [width, width]], "resnet_configs": [], "kernel_size": rng.choice((1, 3, 5))}
    for _ in range(rng.randint(1, 4)):
        stage = []
        for _ in range(rng.randint(1, 3)):
            outs, halves = rng.choice(((width, False), (rng.randint(1, 9), True)))
            stage.append([width, outs, rng.randint(1, 3), halves])
            width = outs
        raw["resnet_configs"].append(stage)
    return raw | {"stage_configs": [[[width, rng.randint(1, 3)] for _ in range(rng.randint(1, 3))] for _ in range(rng.randint(1, 5))]}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: a page is as large as its image."""
    raise RefusedError("a page is as large as its image")
