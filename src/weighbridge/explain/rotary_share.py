"""How much of each query and key rotary positions turn, where a config says that it is a part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES = frozenset(
    """codegen fuyu glm glm4 glm4_moe glm4v_moe glm4v_moe_text glm4v_text glm_ocr_text gpt_neox gpt_neox_japanese gptj minimax_m2
    minimax_m3_vl_text persimmon phi phi3 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen3_next recurrent_gemma solar_open
    stablelm""".split()
)
"""The model types whose classes rotate a part where such a key says so (transformers 5.23.0); others ignore it."""

_OWN_CONFIGS = {"visual": "vision_config", "vision": "vision_config", "audio": "audio_config"}
"""By a word in a module's path, the sub-config that it is made from."""


def rotated_dimensions(raw: Mapping[str, Any], model_type: str, path: str, head_dim: int) -> int | None:
    """Return how many dimensions of a head's query and key are rotated, where the config says that it is a part; else None.

    A key that is not there says nothing: presets have only the keys that decide shapes.

    >>> rotated_dimensions({"partial_rotary_factor": 0.4}, "phi", "layers.self_attn", 80)
    32
    >>> rotated_dimensions({"rotary_dim": 64}, "gptj", "h.attn", 256)
    64
    """
    place = next((key for word, key in _OWN_CONFIGS.items() if word in path), "text_config")
    inner = raw.get(place)
    own = inner if isinstance(inner, Mapping) else raw if place == "text_config" else {}
    if str(own.get("model_type", model_type if place == "text_config" else "")) not in _TYPES:
        return None
    part = own.get("rotary_dim")
    if part is None:
        part = int(head_dim * _share(own))
    return part if type(part) is int and 0 < part < head_dim and part % 2 == 0 else None


def _share(config: Mapping[str, Any]) -> float:
    """Return the share that a config states, under any of its names; all where it states none."""
    for inner in (config.get("rope_parameters"), config.get("rope_scaling"), config):
        for key in ("partial_rotary_factor", "rotary_pct", "rope_pct"):
            value = inner.get(key) if isinstance(inner, Mapping) else None
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return float(value)
    return 1
