"""Random configs of Gemma 4's drafting models, and their live classes without a check that no such model passes."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache
from typing import Any

from truth import live


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw a text of plain layers, all of which reuse keys, or of a unified model the last half."""
    with suppress(ImportError):  # drawn where there is no live class
        let_all_layers_reuse(raw["model_type"])
    text = raw.get("text_config") or {}
    layers = rng.randint(1, 6)
    plain = {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0, "use_double_wide_mlp": False, "enable_moe_block": False}
    text |= {"num_hidden_layers": layers, "num_kv_shared_layers": rng.choice((0, layers)), "layer_types": None}
    text |= plain if raw["model_type"] == "gemma4_assistant" else {}
    if raw["model_type"] == "gemma4_unified_assistant" and rng.random() < 0.4:
        text |= {"num_hidden_layers": 4, "num_kv_shared_layers": 2, "layer_types": ["sliding_attention", "full_attention"] * 2}
    return raw | {"text_config": {key: value for key, value in text.items() if key != "layer_types" or value}}


@cache
def let_all_layers_reuse(model_type: str) -> None:
    """Let the text of a drafting model say that all of its layers reuse keys, where the library's own check would refuse it."""
    config_class = live.config_class(model_type)
    finish = config_class.__post_init__

    def finish_and_lift(config: Any, **keywords: Any) -> None:
        finish(config, **keywords)
        text = config.text_config
        if text is not None and text.num_kv_shared_layers == text.num_hidden_layers:
            cls = type(text)
            modes = property(lambda self: ["reuse"] * self.num_hidden_layers)
            text.__class__ = type(cls.__name__, (cls,), {"kv_sharing_modes": modes, "__module__": cls.__module__})

    config_class.__post_init__ = finish_and_lift
