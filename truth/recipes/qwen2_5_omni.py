"""Random configs and inputs of Qwen-Omni: rotary sections that fill a head, towers as wide as their text, images of several shapes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.live import RefusedError
from truth.recipes import qwen_vl


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    kind = raw["model_type"]
    if kind.endswith("vision_encoder"):
        known = "qwen2_5_vl_vision" if kind.startswith("qwen2") else "qwen3_vl_moe_vision"
        return qwen_vl.draw(rng, raw | {"model_type": known}) | {"model_type": kind}
    if kind.endswith(("_text", "_talker")):
        raw.setdefault("head_dim", rng.choice((8, 12)))
        return _sections(rng, raw)
    if kind.endswith("code_predictor"):
        raw["num_code_groups"] = rng.randint(16, 20)
    return raw


def _sections(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    half = raw["head_dim"] // 2
    first = rng.randint(1, max(1, half // 2))
    sections = [half - 2 * (first // 2), first // 2, first // 2]
    return raw | {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": sections}}


def passes(model: Any) -> list[Pass]:
    """List the passes of a vision encoder."""
    return [Pass(1, 16, patches=(6, 12)), Pass(1, 16, patches=(12, 18))] if model.config.model_type.endswith("vision_encoder") else []


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make patches or tokens."""
    if model.config.model_type.endswith("vision_encoder"):
        return qwen_vl.inputs(model, lengths)
    if model.config.model_type.endswith("audio_encoder"):
        raise RefusedError("it takes windows")
    if model.config.model_type.endswith("code_predictor"):
        return {"inputs_embeds": import_module("torch").zeros(lengths.batch, lengths.seq, model.config.hidden_size)}
    return plain(model, lengths)
