"""Files that are packed in groups: bytes held to what compressed-tensors and ModelOpt wrote of small live models in bfloat16."""

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import UsageError, model
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import memory_of, settings_of
from weighbridge.accounts.memory.quantization import quantization_of
from weighbridge.documents.memory import document
from weighbridge.documents.memory_derivation import derivation
from weighbridge.documents.renderers import render

RECORDED = Path(__file__).parents[3] / "costs" / "groups.jsonl"
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 100,
    "dtype": "bfloat16",
}
MIXTURE = LLAMA | {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "moe_intermediate_size": 32,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "head_dim": 16,
}
CACHE = {"dynamic": False, "num_bits": 8, "type": "float"}
ATTENTION = [f"model.layers.{layer}.self_attn*" for layer in range(2)]
GATES = [f"model.layers.{layer}.mlp.gate" for layer in range(2)]


def modelopt(algorithm: str, *ignored: str, **more: Any) -> dict[str, Any]:
    return {"quant_method": "modelopt", "quant_algo": algorithm, "ignore": ["lm_head", "model.embed_tokens", *ignored], **more}


@pytest.mark.parametrize(
    ("config", "said", "total"),
    [
        (LLAMA, modelopt("FP8"), 87_792),
        (LLAMA, modelopt("FP8", kv_cache_scheme=CACHE), 87_808),
        (LLAMA, modelopt("NVFP4"), 60_912),
        (LLAMA, modelopt("NVFP4", *ATTENTION, kv_cache_scheme=CACHE), 96_192),
        (LLAMA, modelopt("W4A16_NVFP4"), 60_856),
        (MIXTURE, modelopt("NVFP4", *GATES), 69_120),
        (MIXTURE, modelopt("FP8", *GATES), 101_376),
        (MIXTURE, modelopt("W4A16_NVFP4", *GATES), 68_992),
    ],
)
def test_bytes_are_those_that_modelopt_wrote(config: dict[str, Any], said: dict[str, Any], total: int) -> None:
    """nvidia-modelopt 0.47.0, ``export_hf_checkpoint`` after ``quantize`` with FP8_DEFAULT_CFG, NVFP4_DEFAULT_CFG and kin."""
    made = model({**config, "quantization_config": said})
    assert made.memory().weights == total
    assert (made.memory().trust["weights"], settings_of(made).quantization) == ("estimate", "published")


INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 32, "symmetric": True}
FP8 = {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}
NVFP4 = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True}
MXFP4 = {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": True}
STATIC = {"num_bits": 8, "type": "float", "strategy": "tensor", "dynamic": False, "symmetric": True}


def group(target: str, weights: dict[str, Any], form: str, inputs: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"targets": [target], "weights": weights, "input_activations": inputs, "format": form}


def compressed(*groups: dict[str, Any], ignore: tuple[str, ...] = ()) -> dict[str, Any]:
    named = {f"group_{index}": each for index, each in enumerate(groups)}
    return {"quant_method": "compressed-tensors", "config_groups": named, "ignore": list(ignore), "format": "mixed-precision"}


COMPRESSED = [
    (compressed(group("re:.*self_attn.*", FP8, "float-quantized"), group("Linear", INT4, "pack-quantized"), ignore=("lm_head",)), 72_416),
    (compressed(group("Linear", NVFP4, "nvfp4-pack-quantized"), group("re:.*down_proj", MXFP4, "mxfp4-pack-quantized")), 51_268),
    (
        compressed(
            group("Linear", {**INT4, "symmetric": False}, "pack-quantized"),
            group("model.layers.0.mlp.up_proj", FP8, "float-quantized", STATIC),
        ),
        55_674,
    ),
    (
        compressed(
            group("re:.*[qkv]_proj", NVFP4, "nvfp4-pack-quantized", {**NVFP4, "dynamic": "local"}),
            group("re:.*mlp\\.(gate|up)_proj", {**INT4, "num_bits": 3}, "pack-quantized"),
            ignore=("re:.*layers.1.*",),
        ),
        118_200,
    ),
]


@pytest.mark.parametrize(("said", "total"), COMPRESSED)
def test_bytes_are_those_that_compressed_tensors_wrote(said: dict[str, Any], total: int) -> None:
    """compressed-tensors 0.20.0, ``ModelCompressor.compress_model`` after ``apply_quantization_config``."""
    assert model({**LLAMA, "quantization_config": said}).memory().weights == total


def test_random_groups_take_the_bytes_that_compressed_tensors_made() -> None:
    """Recorded by ``python -m truth.grouped``."""
    head, *cases = map(json.loads, RECORDED.read_text("utf-8").splitlines())
    assert len(cases) > 50
    for said, total in cases:
        assert model({**head["config"], "quantization_config": said}).memory().weights == total, said


@pytest.mark.parametrize(
    "said",
    [
        compressed(group("re:(a+)+$", INT4, "pack-quantized")),
        compressed(group("model.layers.7.mlp.up_proj", INT4, "pack-quantized")),
        compressed(group("Linear", {**INT4, "actorder": "group"}, "pack-quantized")),
        compressed(group("Linear", INT4, "marlin-24")),
        modelopt("W4A8_AWQ"),
        modelopt("MIXED_PRECISION", quantized_layers={"lm_head": {"quant_algo": "INT4_AWQ"}}),
        modelopt("NVFP4", "model.layers.9.mlp"),
        modelopt("FP8", kv_cache_scheme={"num_bits": 4}),
    ],
)
def test_what_is_not_understood_whole_is_only_told(said: dict[str, Any]) -> None:
    found = quantization_of(model({**LLAMA, "quantization_config": said}))
    assert found is not None and found.weights is None and found.scheme is None


def test_groups_are_derived_matrix_by_matrix_and_need_a_config_that_states_them() -> None:
    made = model({**MIXTURE, "quantization_config": modelopt("NVFP4", *GATES, *ATTENTION, kv_cache_scheme=CACHE)})
    text = render(document(made, Inputs(), settings_of(made), derive=derivation), "text", width=400)
    assert "k_scale, v_scale, published: 16" in text and f"= {made.memory().weights:,}" in text
    with pytest.raises(UsageError, match=r"^quantization: .* states no quantization that is priced; name a scheme$"):
        model(LLAMA).memory(quantization="published")


NO_LAYERS_LEFT = {
    "qwen3": (
        {"hidden_size": 32, "num_hidden_layers": 1, "num_key_value_heads": 2, "intermediate_size": 224, "vocab_size": 300, "head_dim": 32},
        "nvfp4-pack-quantized",
        {"group_size": 16, "num_bits": 4, "scale_dtype": "torch.float8_e4m3fn", "strategy": "tensor_group", "type": "float"},
        {
            "dynamic": "local",
            "group_size": 16,
            "num_bits": 4,
            "scale_dtype": "torch.float8_e4m3fn",
            "strategy": "tensor_group",
            "type": "float",
        },
        43_992,
    ),
    "qwen2": (
        {
            "hidden_size": 96,
            "num_hidden_layers": 1,
            "num_key_value_heads": 2,
            "intermediate_size": 96,
            "vocab_size": 128,
            "num_attention_heads": 2,
        },
        "float-quantized",
        {"num_bits": 8, "strategy": "channel", "type": "float"},
        {"dynamic": True, "num_bits": 8, "strategy": "token", "type": "float"},
        104_128,
    ),
}
"""Bytes of the files that compressed-tensors 0.20.0 writes of these models, told to leave nothing alone: the head is packed too."""


@pytest.mark.parametrize("model_type", NO_LAYERS_LEFT)
def test_a_head_that_is_not_left_alone_is_packed(model_type: str) -> None:
    sizes, form, weights, inputs, expected = NO_LAYERS_LEFT[model_type]
    group = {
        "format": form,
        "input_activations": inputs,
        "targets": ["Linear"],
        "weights": {"dynamic": False, "symmetric": True, **weights},
    }
    said = {"config_groups": {"group_0": group}, "format": form, "quant_method": "compressed-tensors", "quantization_status": "compressed"}
    config = {
        "model_type": model_type,
        "num_attention_heads": 4,
        "tie_word_embeddings": False,
        "dtype": "bfloat16",
        "quantization_config": said,
    }
    config |= {**sizes, "architectures": [f"{model_type.capitalize()}ForCausalLM"]}
    found = quantization_of(model(config))
    assert found is not None
    assert memory_bytes(config) == expected
    tied = quantization_of(model(config | {"tie_word_embeddings": True}))
    assert tied is not None
    assert tied.scheme is None, "the file has the head twice, packed and as the table"
    left = model(config | {"tie_word_embeddings": True, "quantization_config": said | {"ignore": ["lm_head"]}})
    assert memory_bytes(config | {"quantization_config": said | {"ignore": ["lm_head"]}}) > expected
    assert quantization_of(left) is not None


def memory_bytes(config: dict[str, Any]) -> int:
    """Return the bytes of weights as the config says they are published."""
    weighed = model(config)
    return memory_of(weighed, Inputs(), settings_of(weighed)).weights
