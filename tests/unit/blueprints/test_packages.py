"""Classes of other packages: LitGPT's, held to what its own class wrote down (``truth/litgpt.py``), and nanoGPT's to its published count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import WeighbridgeError, model

RECORD: dict[str, Any] = json.loads((Path(__file__).parents[2] / "truth" / "packages" / "litgpt.json").read_text())


@pytest.mark.parametrize("case", RECORD["cases"], ids=lambda case: case["config"]["mlp_class_name"])
def test_litgpt_names_and_shapes(case: dict[str, Any]) -> None:
    rows = {row.name: list(row.shape) for row in model(case["config"]).tensors() if row.role != "buffer"}
    assert list(rows.items()) == list(case["tensors"].items())


NANOGPT = {"n_layer": 12, "n_head": 12, "n_embd": 768, "block_size": 1024, "vocab_size": 50257, "bias": False, "dropout": 0.0}


def test_nanogpt_is_known_by_its_keys() -> None:
    found = model(NANOGPT)
    assert (found.class_name, found.count().unique) == ("nanogpt.GPT", 124_337_664)
    assert found.count().unique - 1024 * 768 == 123_551_232  # "number of parameters: 123.55M", as the repository prints it
    assert model({**NANOGPT, "bias": True}).count().unique == model("gpt2").count().unique


@pytest.mark.parametrize("more", [{"latent_attention": {"q_lora_rank": 8}}, {"mlp_class_name": "Mine"}, {"mlp_class_name": "LLaMAMLP"}])
def test_what_litgpt_has_otherwise_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(WeighbridgeError):
        model({"n_layer": 2, "n_embd": 64, "n_head": 2, "norm_class_name": "RMSNorm", **more})
