"""Random configs of the Perception Encoder for video: small image encoders by name."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import pe_audio


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw an image encoder of few layers."""
    if raw["model_type"] == "pe_video":
        return raw | {"video_config": draw(rng, {**(raw.get("video_config") or {}), "model_type": "pe_video_encoder"})}
    if raw["model_type"] == "pe_audio_video_encoder":
        raw["audio_config"] = pe_audio.draw(rng, {**(raw.get("audio_config") or {}), "model_type": "pe_audio_encoder"})
        return raw | {"video_config": draw(rng, {**(raw.get("video_config") or {}), "model_type": "pe_video_encoder"})}
    if raw["model_type"] == "pe_audio_video":
        inner = {**(raw.get("audio_video_config") or {}), "model_type": "pe_audio_video_encoder"}
        return raw | {"audio_video_config": draw(rng, inner), "tie_word_embeddings": rng.random() < 0.7}
    name = rng.choice(("vit_pe_core_tiny_patch16_384", "vit_pe_core_small_patch16_384"))
    pictures: dict[str, Any] = {"architecture": name, "model_args": {"depth": rng.randint(1, 2)}}
    if rng.random() < 0.5:
        pictures["num_labels"] = rng.randint(3, 9)
    return raw | {"vision_config": pictures}
