"""Random configs of Qwen3-Omni whole: what no class has a default of, and the parts' own draws."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError
from truth.recipes import qwen3_omni_moe


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a shared expert for the talker, and rates of few channels for the waves."""
    if raw["model_type"] == "qwen3_omni_moe_talker_text":
        raw.setdefault("shared_expert_intermediate_size", rng.randint(3, 40))
        raw.setdefault("head_dim", 8)
        return raw
    talker, waves = raw.setdefault("talker_config", {}), raw.setdefault("code2wav_config", {})
    text = {"model_type": "qwen3_omni_moe_talker_text", **(talker.get("text_config") or {})}
    predictor = {"model_type": "qwen3_omni_moe_talker_code_predictor", **(talker.get("code_predictor_config") or {})}
    talker["text_config"] = draw(rng, text)
    talker["code_predictor_config"] = qwen3_omni_moe.draw(rng, predictor)
    talker.setdefault("spatial_merge_size", 2)
    waves["decoder_dim"] = 16 * rng.randint(1, 3)
    waves["upsample_rates"] = [rng.randint(2, 5) for _ in range(rng.randint(1, 4))]
    waves["upsampling_ratios"] = [rng.randint(2, 3) for _ in range(rng.randint(1, 3))]
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make what the thinker thinks; of the whole there is only generation."""
    if model.config.model_type == "qwen3_omni_moe":
        raise RefusedError("there is no forward of the whole")
    return {"inputs_embeds": import_module("torch").zeros(lengths.batch, lengths.seq, model.config.hidden_size)}
