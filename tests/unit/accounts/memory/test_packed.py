"""What packed matrices weigh: the tensors that each scheme's files hold for one matrix, by shape and bytes an element."""

from __future__ import annotations

from math import prod

import pytest

from weighbridge import model
from weighbridge.accounts.memory.weights import SCHEMES, bits, file_bytes, weight_bytes
from weighbridge.columns import measure, memory
from weighbridge.core.errors import UsageError
from weighbridge.core.parts import linear
from weighbridge.core.tree import Part, Tensor

Held = list[tuple[tuple[int, ...], int]]


def stored_tensors(o: int, i: int) -> dict[str, Held]:
    """Return the tensors beside each other in a file: AutoGPTQ's qweight, qzeros, scales and g_idx; bitsandbytes' absmax; and so on."""
    groups, blocks = -(-i // 128), -(-o * i // 64)
    others: dict[str, Held] = {}
    for size in (32, 64):
        many = -(-i // size)
        others[f"gptq-4bit-g{size}"] = [((i // 8, o), 4), ((many, o // 8), 4), ((many, o), 2), ((i,), 4)]
        others[f"gptq-8bit-g{size}"] = [((i // 4, o), 4), ((many, o // 4), 4), ((many, o), 2), ((i,), 4)]
        others[f"awq-4bit-g{size}"] = [((i, o // 8), 4), ((many, o // 8), 4), ((many, o), 2)]
        others[f"w4a16-g{size}"] = [((o, i // 8), 4), ((o, many), 2), ((2,), 8)]
    return (
        others
        | hqq_tensors(o, i)
        | {
            "bnb-8bit": [((o, i), 1), ((o,), 4)],
            "bnb-4bit": [((-(-o * i // 2),), 1), ((blocks,), 4), ((16,), 4)],
            "bnb-4bit-double": [((-(-o * i // 2),), 1), ((blocks,), 1), ((-(-blocks // 256),), 4), ((256,), 4), ((), 4), ((16,), 4)],
            "gptq-4bit": [((i // 8, o), 4), ((groups, o // 8), 4), ((groups, o), 2), ((i,), 4)],
            "gptq-8bit": [((i // 4, o), 4), ((groups, o // 4), 4), ((groups, o), 2), ((i,), 4)],
            "awq-4bit": [((i, o // 8), 4), ((groups, o // 8), 4), ((groups, o), 2)],
            "w4a16": [((o, i // 8), 4), ((o, groups), 2), ((2,), 8)],
            "w8a8": [((o, i), 1), ((o, 1), 2)],
            "fp8": [((o, i), 1), ((), 4)],
            "fp8-channel": [((o, i), 1), ((o, 1), 2)],
            "fp8-block": [((o, i), 1), ((-(-o // 128), -(-i // 128)), 4)],
            "mxfp4": [((o, i // 2), 1), ((o, i // 32), 1)],
            "mxfp4-experts": [((o, i // 2), 1), ((o, i // 32), 1)],
            "nvfp4": [((o, i // 2), 1), ((o, i // 16), 1), ((), 4)],
            "nvfp4-w4a4": [((o, i // 2), 1), ((o, i // 16), 1), ((), 4), ((), 4)],
        }
    )


def hqq_tensors(o: int, i: int) -> dict[str, Held]:
    """Return HQQ's W_q, scale and zero: groups are rows, of which as many as fit stand in one byte (of three bits ten in four bytes)."""
    found: dict[str, Held] = {}
    for width in (8, 4, 3, 2, 1):
        for group in (64, 16, 32, 128) if width in (4, 3, 2) else (64,):
            rows = o * i // group
            values = ((-(-rows // 10), group), 4) if width == 3 else ((rows * width // 8, group), 1)
            found[f"hqq-{width}bit" + ("" if group == 64 else f"-g{group}")] = [values, ((rows, 1), 2), ((rows, 1), 2)]
    return found


HQQ = [
    ("hqq-1bit", 184, 272, 9_336),
    ("hqq-1bit", 200, 96, 3_568),
    ("hqq-2bit", 96, 200, 6_000),
    ("hqq-2bit-g16", 112, 176, 9_856),
    ("hqq-2bit-g32", 136, 32, 1_632),
    ("hqq-3bit", 96, 256, 11_520),
    ("hqq-3bit-g16", 30, 64, 1_248),
    ("hqq-3bit-g128", 30, 64, 1_084),
    ("hqq-4bit", 30, 64, 1_080),
    ("hqq-4bit-g16", 192, 248, 35_712),
    ("hqq-4bit-g32", 152, 168, 15_960),
    ("hqq-8bit", 160, 312, 53_040),
]


@pytest.mark.parametrize(("scheme", "outputs", "inputs", "expected"), HQQ)
def test_a_matrix_weighs_what_hqq_makes_of_it(scheme: str, outputs: int, inputs: int, expected: int) -> None:
    """Bytes of W_q, scale and zero that hqq 0.2.8's HQQLinear holds of a float16 matrix on a processor."""
    assert SCHEMES[scheme].packed(outputs, inputs) == expected


@pytest.mark.parametrize(("outputs", "inputs"), [(11008, 4096), (4096, 11008), (352, 96), (96, 4128)])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_packed_matrix_weighs_what_its_tensors_do(scheme: str, outputs: int, inputs: int) -> None:
    assert SCHEMES[scheme].packed(outputs, inputs) == sum(prod(shape) * size for shape, size in stored_tensors(outputs, inputs)[scheme])


COMPRESSED = [
    ("w4a16-g32", 96, 256, 13_840),
    ("w4a16-g64", 96, 256, 13_072),
    ("w4a16", 96, 256, 12_688),
    ("fp8-channel", 96, 256, 24_768),
    ("w8a8", 96, 256, 24_768),
    ("nvfp4", 96, 256, 13_828),
    ("w4a16-g32", 40, 384, 8_656),
    ("w4a16-g64", 40, 384, 8_176),
    ("w4a16", 40, 384, 7_936),
    ("fp8-channel", 40, 384, 15_440),
    ("w8a8", 40, 384, 15_440),
    ("nvfp4", 40, 384, 8_644),
]


@pytest.mark.parametrize(("scheme", "outputs", "inputs", "expected"), COMPRESSED)
def test_a_matrix_weighs_what_compressed_tensors_makes_of_it(scheme: str, outputs: int, inputs: int, expected: int) -> None:
    """Bytes of the tensors that compressed-tensors 0.20.0 gives for a bfloat16 matrix."""
    assert SCHEMES[scheme].packed(outputs, inputs) == expected


def test_only_matrices_of_layers_are_packed() -> None:
    """Two layers of a matrix and a router, and a head outside them: the router and the head keep sixteen bits."""
    layer = Part("layers", (linear("q", 256, 128), linear("gate", 256, 8, bias=False)), repeat=2)
    tree = Part("", (layer, linear("lm_head", 256, 50, bias=False)))
    packed = SCHEMES["fp8"].packed(128, 256)
    assert weight_bytes(tree, "bfloat16", "fp8") == 2 * packed + 2 * (2 * (128 + 8 * 256) + 50 * 256)
    assert weight_bytes(tree, "float32") == 4 * (2 * (128 * 256 + 128 + 8 * 256) + 50 * 256)
    with pytest.raises(UsageError, match=r"^quantization: expected one of"):
        weight_bytes(tree, "bfloat16", "q9")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_whole_columns_are_packed_as_each_config_is(scheme: str) -> None:
    sizes = {
        "hidden_size": [64, 192, 4096],
        "num_hidden_layers": [1, 3, 80],
        "intermediate_size": [128, 448, 11008],
        "vocab_size": [100, 999, 32000],
    }
    heads = {"num_attention_heads": 1, "num_key_value_heads": 1}
    found = measure("llama", {**sizes, **heads}, {"bytes": memory(dtype="bfloat16", quantization=scheme)})["bytes"]
    for row, total in enumerate(found):
        config = {"model_type": "llama", **heads, **{key: values[row] for key, values in sizes.items()}}
        one = model(config, "LlamaModel").memory(dtype="bfloat16", quantization=scheme)
        assert one.weights + one.buffers == total


@pytest.mark.parametrize(("dtype", "width"), [("float32", 32), ("bfloat16", 16), ("float16", 16)])
def test_widths_of_types(dtype: str, width: int) -> None:
    assert bits(dtype) == width


BYTES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "I8": 1, "U8": 1,
         "BOOL": 1}  # fmt: skip


@pytest.mark.parametrize(("dtype", "size"), [*BYTES.items(), ("F4", 0.5), ("I4", 0.5), ("U4", 0.5), ("NF4", 0.5), ("FP4", 0.5)])
def test_every_type_that_a_file_names_has_its_width(dtype: str, size: float) -> None:
    assert file_bytes(Part("", (Tensor("a", (6, 7), "weight", dtype=dtype),))) == 42 * size


def test_a_file_s_parameters_weigh_what_their_types_say() -> None:
    tensors = (
        Tensor("a", (3, 5), "weight", dtype="F32"),
        Tensor("b", (7,), "bias", dtype="F16"),
        Tensor("c", (2,), "buffer", dtype="I64"),
        Tensor("d", (64, 2), "weight", dtype="Q4_0"),
    )
    tree = Part("", (Part("layer", tensors, repeat=3),))
    assert file_bytes(tree) == 3 * (3 * 5 * 4 + 7 * 2 + 4 * 18), "Q4_0 packs 32 values into 18 bytes"
    assert file_bytes(Part("", (Tensor("a", (2,), "weight", dtype="UNKNOWN"),))) is None


@pytest.mark.parametrize(
    ("name", "dtype", "trust"),
    [
        ("t5-small", "float16", "bound"),
        ("t5-small", "bfloat16", "exact"),
        ("t5-small", "float32", "exact"),
        ("bert-base-uncased", "float16", "exact"),
    ],
)
def test_weights_are_a_bound_where_a_part_stays_in_float32(name: str, dtype: str, trust: str) -> None:
    assert model(name).memory(dtype=dtype).trust["weights"] == trust
