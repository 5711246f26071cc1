"""What autograd keeps where only a part of a model is trained, held to live classes with PEFT's LoRA, BitFit and frozen modules, recorded."""

import json
from pathlib import Path

import pytest

from truth.partial_training import ours
from weighbridge import model
from weighbridge.accounts.inputs import Inputs

RECORDED = Path(__file__).parents[2] / "costs" / "partly.jsonl"


def test_what_is_kept_is_what_live_models_keep() -> None:
    """To the byte, in float32 and bfloat16, with and without the loss (``python -m truth.partial_training``)."""
    _, *cases = map(json.loads, RECORDED.read_text("utf-8").splitlines())
    assert len(cases) > 100
    for _, class_name, config, adapter, how, lengths, expected in cases:
        assert ours(class_name, config, adapter, how, Inputs(*lengths)) == expected, (class_name, adapter, how, lengths, config)


def test_less_is_kept_of_what_is_frozen() -> None:
    """Gains of norms and embeddings keep nothing, and a classifier alone is all that its input costs."""
    base = model({"model_type": "bert", "num_hidden_layers": 2}, "BertForSequenceClassification")
    whole = base.memory(training=True, seq=128, loss=True).activations
    lora, head = (base.adapter_costs(adapter).activations for adapter in ("lora:r=8", {"peft_type": "FREEZE", "train": ["classifier"]}))
    assert whole is not None and lora is not None and head is not None
    assert head < lora < whole
    assert head < 10_000


@pytest.mark.parametrize(
    ("base", "adapter", "why"),
    [
        ("bert-base-uncased", "lora:r=8,use_dora=true", "plain LoRA"),
        ("bert-base-uncased", "lora:r=8,bias=all", "plain LoRA"),
        ("albert-base-v2", "lora:r=8,target_modules=query", "share their weights"),
        ("mamba-130m", {"peft_type": "BITFIT"}, "is not described"),
    ],
)
def test_what_is_not_worked_out_is_said(base: str, adapter: object, why: str) -> None:
    costs = model(base).adapter_costs(adapter)
    assert costs.activations is None
    assert why in str(costs.unknown)
