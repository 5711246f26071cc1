"""What is counted beside products of matrices, and the ends of what may be asked."""

from __future__ import annotations

import pytest

from weighbridge import model
from weighbridge.accounts.flops import flops, outputs_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.core.parts import layer_norm, linear
from weighbridge.core.tree import Part


def test_forward_counts_biases_gains_and_shifts_once_for_each_token() -> None:
    found = flops(Part("", (linear("dense", 8, 4), layer_norm("norm", 4))), {"seq": 3}, 2)
    assert found.forward_matmul == 2 * 8 * 4 * 3 * 2
    assert found.forward == found.forward_matmul + (4 + 4 + 4) * 3 * 2
    assert found.backward == 2 * found.forward_matmul


def test_a_question_may_be_the_whole_text() -> None:
    raw = {"model_type": "longformer", "num_hidden_layers": 1, "attention_window": [4]}
    assert model(raw, "LongformerForQuestionAnswering").flops(seq=16, question=16).forward_matmul


@pytest.mark.parametrize(("name", "side", "millions"), [
    ("resnet50", 176, 6.92), ("efficientnet_b0", 256, 8.81), ("convnext_base", 320, 58.68), ("deit_base_patch16_384", 384, 101.56),
    ("swinv2_tiny_window16_256", 256, 39.02), ("pvt_v2_b3", 224, 37.7), ("levit_384", 224, 6.26), ("regnety_040", 288, 20.3),
])  # fmt: skip
def test_outputs_are_what_timm_publishes_as_activations(name: str, side: int, millions: float) -> None:
    weighed = model(name)
    assert weighed.description is not None
    if any(field.key == "image_size" for field in weighed.description.family.fields):
        weighed = model(name, overrides={"image_size": side})
    assert round(outputs_of(weighed, Inputs()) / 10**6, 2) == millions


def test_outputs_of_experts_are_those_of_the_chosen() -> None:
    tree = {"model_type": "mixtral", "num_hidden_layers": 1, "num_local_experts": 8}
    two, one = (outputs_of(model(tree, overrides={"num_experts_per_tok": chosen}), Inputs(seq=10)) for chosen in (2, 1))
    assert two - one == 10 * (2 * 14336 + 4096)
