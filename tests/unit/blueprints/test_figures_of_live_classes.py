"""Figures of live classes on the meta device: heads that do not divide the hidden size, and networks under a neck."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import count, model
from weighbridge.core.errors import ConfigError

SMALL = {"hidden_size": 64, "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 99}
LIVE: list[tuple[str, dict[str, Any], int]] = [
    ("vit", {"num_attention_heads": 5}, 122_792),
    ("albert", {"num_attention_heads": 5, "embedding_size": 16}, 43_652),
    ("electra", {"num_attention_heads": 5}, 144_104),
    ("qwen2_5_vl_vision", {"num_heads": 5, "depth": 2, "out_hidden_size": 32}, 220_256),
    ("sam_vision_model", {"num_attention_heads": 5, "mlp_dim": 256}, 1_019_856),
    ("llama4_vision_model", {"num_attention_heads": 5, "intermediate_size": 256, "vision_output_dim": 32}, 18_027_240),
]
"""What the classes of transformers 5.23.0 have on the meta device."""


@pytest.mark.parametrize(("model_type", "own", "expected"), LIVE, ids=[case[0] for case in LIVE])
def test_what_heads_leave_over_is_dropped_as_the_class_drops_it(model_type: str, own: dict[str, Any], expected: int) -> None:
    assert count({"model_type": model_type, **SMALL, **own}).unique == expected


@pytest.mark.parametrize("model_type", ["bert", "clip_vision_model", "opt"])
def test_a_class_that_refuses_such_heads_is_refused(model_type: str) -> None:
    with pytest.raises(ConfigError, match="not divisible by"):
        count({"model_type": model_type, **SMALL, "num_attention_heads": 5})


def test_esm_has_a_formula_where_its_config_states_the_width_of_a_head() -> None:
    config = {"model_type": "esm", "hidden_size": 48, "num_attention_heads": 4, "head_dim": 15, "vocab_size": 33, "num_hidden_layers": 1}
    assert model(config).formula().value == count(config).unique


def test_deimv2_over_a_dinov3_has_the_network_beside_it() -> None:
    config = {"model_type": "deimv2", "backbone_config": {"model_type": "dinov3_vit", "out_features": ["stage10", "stage11", "stage12"]}}
    assert count(config, "Deimv2ForObjectDetection").unique == 37_333_894
