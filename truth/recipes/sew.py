"""SEW's random configs: wav2vec 2.0's, squeezed; SEW-D's have DeBERTa's attention."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import wav2vec2


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw how frames are squeezed, and what positions do."""
    raw = {key: value for key, value in wav2vec2.draw(rng, raw).items() if not key.startswith("tdnn_") and "adapter" not in key}
    for key in ("num_codevector_groups", "codevector_dim", "num_codevectors_per_group"):
        raw.pop(key, None)
    raw["squeeze_factor"] = rng.randint(1, 3)
    if rng.random() < 0.3:
        raw["conv_dim"] = [*raw["conv_dim"][:-1], raw["hidden_size"]]
    if raw["model_type"] == "sew-d":
        raw |= {"position_buckets": rng.choice((-1, 8)), "pos_att_type": rng.choice((["p2c", "c2p"], ["c2p"], "p2c|c2p", []))}
        raw |= {"norm_rel_ebd": rng.choice(("layer_norm", "none")), "max_position_embeddings": rng.randint(30, 50)}
        raw.pop("max_relative_positions", None), raw.pop("conv_kernel_size", None), raw.pop("conv_groups", None)
    return raw
