"""Which outputs of products and convolutions are exact, and which are estimates."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.accounts.outputs_trust import estimated_types, trust_of_outputs
from weighbridge.blueprints import MODULES


def test_estimated_types_are_types_that_are_known() -> None:
    assert estimated_types()
    assert estimated_types() <= set(MODULES)


@pytest.mark.parametrize(
    ("source", "trust"),
    [
        ("bert-base-uncased", "exact"),
        ("llama-3-8b", "exact"),
        ("mamba2-130m", "estimate"),
        ("sam-vit-base", "estimate"),
        ("baichuan-7b", "estimate"),
    ],
)
def test_outputs_are_exact_where_live_classes_put_out_as_much(source: str, trust: str) -> None:
    assert trust_of_outputs(model(source)) == trust


def test_a_model_whose_text_model_is_estimated_is_an_estimate() -> None:
    config = {
        "model_type": "llava",
        "text_config": {"model_type": "falcon", "num_hidden_layers": 1},
        "vision_config": {"model_type": "clip_vision_model"},
    }
    assert trust_of_outputs(model(config)) == "estimate"
