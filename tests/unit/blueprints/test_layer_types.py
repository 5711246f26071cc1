"""Sizes that a saved config gives layer by layer."""

from __future__ import annotations

from typing import Any

import pytest

import weighbridge
from weighbridge.core.errors import ConfigError

GEMMA: dict[str, Any] = {
    "model_type": "gemma4_text",
    "num_hidden_layers": 3,
    "layer_types": ["full_attention", "sliding_attention", "full_attention"],
}


def test_what_stands_layer_by_layer_is_what_one_key_says() -> None:
    saved = {**GEMMA, "per_layer_config": {"00": {"head_dim": 64}, "2": {"head_dim": 64}}}
    assert weighbridge.count(saved) == weighbridge.count({**GEMMA, "global_head_dim": 64})
    # No layer of its own: all heads are as wide, whatever the older key says.
    assert weighbridge.count({**GEMMA, "global_head_dim": 64, "per_layer_config": {}}) == weighbridge.count(
        {**GEMMA, "global_head_dim": 256}
    )
    assert weighbridge.model(saved).unknown == []


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"0": {"head_dim": 64}}, "layers of one kind whose sizes differ"),
        ({"1": {"head_dim": 64}}, "these layer sizes are not described"),
        ({"0": {"intermediate_size": 64}}, "intermediate_size by layer is not described"),
        ({"3": {"head_dim": 64}}, "expected layer numbers from 0 to 2"),
        ({"-1": {"head_dim": 64}}, "expected layer numbers from 0 to 2"),
        ({"0": 64}, "expected sizes by layer number"),
        ([{"head_dim": 64}], "expected sizes by layer number"),
    ],
)
def test_what_is_not_described_is_refused(told: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        weighbridge.model({**GEMMA, "per_layer_config": told})


@pytest.mark.parametrize("outer", [(), ("text_config",)])
def test_no_other_type_may_have_layers_of_their_own(outer: tuple[str, ...]) -> None:
    told: dict[str, Any] = {"per_layer_config": {"0": {"intermediate_size": 64}}}
    config = {"model_type": "llava", "text_config": {"model_type": "llama", **told}} if outer else {"model_type": "llama", **told}
    with pytest.raises(ConfigError, match="not described for this type"):
        weighbridge.model(config)


def test_a_field_that_two_words_read_is_defaulted_once() -> None:
    defaulted = weighbridge.model({"model_type": "llama", "hidden_size": 64}).defaulted
    assert len(defaulted) == len(set(defaulted))
