"""FastSpeech 2 with conformers: odd kernels, and a vocoder that hears its mel bins."""

from __future__ import annotations

import random
from typing import Any

KERNELS = """positionwise_conv duration_predictor energy_predictor energy_embed pitch_predictor pitch_embed encoder decoder""".split()


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must be odd, and who speaks."""
    if raw["model_type"] == "fastspeech2_conformer_with_hifigan":
        raw["model_config"] = draw(rng, {**raw.get("model_config", {}), "model_type": "fastspeech2_conformer"})
        raw["vocoder_config"] = {"upsample_rates": [2, 2], "upsample_kernel_sizes": [4, 4], "upsample_initial_channel": rng.choice((8, 16))}
        return raw
    raw |= {f"{name}_kernel_size": rng.choice((1, 3, 5)) for name in KERNELS}
    raw |= {"speech_decoder_postnet_layers": rng.randint(1, 4), "use_weighted_masking": False}
    return raw | {
        "num_speakers": rng.choice((None, 1, 4)),
        "num_languages": rng.choice((None, 3)),
        "speaker_embed_dim": rng.choice((None, 5)),
    }
