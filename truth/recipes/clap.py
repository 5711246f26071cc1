"""Random configs and inputs of CLAP: stages, windows and patches that fit, and a spectrogram."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what makes up the audio tower."""
    if "text" not in raw["model_type"]:
        _audio(rng, raw if raw["model_type"] == "clap_audio_model" else raw.setdefault("audio_config", {}))
    return raw


def _audio(rng: random.Random, raw: dict[str, Any]) -> None:
    count = rng.randint(1, 3)
    stride, window = rng.choice((1, 2)), rng.choice((2, 3, 4))
    raw |= {"depths": [rng.randint(1, 2) for _ in range(count)], "num_attention_heads": [rng.choice((1, 2, 4)) for _ in range(count)]}
    raw |= {"patch_stride": rng.choice((stride, [stride, stride])), "patch_size": stride + rng.choice((0, 0, 2)), "window_size": window}
    raw |= {"spec_size": stride * rng.choice((16, 24)), "num_mel_bins": 8 * stride, "patch_embeds_hidden_size": 4 * rng.randint(1, 4)}
    raw |= {
        "mlp_ratio": rng.choice((1.5, 2.0, 4.0, 3.25)),
        "enable_fusion": rng.random() < 0.4,
        "fusion_type": rng.choice((None, "channel_map")),
    }
    raw |= {"patch_embed_input_channels": 1, "aff_block_r": rng.randint(1, 4)}
    if rng.random() < 0.8:
        raw["hidden_size"] = raw["patch_embeds_hidden_size"] * 2 ** (count - 1)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and a spectrogram of a clip that needs no fusion."""
    torch = import_module("torch")
    taken = inspect.signature(model.forward).parameters
    audio = getattr(model.config, "audio_config", model.config)
    made: dict[str, Any] = {}
    if "input_ids" in taken:
        made["input_ids"] = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if "input_features" in taken:
        frames = audio.spec_size * (audio.spec_size // audio.num_mel_bins)
        made["input_features"] = torch.zeros(lengths.batch, 1, frames, audio.num_mel_bins)
        made["is_longer"] = torch.zeros(lengths.batch, dtype=torch.bool)
    return made
