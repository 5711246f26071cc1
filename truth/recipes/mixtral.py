"""Random configs of mixtures: which layers have experts, and fields without a default that builds."""

from __future__ import annotations

import random
from typing import Any

LAYERS = {"qwen2_moe": 24, "qwen3_moe": 24, "mellum": 28, "exaone_moe": 32, "hy_v3": 80}


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw periods and lists of layers that fit their number, and switch norms on queries and keys."""
    kind = raw["model_type"]
    layers = raw.get("num_hidden_layers", LAYERS.get(kind, 4))
    if kind in ("qwen2_moe", "qwen3_moe") and rng.random() < 0.6:
        raw["decoder_sparse_step"] = rng.randint(1, 3)
        raw["mlp_only_layers"] = [index for index in range(layers) if rng.random() < 0.3]
    if kind in ("glm4_moe", "dots1") and rng.random() < 0.7:
        raw["first_k_dense_replace"] = rng.randint(0, 5)
    if kind in ("mellum", "exaone_moe", "hy_v3") and rng.random() < 0.6:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    if kind == "ernie4_5_moe":
        raw |= {"moe_layer_interval": rng.randint(1, 2), "moe_layer_start_index": rng.randint(0, 2)}
        raw |= {"moe_layer_end_index": rng.choice((-1, -1, 1, 2, 3)), "moe_num_shared_experts": rng.randint(0, 2)}
    if kind == "glm4_moe":
        raw["use_qk_norm"] = rng.random() < 0.5
    if kind == "dots1":
        raw |= {"n_shared_experts": rng.randint(1, 3), "n_routed_experts": rng.randint(3, 6), "num_experts_per_tok": rng.randint(1, 3)}
    if kind in ("glm4_moe", "dots1", "solar_open", "exaone_moe"):
        raw |= {"n_group": 1, "topk_group": 1}
    return raw
