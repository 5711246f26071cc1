"""The scheme that a config says its published file has: taken where its bytes are ours, told in words where they are not."""

from collections.abc import Callable
from math import prod
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import settings_of
from weighbridge.accounts.memory.quantization import published_bits, quantization_of
from weighbridge.documents.memory import as_json, document
from weighbridge.documents.renderers import render

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 384,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "torch_dtype": "bfloat16",
}
MIXTURE = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "moe_intermediate_size": 256,
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "vocab_size": 1000,
    "torch_dtype": "bfloat16",
}
GPT_OSS = {
    "20b": {"num_hidden_layers": 24, "num_local_experts": 32},
    "120b": {"num_hidden_layers": 36, "num_local_experts": 128},
}
"""What differs between the two; the rest are the class's defaults."""

FP8 = {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": [128, 128]}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True, "sym": True, "damp_percent": 0.01, "true_sequential": True}
AWQ = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True, "version": "gemm", "modules_to_not_convert": None}
NF4 = {
    "quant_method": "bitsandbytes",
    "load_in_4bit": True,
    "load_in_8bit": False,
    "bnb_4bit_quant_type": "nf4",
    "bnb_4bit_use_double_quant": False,
    "bnb_4bit_compute_dtype": "bfloat16",
    "llm_int8_skip_modules": None,
    "llm_int8_threshold": 6.0,
}
KEPT = {
    "quant_method": "mxfp4",
    "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"],
}


def quantized_model(config: dict[str, Any], said: dict[str, Any], **changes: Any) -> Any:
    return model({**config, "quantization_config": {**said, **changes}})


def layout(config: dict[str, Any], matrix: Callable[..., int]) -> int:
    """Add up a Llama's bytes from its tensors' names alone: *matrix* of what a layer multiplies by, 16 bits for all else."""
    rows: Any = model(config).tensors()
    inside = [row.shape for row in rows if row.name.endswith("_proj.weight")]
    rest = [int(prod(row.shape)) for row in rows if not row.name.endswith("_proj.weight")]
    return sum(matrix(*shape) for shape in inside) + 2 * sum(rest)


@pytest.mark.parametrize(("size", "total"), [("20b", 13_761_264_768), ("120b", 65_248_815_744)])
def test_gpt_oss_takes_what_its_published_index_says(size: str, total: int) -> None:
    """``metadata.total_size`` in model.safetensors.index.json of openai/gpt-oss-20b and -120b."""
    config = {"model_type": "gpt_oss", "architectures": ["GptOssForCausalLM"], **GPT_OSS[size]}
    assert quantized_model(config, KEPT).memory().weights == total


WEIGHTS = {
    "num_bits": 4,
    "type": "int",
    "strategy": "group",
    "group_size": 32,
    "symmetric": True,
    "dynamic": False,
    "actorder": None,
    "block_structure": None,
    "observer": "minmax",
    "observer_kwargs": {},
}
NVFP4 = WEIGHTS | {"type": "float", "strategy": "tensor_group", "group_size": 16}
EIGHT = WEIGHTS | {"num_bits": 8, "strategy": "channel", "group_size": None}


def compressed_settings(form: str, weights: dict[str, Any], dynamic: object = None) -> dict[str, Any]:
    """Return settings as compressed-tensors writes them, with one group."""
    activations = None if dynamic is None else {"num_bits": 8, "dynamic": dynamic, "strategy": "token", "type": "int"}
    group = {"targets": ["Linear"], "weights": weights, "input_activations": activations, "output_activations": None}
    return {
        "quant_method": "compressed-tensors",
        "format": form,
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
        "kv_cache_scheme": None,
        "quantization_status": "compressed",
    }


def hqq_settings(skips: list[str], **changes: Any) -> dict[str, Any]:
    """Return settings as the reference library writes those of HQQ (``HqqConfig.to_dict``)."""
    weights = {"nbits": 4, "channel_wise": True, "group_size": 64, "optimize": True, "round_zero": True, "axis": 1, "view_as_float": False}
    rest = {"scale_quant_params": None, "zero_quant_params": None, "offload_meta": False}
    settings = {"weight_quant_params": weights | changes.pop("weights", {}), **rest, **changes}
    return {"quant_config": settings, "quant_method": "hqq", "skip_modules": skips}


