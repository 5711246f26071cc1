"""Layouts as each scheme's source writes them; see the sources named in readers/schemes.py."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import Any

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.load import checkpoint_of
from weighbridge.readers import as_model
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.packing import config_beside, settings, unpack, weight
from weighbridge.readers.schemes import Settings

BITS = {"U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E8M0": 8, "F16": 16, "BF16": 16, "I16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64}


def listing(**arrays: tuple[Any, ...]) -> Listing:
    """Make a listing of ``name=(dtype, *sizes)``; two underscores stand for a dot."""
    return listing_of({name.replace("__", "."): sizes for name, sizes in arrays.items()})


def listing_of(arrays: dict[str, tuple[Any, ...]]) -> Listing:
    return Listing(
        "safetensors",
        tuple(StoredTensor(name, dtype, tuple(sizes), prod(sizes) * BITS[dtype] // 8) for name, (dtype, *sizes) in arrays.items()),
    )


def logical(found: Listing) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in found.tensors if tensor.role != "buffer"}


def test_a_gptq_layer_of_4_bits() -> None:
    found = unpack(listing(q__qweight=("I32", 512, 4096), q__qzeros=("I32", 32, 512), q__scales=("F16", 32, 4096), q__g_idx=("I32", 4096)))
    assert logical(found) == {"q.weight": (4096, 4096)}
    total = weight(found)
    assert total.logical == 16_777_216
    assert total.stored_elements == 2_097_152
    assert total.stored_bytes == 8_388_608
    assert total.overhead_elements == 32 * 512 + 32 * 4096 + 4096
    assert total.bits_per_weight == Fraction(8 * (8_388_608 + 65_536 + 262_144 + 16_384), 16_777_216)
    assert [(tensor.name, tensor.note) for tensor in found.tensors] == [
        ("q.weight", "packed by GPTQ"),
        ("q.qzeros", "zero of packed weights"),
        ("q.scales", "scale of packed weights"),
        ("q.g_idx", "order of packed weights"),
    ]
    assert found.notes == ("quantized weights (GPTQ) are listed as the matrices they stand for, their scales as buffers",)
    counts = tally_of(as_model(found, "file"))
    assert (counts.unique, counts.stored) == (16_777_216, 2_097_152 + total.overhead_elements)


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("order", [True, False])
def test_gptq_at_all_widths(bits: int, order: bool) -> None:
    inputs, outputs, group = 4160, 4224, 32
    arrays: dict[str, tuple[Any, ...]] = {
        "q.qweight": ("I32", inputs // 32 * bits, outputs),
        "q.qzeros": ("I32", inputs // group, outputs // 32 * bits),
        "q.scales": ("F16", inputs // group, outputs),
        "q.bias": ("F16", outputs),
    }
    if order:
        arrays["q.g_idx"] = ("I32", inputs)
    found = unpack(listing_of(arrays))
    assert logical(found) == {"q.weight": (outputs, inputs), "q.bias": (outputs,)}
    assert found.tensors[0].dtype == f"I{bits}"


def test_gptq_takes_the_true_width_from_the_order() -> None:
    found = unpack(listing(q__qweight=("I32", 12, 64), q__scales=("F16", 1, 64), q__qzeros=("I32", 1, 6), q__g_idx=("I32", 100)))
    assert logical(found) == {"q.weight": (64, 100)}  # 4 words of 32 values hold 128
    found = unpack(listing(q__qweight=("I32", 12, 64), q__scales=("F16", 1, 64), q__qzeros=("I32", 1, 6), q__g_idx=("I32", 300)))
    assert logical(found) == {}
    assert found.notes == (
        "1 arrays with 768 elements are packed in a way that is not clear and are not counted as parameters; "
        "the first is q.qweight (300 inputs by g_idx do not fill 12 rows)",
    )


@pytest.mark.parametrize("bits", [3, 4])
def test_awq_packs_along_the_outputs(bits: int) -> None:
    found = unpack(
        listing(
            q__qweight=("I32", 4096, 11008 * bits // 32),
            q__qzeros=("I32", 32, 11008 * bits // 32),
            q__scales=("F16", 32, 11008),
        )
    )
    assert logical(found) == {"q.weight": (11008, 4096)}
    assert found.tensors[0].note == "packed by AWQ"


def test_awq_for_vectors_pads_its_zeros_and_not_its_weights() -> None:
    gemv = unpack(listing(q__qweight=("I32", 4096, 1376), q__qzeros=("I32", 4096, 11), q__scales=("F16", 4096, 88)))
    assert logical(gemv) == {"q.weight": (4096, 11008)}
    fast = unpack(listing(q__qweight=("I16", 1024, 4096), q__qzeros=("F16", 32, 4096), q__scales=("F16", 32, 4096)))
    assert logical(fast) == {"q.weight": (4096, 4096)}


def test_gptq_of_which_nothing_tells_the_bits_is_counted_apart() -> None:
    arrays = listing(q__qweight=("I32", 512, 4096), q__scales=("F16", 32, 4096))
    assert weight(unpack(arrays)).unclear_elements == 2_097_152
    assert logical(unpack(arrays, {"quantization_config": {"bits": 4, "group_size": 128}})) == {"q.weight": (4096, 4096)}
    assert logical(unpack(arrays, {"quantization_config": {"bits": 4, "group_size": 64}})) == {}


def test_marlin() -> None:
    found = unpack(listing(q__B=("I32", 256, 8192), q__s=("F16", 32, 4096), q__workspace=("I32", 512)))
    assert logical(found) == {"q.weight": (4096, 4096)}


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize(("storage", "rows"), [("U8", 8_388_608), ("BF16", 4_194_304)])
def test_bitsandbytes_4_bits_lose_the_shape(kind: str, storage: str, rows: int) -> None:
    arrays: dict[str, tuple[Any, ...]] = {
        "q.weight": (storage, rows, 1),
        "q.weight.absmax": ("U8", 262_144),
        "q.weight.quant_map": ("F32", 16),
        "q.weight.nested_absmax": ("F32", 1024),
        "q.weight.nested_quant_map": ("F32", 256),
        f"q.weight.quant_state.bitsandbytes__{kind}": ("U8", 90),
        "norm.weight": ("BF16", 4096),
    }
    found = unpack(listing_of(arrays))
    assert logical(found) == {"q.weight": (16_777_216,), "norm.weight": (4096,)}
    assert found.tensors[0].dtype == kind.upper()
    assert found.notes == (
        "quantized weights (bitsandbytes) are listed as the matrices they stand for, their scales as buffers; "
        "the file's header does not give the shape of 1 of them, only the count",
    )
    assert tally_of(as_model(found, "file")).unique == 16_777_216 + 4096
    assert logical(unpack(listing_of(arrays | {"q.bias": ("BF16", 1024)})))["q.weight"] == (1024, 16384)
    assert logical(unpack(listing_of(arrays | {"q.weight.absmax": ("U8", 77)}))) == {"norm.weight": (4096,)}


def test_bitsandbytes_8_bits_keep_it() -> None:
    found = unpack(listing(q__weight=("I8", 4096, 4096), q__SCB=("F32", 4096), q__weight_format=("U8",)))
    assert logical(found) == {"q.weight": (4096, 4096)}
    assert weight(found).overhead_elements == 4097


def test_mxfp4_experts() -> None:
    found = unpack(
        listing(
            experts__gate_up_proj_blocks=("U8", 32, 5760, 90, 16),
            experts__gate_up_proj_scales=("U8", 32, 5760, 90),
            experts__gate_up_proj_bias=("BF16", 32, 5760),
        )
    )
    assert logical(found) == {"experts.gate_up_proj": (32, 5760, 2880), "experts.gate_up_proj_bias": (32, 5760)}
    assert weight(found).bits_per_weight == Fraction(17, 4)


@pytest.mark.parametrize(("dtype", "group", "scheme"), [("F8_E4M3", 16, "NVFP4"), ("U8", 32, "MXFP4")])
@pytest.mark.parametrize("name", ["weight", "weight_packed"])
def test_two_floats_of_4_bits_in_a_byte(dtype: str, group: int, scheme: str, name: str) -> None:
    arrays: dict[str, tuple[Any, ...]] = {
        f"q.{name}": ("U8", 4096, 2048),
        "q.weight_scale": (dtype, 4096, 4096 // group),
        "q.weight_scale_2": ("F32",),
        "q.input_scale": ("F32",),
        "attn.k_scale": ("F32",),
    }
    found = unpack(listing_of(arrays))
    assert logical(found) == {"q.weight": (4096, 4096)}
    assert (found.tensors[0].dtype, found.tensors[0].note) == ("F4", f"packed by {scheme}")
    wrong = unpack(listing_of(arrays | {"q.weight_scale": (dtype, 4096, 100)}))
    assert logical(wrong) == {}
    assert weight(wrong).unclear_elements == 4096 * 2048


@pytest.mark.parametrize(("bits", "each"), [(4, 8), (8, 4), (3, 10)])
def test_compressed_tensors(bits: int, each: int) -> None:
    arrays = listing(q__weight_packed=("I32", 4096, -(-4096 // each)), q__weight_scale=("BF16", 4096, 32), q__weight_shape=("I64", 2))
    config = {
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "config_groups": {"group_0": {"weights": {"num_bits": bits, "group_size": 128}}},
        }
    }
    found = unpack(arrays, config)
    assert logical(found) == {"q.weight": (4096, 4096)}
    assert found.tensors[2].note == "shape or state of packed weights"
    assert weight(unpack(arrays)).unclear_elements == 4096 * -(-4096 // each)


def test_compressed_tensors_whose_zeros_or_order_tell() -> None:
    zeros = listing(q__weight_packed=("I32", 4096, 512), q__weight_scale=("BF16", 4096, 32), q__weight_zero_point=("I32", 512, 32))
    assert logical(unpack(zeros)) == {"q.weight": (4096, 4096)}
    order = listing(q__weight_packed=("I32", 64, 13), q__weight_scale=("BF16", 64, 1), q__weight_g_idx=("I32", 100))
    assert logical(unpack(order, {"quantization_config": {"bits": 4}})) == {"q.weight": (64, 100)}


@pytest.mark.parametrize(
    ("scale", "sizes"), [("weight_scale_inv", (32, 32)), ("weight_scale", (4096, 1)), ("weight_scale", ()), ("scale", (32, 32))]
)
def test_8_bit_floats_have_their_scales_apart(scale: str, sizes: tuple[int, ...]) -> None:
    found = unpack(listing_of({"q.weight": ("F8_E4M3", 4096, 4096), f"q.{scale}": ("F32", *sizes), "attn.v_scale": ("F32",)}))
    assert logical(found) == {"q.weight": (4096, 4096)}
    assert weight(found).logical == 16_777_216
    assert [tensor.note for tensor in found.tensors] == ["packed by FP8", "scale of packed weights", "scale of activations"]


def test_experts_in_8_bit_floats() -> None:
    found = unpack(
        listing(e__down_proj=("F8_E4M3", 8, 64, 32), e__down_proj_scale_inv=("F32", 8, 1, 1), e__down_proj_activation_scale=("F32", 8))
    )
    assert logical(found) == {"e.down_proj": (8, 64, 32)}


def test_mlx_needs_the_config() -> None:
    arrays = listing(q__weight=("U32", 4096, 512), q__scales=("F16", 4096, 64), q__biases=("F16", 4096, 64), q__bias=("F16", 4096))
    assert logical(unpack(arrays, {"quantization": {"group_size": 64, "bits": 4}})) == {"q.weight": (4096, 4096), "q.bias": (4096,)}
    assert logical(unpack(arrays, {"quantization": {"group_size": 64, "bits": 4, "q": {"group_size": 32, "bits": 8}}})) == {
        "q.weight": (4096, 2048),
        "q.bias": (4096,),
    }
    assert weight(unpack(arrays)).unclear_elements == 4096 * 512


def test_hqq_is_counted_by_its_scales() -> None:
    found = unpack(listing(q__W_q=("U8", 131_072, 64), q__scale=("F16", 262_144, 1), q__zero=("F16", 262_144, 1), q__shape=("I32", 2)))
    assert logical(found) == {"q.weight": (16_777_216,)}
    three = unpack(
        listing(q__W_q=("I32", 26_215, 64), q__scale=("F16", 262_144, 1)),
        {"quantization_config": {"quant_config": {"weight_quant_params": {"nbits": 3}}}},
    )
    assert logical(three) == {"q.weight": (16_777_216,)}
    assert three.tensors[0].dtype == "I3"


@pytest.mark.parametrize("dtype", ["I8", "F8_E4M3"])
def test_torchao_s_8_bits_stand_as_they_are(dtype: str) -> None:
    """Arrays as torchao 0.18 flattens a linear layer into a safetensors file."""
    arrays = listing(
        q___weight_qdata=(dtype, 64, 96), q___weight_scale=("BF16", 64, 1), q___weight_zero_point=("I8", 64, 1), norm__weight=("BF16", 96)
    )
    found = unpack(arrays)
    assert logical(found) == {"q.weight": (64, 96), "norm.weight": (96,)}
    assert weight(found).unclear_elements == 0


def test_torchao_s_packed_words_are_not_guessed() -> None:
    arrays = listing(q___weight_qdata=("I32", 8, 2, 32, 4), q___weight_scale=("BF16", 3, 64), q___weight_zero_point=("I8", 3, 64))
    assert logical(unpack(arrays)) == {}


def test_bitnet_by_its_config() -> None:
    arrays = listing(q__weight=("U8", 640, 2560), q__weight_scale=("BF16", 1))
    assert logical(unpack(arrays, {"quantization_config": {"quant_method": "bitnet"}})) == {"q.weight": (2560, 2560)}
    assert logical(unpack(arrays)) == {}


def test_what_is_not_packed_stays_as_it_is() -> None:
    plain = listing(q__weight=("F32", 4, 4), position_ids=("I64", 1, 512), ln__weight_scale=("F32", 4))
    assert unpack(plain) is plain
    gguf = Listing("gguf", (StoredTensor("w", "I8", (4,), 4),))
    assert unpack(gguf) is gguf


def test_whole_numbers_that_nobody_explains_are_counted_apart() -> None:
    found = unpack(listing(q__mystery=("U8", 10, 10), norm__weight=("F32", 4), embeddings__position_ids=("I32", 1, 512)))
    assert logical(found)["norm.weight"] == (4,)
    assert weight(found).unclear_elements == 100


def test_both_names_in_one_file_stay_apart() -> None:
    found = unpack(
        listing(q__qweight=("I32", 512, 4096), q__qzeros=("I32", 32, 512), q__scales=("F16", 32, 4096), q__weight=("F16", 4096, 4096))
    )
    assert logical(found) == {"q.qweight": (4096, 4096), "q.weight": (4096, 4096)}


def test_settings_come_from_wherever_a_config_keeps_them() -> None:
    assert settings(None) == Settings()
    assert settings({"quantization_config": {"quant_method": "awq", "w_bit": 4, "q_group_size": 128}}) == Settings("awq", 4, 128)
    assert settings({"quantization_config": {"bits": True, "group_size": -1}}) == Settings()
    assert settings({"quantization_config": ["nonsense"]}) == Settings()


def test_no_shape_whatever_raises() -> None:
    chance = random.Random(0)
    names = """q.qweight q.qzeros q.scales q.g_idx q.weight q.weight_packed q.weight_scale q.weight_zero_point q.weight_g_idx q.B q.s
        q.W_q q.scale q.weight.absmax q.weight.quant_state.bitsandbytes__nf4 q.a_blocks q.a_scales q.bias q.SCB""".split()
    for _ in range(5000):
        some = chance.sample(names, chance.randrange(1, 7))
        arrays = {
            name: (chance.choice(list(BITS)), *(chance.choice((0, 1, 2, 8, 64)) for _ in range(chance.randrange(4)))) for name in some
        }
        config = {"quantization_config": {"bits": chance.choice((None, 0, 3, 4, 40)), "group_size": chance.choice((None, 0, 7, 64))}}
        found = unpack(listing_of(arrays), config)
        assert found.stored == listing_of(arrays).stored
        assert found.size_bytes == listing_of(arrays).size_bytes


def test_the_config_beside_the_file_is_asked(tmp_path: Path) -> None:
    header = json.dumps(
        {
            "q.weight": {"dtype": "U32", "shape": [64, 8], "data_offsets": [0, 2048]},
            "q.scales": {"dtype": "F16", "shape": [64, 1], "data_offsets": [2048, 2176]},
        }
    ).encode()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(2176))
    assert tally_of(checkpoint_of(tmp_path)).unique == 0
    (tmp_path / "config.json").write_text('{"quantization": {"group_size": 64, "bits": 4}}')
    assert tally_of(checkpoint_of(tmp_path)).unique == 64 * 64
    assert tally_of(checkpoint_of(tmp_path / "model.safetensors")).unique == 64 * 64
    (tmp_path / "config.json").write_text("[")
    assert config_beside(tmp_path) is None
