"""Random configs of the Perception Encoder for audio: a small codec inside."""

from __future__ import annotations

import random
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    if raw["model_type"] == "pe_audio":
        if "audio_config" in raw:
            raw["audio_config"] = draw(rng, {**raw["audio_config"], "model_type": "pe_audio_encoder"})
        return raw
    ratios = [rng.randint(1, 4) for _ in range(rng.randint(1, 3))]
    raw["dac_config"] = {"downsampling_ratios": ratios, "encoder_hidden_size": rng.randint(2, 6), "codebook_dim": rng.randint(2, 9)}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make none: sound and text are of lengths of their own."""
    raise RefusedError("sound and text are of lengths of their own")
