"""Checkpoints with packed weights against their configs: every scheme's layout stands for the matrices of the class."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import pytest

import weighbridge
from weighbridge.api.model import Model
from weighbridge.readers import Listing, StoredTensor
from weighbridge.readers.packing import unpack
from weighbridge.verification.findings import Verification
from weighbridge.verification.verify import verify

LLAMA = {
    "model_type": "llama",
    "vocab_size": 128,
    "hidden_size": 256,
    "intermediate_size": 512,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
BYTES = {"I32": 4, "F16": 2, "U8": 1, "F32": 4, "I8": 1, "F8_E4M3": 1, "U32": 4, "BF16": 2}
Arrays = dict[str, tuple[str, tuple[int, ...]]]
SCHEMES: dict[str, tuple[dict[str, object], Callable[[int, int], Arrays]]] = {
    "GPTQ": (
        {"quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}},
        lambda o, i: {
            "qweight": ("I32", (i // 8, o)),
            "qzeros": ("I32", (i // 128, o // 8)),
            "scales": ("F16", (i // 128, o)),
            "g_idx": ("I32", (i,)),
        },
    ),
    "AWQ": (
        {"quantization_config": {"quant_method": "awq", "bits": 4, "group_size": 128}},
        lambda o, i: {"qweight": ("I32", (i, o // 8)), "qzeros": ("I32", (i // 128, o // 8)), "scales": ("F16", (i // 128, o))},
    ),
    "bitsandbytes, 4 bits": (
        {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True}},
        lambda o, i: {
            "weight": ("U8", (o * i // 2, 1)),
            "weight.absmax": ("F32", (o * i // 64,)),
            "weight.quant_map": ("F32", (16,)),
            "weight.quant_state.bitsandbytes__nf4": ("U8", (70,)),
        },
    ),
    "bitsandbytes, 8 bits": (
        {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
        lambda o, i: {"weight": ("I8", (o, i)), "SCB": ("F32", (o,)), "weight_format": ("U8", ())},
    ),
    "FP8": (
        {"quantization_config": {"quant_method": "fp8"}},
        lambda o, i: {"weight": ("F8_E4M3", (o, i)), "weight_scale_inv": ("F32", (o // 128, i // 128))},
    ),
    "compressed-tensors": (
        {
            "quantization_config": {
                "quant_method": "compressed-tensors",
                "format": "pack-quantized",
                "config_groups": {"group_0": {"weights": {"num_bits": 4, "group_size": 128, "type": "int", "strategy": "group"}}},
            }
        },
        lambda o, i: {"weight_packed": ("I32", (o, i // 8)), "weight_scale": ("BF16", (o, i // 128)), "weight_shape": ("I32", (2,))},
    ),
    "HQQ": (
        {"quantization_config": {"quant_method": "hqq"}},
        lambda o, i: {"W_q": ("U8", (o * i // 128, 64)), "scale": ("F16", (o * i // 64, 1)), "zero": ("F16", (o * i // 64, 1))},
    ),
    "MLX": (
        {"quantization": {"group_size": 64, "bits": 4}},
        lambda o, i: {"weight": ("U32", (o, i // 8)), "scales": ("F16", (o, i // 64)), "biases": ("F16", (o, i // 64))},
    ),
    "NVFP4": (
        {"quantization_config": {"quant_method": "compressed-tensors"}},
        lambda o, i: {"weight": ("U8", (o, i // 2)), "weight_scale": ("F8_E4M3", (o, i // 16)), "weight_scale_2": ("F32", ())},
    ),
}


def stored_tensor(name: str, dtype: str, shape: tuple[int, ...]) -> StoredTensor:
    return StoredTensor(name, dtype, shape, prod(shape) * BYTES[dtype])


def pack_layers(model: Model, arrays: Callable[[int, int], Arrays]) -> list[StoredTensor]:
    """Return the file in which every matrix of the layers is packed."""
    tensors = []
    for row in model.tensors():
        shape = tuple(size for size in row.shape if isinstance(size, int))
        if row.tied_to is None and "layers" in row.name and len(shape) == 2:
            module = row.name.removesuffix("weight")
            tensors += [stored_tensor(module + name, dtype, sizes) for name, (dtype, sizes) in arrays(*shape).items()]
        elif row.tied_to is None:
            tensors.append(stored_tensor(row.name, "F16", shape))
    return tensors


def verify_file(model: Model, tensors: list[StoredTensor], config: dict[str, object]) -> Verification:
    return verify(model, unpack(Listing("safetensors", tuple(tensors)), config))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme(scheme: str) -> None:
    more, arrays = SCHEMES[scheme]
    config = {**LLAMA, **more}
    model = weighbridge.model(config, "LlamaForCausalLM")
    found = verify_file(model, pack_layers(model, arrays), config)
    assert found.unexplained == ()
    assert (found.matched_elements, found.residual) == (model.count().unique, 0)
    assert all(finding.reason for finding in found.explained)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_matrix_of_another_size_is_found(scheme: str) -> None:
    more, arrays = SCHEMES[scheme]
    config = {**LLAMA, **more}
    model = weighbridge.model({**config, "intermediate_size": 768}, "LlamaForCausalLM")
    other = weighbridge.model(config, "LlamaForCausalLM")
    found = verify_file(model, pack_layers(other, arrays), config)
    assert not found.holds
    assert found.residual > 0


def test_experts_in_mxfp4() -> None:
    config: dict[str, object] = {
        "model_type": "gpt_oss",
        "vocab_size": 128,
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 1,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "num_local_experts": 4,
        "quantization_config": {"quant_method": "mxfp4"},
    }
    model = weighbridge.model(config, "GptOssForCausalLM")
    tensors = []
    for row in model.tensors():
        shape = tuple(size for size in row.shape if isinstance(size, int))
        if row.name.endswith(("gate_up_proj", "down_proj")):
            rows, width = shape[2], shape[1]
            tensors.append(stored_tensor(f"{row.name}_blocks", "U8", (4, rows, width // 32, 16)))
            tensors.append(stored_tensor(f"{row.name}_scales", "U8", (4, rows, width // 32)))
        elif row.tied_to is None:
            tensors.append(stored_tensor(row.name, "BF16", shape))
    found = verify_file(model, tensors, config)
    assert found.unexplained == ()
    assert (found.matched_elements, found.residual) == (model.count().unique, 0)
