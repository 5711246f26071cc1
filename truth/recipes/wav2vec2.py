"""Speech encoders' random configs: short stacks of convolutions, so that a few samples make frames."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists that describe convolutions, and what spans two fields."""
    layers, speaker = rng.randint(1, 2), rng.randint(1, 3)
    raw["conv_dim"] = [rng.randint(3, 9) for _ in range(layers)]
    raw["conv_kernel"] = [rng.randint(1, 2) for _ in range(layers)]
    raw["conv_stride"] = [1] * layers
    raw["feat_extract_norm"] = rng.choice(("group", "layer"))
    raw["num_conv_pos_embedding_groups"] = rng.choice((1, 2))
    raw["hidden_size"] = rng.choice((12, 24))
    raw["num_attention_heads"] = rng.choice((1, 2, 3, 4))
    raw["mask_time_prob"], raw["mask_feature_prob"] = rng.choice((0.0, 0.05)), rng.choice((0.0, 0.1))
    if raw["model_type"] == "data2vec-audio":
        raw["conv_pos_kernel_size"] = rng.randint(2, 9)
    if raw["model_type"] in ("hubert", "unispeech"):
        groups = raw["num_codevector_groups"] = rng.randint(1, 3)
        return raw | {"codevector_dim": groups * rng.randint(2, 5)}
    raw["tdnn_dim"] = [rng.randint(3, 9) for _ in range(speaker)]
    raw["tdnn_kernel"] = [rng.randint(1, 2) for _ in range(speaker)]
    raw["tdnn_dilation"] = [1] * speaker
    raw["num_codevector_groups"] = groups = rng.randint(1, 3)
    raw["codevector_dim"] = groups * rng.randint(2, 5)
    if raw["model_type"] == "unispeech-sat":
        return raw
    raw["add_adapter"] = rng.random() < 0.25
    raw |= {"num_adapter_layers": rng.randint(1, 2), "adapter_kernel_size": rng.randint(2, 3)}
    return raw