LAYOUTS = [
    (hqq_settings(["lm_head"]), lambda o, i: o * i // 2 + 4 * (o * i // 64)),
    (hqq_settings(["lm_head"], weights={"nbits": 8}), lambda o, i: o * i + 4 * (o * i // 64)),
    (hqq_settings(["lm_head"], weights={"nbits": 2, "group_size": 16}), lambda o, i: o * i // 4 + 4 * (o * i // 16)),
    (FP8, lambda o, i: o * i + 4 * -(-o // 128) * -(-i // 128)),
    (GPTQ, lambda o, i: 4 * (i // 8 * o + i // 128 * o // 8 + i) + 2 * (i // 128) * o),
    (GPTQ | {"bits": 8}, lambda o, i: 4 * (i // 4 * o + i // 128 * o // 4 + i) + 2 * (i // 128) * o),
    (AWQ, lambda o, i: 4 * (i * o // 8 + i // 128 * o // 8) + 2 * (i // 128) * o),
    (NF4, lambda o, i: o * i // 2 + 4 * (o * i // 64) + 64),
    (GPTQ | {"group_size": 32}, lambda o, i: 4 * (i // 8 * o + i // 32 * o // 8 + i) + 2 * (i // 32) * o),
    (AWQ | {"group_size": 64}, lambda o, i: 4 * (i * o // 8 + i // 64 * o // 8) + 2 * (i // 64) * o),
    (compressed_settings("pack-quantized", WEIGHTS), lambda o, i: 4 * (i // 8) * o + 2 * o * (i // 32) + 16),
    (compressed_settings("float-quantized", EIGHT | {"type": "float"}, dynamic=True), lambda o, i: o * i + 2 * o),
    (compressed_settings("nvfp4-pack-quantized", NVFP4), lambda o, i: o * i // 2 + o * i // 16 + 4),
    (compressed_settings("nvfp4-pack-quantized", NVFP4, dynamic="local"), lambda o, i: o * i // 2 + o * i // 16 + 8),
    (compressed_settings("int-quantized", EIGHT, dynamic=True), lambda o, i: o * i + 2 * o),
]


@pytest.mark.parametrize(("said", "matrix"), LAYOUTS)
def test_bytes_are_those_of_the_format(said: dict[str, Any], matrix: Any) -> None:
    assert quantized_model(LLAMA, said).memory().weights == layout(LLAMA, matrix)


def test_double_quantization_and_eight_bits_are_told_apart() -> None:
    found = [
        quantization_of(quantized_model(LLAMA, NF4, **changes))
        for changes in ({"bnb_4bit_use_double_quant": True}, {"load_in_4bit": False, "load_in_8bit": True})
    ]
    assert [one and one.scheme for one in found] == ["bnb-4bit-double", "bnb-8bit"]


def test_modules_that_stay_as_they_are_may_be_named() -> None:
    names = [f"model.layers.{layer}.{name}" for layer in range(2) for name in ("mlp.gate", "input_layernorm")]
    said = FP8 | {"modules_to_not_convert": ["lm_head", *names]}
    assert (quantization_of(quantized_model(MIXTURE, said)) or ())[1:3] == ("fp8-block", "bfloat16")


INEXACT = [
    (LLAMA, GPTQ | {"group_size": 256}, "gptq, 4 bits, groups of 256"),
    (LLAMA, GPTQ | {"bits": 3}, "gptq, 3 bits, groups of 128"),
    (LLAMA, GPTQ | {"lm_head": True}, "gptq, 4 bits, groups of 128"),
    (LLAMA, GPTQ | {"group_size": -1}, "gptq, 4 bits"),
    (LLAMA, GPTQ | {"something_new": 1}, "gptq, 4 bits, groups of 128"),
    (LLAMA, AWQ | {"zero_point": False}, "awq, 4 bits, groups of 128"),
    (LLAMA, FP8 | {"scale_fmt": "ue8m0"}, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA, FP8 | {"modules_to_not_convert": ["model.layers.0.mlp.down_proj", "lm_head"]}, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA, FP8 | {"modules_to_not_convert": ["model.layers.0"]}, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA, FP8 | {"modules_to_not_convert": ["model.norm"]}, "fp8, 8 bits, blocks of 128 × 128"),  # the head is not named
    (LLAMA, FP8 | {"modules_to_not_convert": ["lm_head", "indexers"]}, "fp8, 8 bits, blocks of 128 × 128"),  # nothing has that name
    (LLAMA, FP8 | {"modules_to_not_convert": ["lm_head", "re:.*mlp.*"]}, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA, FP8 | {"modules_to_not_convert": 3}, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA | {"torch_dtype": None}, FP8, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA | {"architectures": ["LlamaForSequenceClassification"]}, FP8, "fp8, 8 bits, blocks of 128 × 128"),
    (LLAMA, KEPT, "mxfp4"),
    ({"model_type": "gpt_oss"}, KEPT | {"modules_to_not_convert": ["model.layers.0.mlp.experts"]}, "mxfp4"),
    ({"model_type": "gpt_oss"}, KEPT | {"modules_to_not_convert": ["re:.*"]}, "mxfp4"),
    (MIXTURE, GPTQ, "gptq, 4 bits, groups of 128"),  # its experts lie in one tensor here, in many there
    (MIXTURE, NF4, "bitsandbytes, 4 bits"),
    (MIXTURE | {"moe_intermediate_size": 200}, FP8, "fp8, 8 bits, blocks of 128 × 128"),
    (
        LLAMA,
        {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 32}}}},
        "compressed-tensors, 4 bits, groups of 32",
    ),
    (LLAMA, compressed_settings("pack-quantized", WEIGHTS | {"actorder": "group"}), "compressed-tensors, 4 bits, groups of 32"),
    (LLAMA, compressed_settings("float-quantized", EIGHT | {"type": "float"}, dynamic=False), "compressed-tensors, 8 bits"),
    (LLAMA, {"quant_algo": "NVFP4", "group_size": 16}, "NVFP4"),
    (LLAMA, hqq_settings([]), "hqq, 4 bits, groups of 64"),  # the head is packed too
    (LLAMA, hqq_settings(["lm_head"], weights={"group_size": 256}), "hqq, 4 bits, groups of 256"),
    (LLAMA, hqq_settings(["lm_head"], scale_quant_params={"nbits": 8, "group_size": 128}), "hqq, 4 bits, groups of 64"),
    (LLAMA, {"quant_method": "hqq", "quant_config": {"q_proj": {"nbits": 4}}}, "hqq"),
    (LLAMA, {"quant_method": ["x\x1b[31m"], "bits": True}, "?"),
]


@pytest.mark.parametrize(("config", "said", "method"), INEXACT)
def test_what_is_not_the_same_to_the_byte_is_only_told(config: dict[str, Any], said: dict[str, Any], method: str) -> None:
    made = quantized_model(config, said)
    assert quantization_of(made) == (method, None, None, None)
    assert made.memory() == model(config).memory()


def test_what_is_asked_goes_before_the_config() -> None:
    made, plain = quantized_model(LLAMA, GPTQ), model(LLAMA)
    for asked in ({"dtype": "bfloat16"}, {"dtype": "float32"}, {"quantization": "fp8"}, {"training": True}):
        assert made.memory(**asked)[:9] == plain.memory(**asked)[:9]


def test_a_config_without_quantization_says_nothing() -> None:
    assert quantization_of(model(LLAMA)) is None
    assert quantization_of(model({**LLAMA, "quantization_config": {}})) is None
    assert "published" not in as_json(model(LLAMA), Inputs(), settings_of(model(LLAMA)))


def test_the_report_says_where_the_scheme_is_from() -> None:
    made = quantized_model(LLAMA, GPTQ)
    taken, asked = settings_of(made), settings_of(made, dtype="bfloat16")
    assert "as the config's quantization_config has them (gptq, 4 bits, groups of 128)" in flat(made, taken)
    assert (
        "The published file is quantized (gptq, 4 bits, groups of 128); these bytes are those of bfloat16: --quantization gptq-4bit"
        in flat(made, asked)
    )
    assert "gptq，4 位，每组 128 个" in flat(made, asked, lang="zh")
    assert as_json(made, Inputs(), taken)["published"] == {
        "method": "gptq, 4 bits, groups of 128",
        "quantization": "gptq-4bit",
        "dtype": "bfloat16",
        "taken": True,
    }
    assert as_json(made, Inputs(), asked)["published"]["taken"] is False


def flat(made: Any, how: Any, lang: str = "en") -> str:
    return " ".join(str(render(document(made, Inputs(), how, lang=lang), "text")).split())


PUBLISHED = [
    ("gpt-oss-20b", "mxfp4-experts"),
    ("deepseek-v3", "fp8-block"),
    ("deepseek-r1", "fp8-block"),
    ("kimi-k2-instruct", "fp8-block"),
]


@pytest.mark.parametrize(("name", "scheme"), PUBLISHED)
def test_a_model_by_name_is_what_its_file_is_published_as(name: str, scheme: str) -> None:
    said = quantization_of(model(name))
    assert said is not None
    assert said.scheme == scheme


@pytest.mark.parametrize(
    ("said", "bits"),
    [
        ({**GPTQ, "bits": 8}, 8),
        (GPTQ, 4),
        ({"load_in_8bit": True}, 8),
        (NF4, 4),
        (FP8, 8),
        ({"quant_method": "aqlm"}, 1),
        ({}, 16),
        ({"quant_method": "modelopt", "quantized_layers": {"a": {"quant_algo": "FP8"}, "b": {"quant_algo": "NVFP4"}}}, 4),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"a": {"weights": {"num_bits": 8}}, "b": {"weights": {"num_bits": 3}}}},
            3,
        ),
    ],
)
def test_the_fewest_bits_that_a_file_may_hold_a_weight_in(said: dict[str, Any], bits: int) -> None:
    assert published_bits(quantized_model(LLAMA, said)) == bits
