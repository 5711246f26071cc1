"""Random configs of GLM-5.3: kinds of layers, indexers that are shared or pool keys, and linear attention by either key."""

from __future__ import annotations

import random
from typing import Any

from truth.recipes import glm_ocr

inputs, passes = glm_ocr.inputs, glm_ocr.passes


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what the generic draw leaves alone."""
    if raw["model_type"] == "glm5_next_text":
        return text(rng, raw)
    raw = glm_ocr.draw(rng, raw)
    if raw["model_type"] == "glm5_next" and "text_config" in raw:
        raw["text_config"] = text(rng, {**raw["text_config"]})
    return raw


def text(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw lists of layers that fit their number."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 6)
    for key in ("index_topk_pattern", "index_topk_freq", "index_skip_topk_offset", "linear_attn_config"):
        raw.pop(key, None)
    raw |= {"n_group": 1, "topk_group": 1, "num_experts_per_tok": rng.randint(1, 3), "index_kpool": rng.choice((1, 2, 4)), "index_topk": 8}
    raw["num_key_value_heads"] = raw["num_attention_heads"] = raw.get("num_attention_heads", 4)
    if rng.random() < 0.5:
        raw["layer_types"] = [rng.choice(("linear_attention", "full_attention", "indexed_attention")) for _ in range(layers)]
    if rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    choice = rng.random()
    if choice < 0.3:
        raw["indexer_types"] = [rng.choice(("full", "shared")) for _ in range(layers)]
    elif choice < 0.5:
        raw |= {"index_topk_freq": rng.randint(0, 3), "index_skip_topk_offset": rng.randint(1, 3)}
    if rng.random() < 0.4:
        raw["linear_attn_config"] = {
            "head_dim": rng.choice((4, 6)),
            "num_heads": rng.randint(1, 3),
            "short_conv_kernel_size": rng.randint(2, 5),
        }
    return raw
