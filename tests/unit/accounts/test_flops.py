"""What is counted beside products of matrices, and the ends of what may be asked."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.parametrize(
    ("name", "side", "millions"),
    [
        ("resnet50", 176, 6.92),
        ("efficientnet_b0", 256, 8.81),
        ("convnext_base", 320, 58.68),
        ("deit_base_patch16_384", 384, 101.56),
        ("swinv2_tiny_window16_256", 256, 39.02),
        ("pvt_v2_b3", 224, 37.7),
        ("levit_384", 224, 6.26),
        ("regnety_040", 288, 20.3),
    ],
)
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


def test_experts_that_run_on_every_token_all_put_out() -> None:
    """Llama 4 in the reference: idle experts put out two inner widths and a hidden one for each token, as aten's products do."""
    raw = {
        "model_type": "llama4_text",
        "hidden_size": 24,
        "intermediate_size": 57,
        "intermediate_size_mlp": 40,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "num_local_experts": 4,
        "vocab_size": 32,
        "interleave_moe_layer_step": 1,
    }
    more, less = (model({**raw, "num_local_experts": experts}, "Llama4TextModel").outputs(seq=7) for experts in (5, 4))
    assert more - less == 7 * (2 * 57 + 24 + 1)  # and one score of the router


@pytest.mark.parametrize(("raw", "seen"), [
    ({"model_type": "gpt_oss", "head_dim": 2, "hidden_size": 16, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 4,
      "num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2, "vocab_size": 32}, 952),
    ({"model_type": "dbrx", "d_model": 16, "n_heads": 4, "n_layers": 1, "vocab_size": 32,
      "attn_config": {"kv_n_heads": 2, "clip_qkv": 8, "rope_theta": 10000.0},
      "ffn_config": {"ffn_hidden_size": 8, "moe_num_experts": 4, "moe_top_k": 2}}, 1_120),
])  # fmt: skip
def test_outputs_of_experts_whose_matrices_lie_the_other_way_round(raw: dict[str, Any], seen: int) -> None:
    """Elements that aten's products put out in a forward of 7 tokens with eager attention (transformers 5.23.0)."""
    name = {"gpt_oss": "GptOssModel", "dbrx": "DbrxModel"}[raw["model_type"]]
    assert model(raw, name).outputs(seq=7) == seen
