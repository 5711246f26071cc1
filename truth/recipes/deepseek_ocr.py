"""DeepSeek-OCR 2 and Unlimited-OCR: maps that fit the second encoder, kinds of layers, and images of the config's own size."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.recipes import sam_vision


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what spans several fields, inside and out."""
    kind = raw["model_type"]
    if kind.endswith("sam_vision_model"):
        return _sam(rng, raw)
    if kind.endswith("_text"):
        return _text(rng, raw)
    if kind.endswith("_vision"):
        return _tower(rng, raw, kind)
    if kind in ("deepseek_ocr2", "unlimited_ocr"):
        raw["text_config"] = _text(rng, {**raw.get("text_config", {}), "model_type": f"{kind}_text"})
        raw["vision_config"] = _tower(rng, {**raw.get("vision_config", {}), "model_type": f"{kind}_vision"}, f"{kind}_vision")
        raw["image_token_id"] = 5
        if kind == "unlimited_ocr" and rng.random() < 0.3:
            raw["language_config"] = raw.pop("text_config")
    return raw


def _sam(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    raw = sam_vision.draw(rng, raw)
    if raw["model_type"].startswith("unlimited"):
        raw.pop("mlp_ratio", None)
    return raw | {"downsample_channels": [rng.randint(2, 12), rng.randint(2, 12)]}


def _text(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    layers = raw["num_hidden_layers"] = rng.randint(1, 4)
    heads = raw["num_attention_heads"] = rng.choice((2, 4))
    raw |= {
        "hidden_size": heads * 8,
        "num_key_value_heads": rng.choice((1, 2)),
        "num_experts_per_tok": 2,
        "n_routed_experts": rng.randint(2, 5),
    }
    if raw["model_type"].startswith("deepseek") or rng.random() < 0.5:
        raw["mlp_layer_types"] = [rng.choice(("dense", "sparse")) for _ in range(layers)]
    else:
        raw["first_k_dense_replace"] = rng.randint(0, 3)
    return raw


def _tower(rng: random.Random, raw: dict[str, Any], kind: str) -> dict[str, Any]:
    name = kind.removesuffix("_vision")
    sam = _sam(rng, {**raw.get("sam_config", {}), "model_type": f"{name}_sam_vision_model"})
    heads = rng.choice((2, 4))
    inner = {**raw.get("encoder_config", {}), "num_attention_heads": heads, "hidden_size": heads * 4}
    sam["downsample_channels"][1] = inner["hidden_size"]
    if name == "unlimited_ocr":
        inner |= {"patch_size": 4, "image_size": 4 * rng.randint(2, 5)}
    else:
        inner["num_key_value_heads"] = rng.choice((1, 2))
    inner["model_type"] = f"{name}_vision_encoder" if name == "unlimited_ocr" else f"{name}_encoder"
    return raw | {"sam_config": sam, "encoder_config": inner}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens, states or images."""
    torch, config = import_module("torch"), model.config
    kind = config.model_type
    if kind == "deepseek_ocr2_encoder":
        return {"inputs_embeds": torch.zeros(lengths.batch, lengths.seq, config.hidden_size), "num_patches": lengths.seq // 2}
    if kind == "unlimited_ocr_vision_encoder":
        return {"patch_embeds": torch.zeros(lengths.batch, config.hidden_size, 1, lengths.seq - 1)}
    if "vision" in kind:
        seen = getattr(config, "sam_config", config)
        return {"pixel_values": torch.zeros(lengths.batch, seen.num_channels, seen.image_size, seen.image_size)}
    return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
