"""Random configs of Emu3: levels that norms of 32 groups divide, and a name for every code."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw few levels, some of which attend, and say which words are codes."""
    if raw["model_type"] == "emu3_vqgan":
        return raw | small_codes(rng)
    raw["vq_config"] = (raw.get("vq_config") or {}) | small_codes(rng)
    words = {"<|extra_200|>": 7, "<image>": 5} | {f"<|visual token {code:06d}|>": 9 + code for code in range(20)}
    return raw | {"vocabulary_map": words}


def small_codes(rng: random.Random) -> dict[str, Any]:
    """Draw the networks between images and codes."""
    base, levels = 32 * rng.randint(1, 2), [rng.randint(1, 3) for _ in range(rng.randint(1, 4))]
    attending = sorted(rng.sample(range(len(levels)), rng.randint(0, len(levels))))
    heads = rng.choice((1, 2, 4))
    same = len({levels[at] for at in {*attending, len(levels) - 1}}) == 1
    return {
        "base_channels": base,
        "channel_multiplier": levels,
        "num_res_blocks": rng.randint(0, 3),
        "attn_resolutions": attending,
        "hidden_size": base * levels[-1] if same else heads * 8,
        "num_attention_heads": heads,
        "temporal_downsample_factor": rng.choice((1, 2, 3, 4, 8)),
        "double_latent": rng.random() < 0.3,
    }
