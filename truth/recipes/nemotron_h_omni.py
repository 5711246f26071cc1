"""Random configs of Nemotron Nano Omni: the projector takes what the picture encoder puts out; some hear."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a ratio, and frames of a cube that both say."""
    vision = raw.setdefault("vision_config", {"hidden_size": 32, "num_attention_heads": 2, "num_hidden_layers": 1})
    vision["video_temporal_patch_size"] = raw["video_temporal_patch_size"] = rng.randint(1, 3)
    raw |= {"downsample_ratio": rng.choice((0.5, 0.25, 1.0)), "vision_hidden_size": vision.get("hidden_size", 1280)}
    if raw.get("audio_config") is not None:
        raw["audio_config"] |= {"projection_hidden_size": rng.randint(4, 40), "projection_bias": rng.random() < 0.5}
    return raw
