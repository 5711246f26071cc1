"""What a model takes with an adapter, held to bytes and arithmetic of the live library."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.memory.weights import buffer_bytes
from weighbridge.core.errors import UsageError

CASES = json.loads((Path(__file__).parents[2] / "truth/adapters/costs.json").read_text("utf-8"))["cases"]

assert len(CASES) > 80
assert sum(case["flops"] is not None for case in CASES) > 4


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['adapter']['peft_type']}-{case['dtype']}")
def test_bytes_and_arithmetic_are_the_library_s(case: dict[str, Any]) -> None:
    weighed = model({**case["config"], "model_type": case["model_type"]}, case["class_name"])
    found = weighed.adapter_costs(case["adapter"], dtype=case["dtype"], batch=2, seq=7)
    parameters = found.weights - buffer_bytes(weighed.tree) + found.adapter
    assert (parameters, found.gradients, found.optimizer) == (case["parameters"], case["gradients"], case["optimizer"])
    if case["flops"] is not None and found.forward_matmul is not None:
        assert found.forward_matmul == case["flops"]


def test_plain_lora_has_its_arithmetic_told() -> None:
    told = [case for case in CASES if case["flops"] is not None]
    found = [
        model({**case["config"], "model_type": case["model_type"]}, case["class_name"]).adapter_costs(case["adapter"], seq=7)
        for case in told
    ]
    assert sum(costs.forward_matmul is not None for costs in found) > 4


def test_qlora_is_a_packed_base_and_an_adapter_in_float32() -> None:
    weighed = model("llama-3.2-1b")
    found = weighed.adapter_costs("lora:r=16", dtype="bfloat16", quantization="bnb-4bit-double")
    assert found.weights == weighed.memory(dtype="bfloat16", quantization="bnb-4bit-double").weights
    assert found.adapter == found.gradients == 4 * weighed.adapters("lora:r=16").trainable
    assert found.trust["weights"] == "estimate"
    assert found.total == found.weights + found.adapter + found.gradients + found.optimizer


@pytest.mark.parametrize(
    ("said", "why"), [({"optimizer": "foo"}, "optimizer: expected one of"), ({"quantization": "foo"}, "quantization: expected one of")]
)
def test_words_that_nobody_knows_are_refused(said: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        model("bert-tiny").adapter_costs("lora", **said)


@pytest.mark.parametrize("adapter", ["lora:use_dora=true", "vera", "lora:target_modules=word_embeddings"])
def test_arithmetic_that_is_not_known_says_so(adapter: str) -> None:
    found = model("bert-tiny").adapter_costs(adapter)
    assert found.forward_matmul is None
    assert "FLOPs are counted for LoRA" in str(found.refused)
