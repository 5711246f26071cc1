from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.readers.hostile import assert_refused, assert_robust, read_bytes
from tests.unit.readers.real import packaged_file
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.load import checkpoint_of
from weighbridge.readers import onnx
from weighbridge.readers.listing import Listing

lib = pytest.importorskip("onnx")
np = pytest.importorskip("numpy")
helper, numpy_helper, T = lib.helper, lib.numpy_helper, lib.TensorProto


def init(name: str, *sizes: int, dtype: Any = np.float32) -> Any:
    return numpy_helper.from_array(np.zeros(sizes, dtype), name)


def model(nodes: list[Any], initializers: list[Any], inputs: tuple[str, ...] = ("x",), output: str = "y", **more: Any) -> bytes:
    values = [helper.make_tensor_value_info(name, T.FLOAT, None) for name in inputs]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info(output, T.FLOAT, None)], initializers, **more)
    data: bytes = helper.make_model(graph).SerializeToString()
    return data


def constant(name: str, *sizes: int, dtype: Any = np.float32) -> Any:
    return helper.make_node("Constant", [], [name], value=init("", *sizes, dtype=dtype))


SMALL = model(
    [
        constant("/Constant_output_0"),
        constant("table", 3, 4),
        helper.make_node("MatMul", ["x", "h.weight"], ["a"]),
        helper.make_node("Add", ["a", "h.bias"], ["b"]),
        helper.make_node("Div", ["b", "/Constant_output_0"], ["c"]),
        helper.make_node("Reshape", ["c", "shape"], ["d"]),
        helper.make_node("Add", ["d", "table"], ["y"]),
    ],
    [init("h.weight", 4, 4), init("h.bias", 4), init("shape", 2, dtype=np.int64)],
)


def assert_consistent(listing: Listing) -> None:
    assert len({tensor.name for tensor in listing.tensors}) == len(listing.tensors)
    assert all(type(size) is int and size >= 0 for tensor in listing.tensors for size in tensor.shape)


def shapes_of(listing: Listing) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in listing.tensors if tensor.role != "buffer" and not tensor.tied_to}


def reference(graph: Any) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield what the library sees: initializers and constants, sub-graphs too."""
    for tensor in graph.initializer:
        yield tensor.name, str(helper.tensor_dtype_to_np_dtype(tensor.data_type)), tuple(tensor.dims)
    for node in graph.node:
        for attribute in node.attribute:
            if node.op_type == "Constant" and attribute.HasField("t"):
                yield node.output[0], str(helper.tensor_dtype_to_np_dtype(attribute.t.data_type)), tuple(attribute.t.dims)
            if attribute.HasField("g"):
                yield from reference(attribute.g)


NUMPY = {"F32": "float32", "F16": "float16", "F64": "float64", "I64": "int64", "I32": "int32", "I8": "int8", "U8": "uint8", "BOOL": "bool"}


def assert_agrees(data: bytes) -> None:
    """Assert that the library sees the same tensors; names in sub-graphs have the graph's before them."""
    listing = read_bytes(onnx.read, data)
    ours = sorted(
        (tensor.name.split("branch.")[-1].partition(".")[2] if "branch" in tensor.name else tensor.name, NUMPY[tensor.dtype], tensor.shape)
        for tensor in listing.tensors
    )
    assert ours == sorted(reference(lib.load_from_string(data).graph))


def test_parameters_and_constants_are_told_apart() -> None:
    listing = read_bytes(onnx.read, SMALL)
    assert shapes_of(listing) == {"h.weight": (4, 4), "h.bias": (4,), "table": (3, 4)}
    assert_agrees(SMALL)
    assert listing.notes == ("2 constants of the graph (shapes, indices, scales, zero points) are not parameters",)


def test_all_kinds_of_tensors_agree_with_the_library() -> None:
    tensors = [init("scalar"), init("empty", 0, 4), init("Wörter.权重", 2, 3, dtype=np.float16), init("f64", 3, dtype=np.float64)]
    tensors += [init("i32", 5, dtype=np.int32), init("i8", 5, 2, dtype=np.int8), init("bool", 3, dtype=bool)]
    tensors += [helper.make_tensor("typed", T.FLOAT, (2, 2), [1, 2, 3, 4]), helper.make_tensor("typed16", T.FLOAT16, (3,), [1, 2, 3])]
    tensors += [helper.make_tensor("typed8", T.INT8, (4,), [-1, 2, -3, 4]), helper.make_tensor("typed64", T.INT64, (2,), [-1, 1 << 60])]
    assert_agrees(model([helper.make_node("Identity", ["x"], ["y"])], tensors))


def test_one_weight_used_twice_counts_once() -> None:
    data = model([helper.make_node("Gather", ["wte", "x"], ["a"]), helper.make_node("MatMul", ["a", "wte"], ["y"])], [init("wte", 8, 8)])
    listing = read_bytes(onnx.read, data)
    assert [(tensor.name, tensor.shape, tensor.role) for tensor in listing.tensors] == [("wte", (8, 8), "embedding")]


def test_sub_graphs_see_the_graphs_around_them() -> None:
    branches = [
        helper.make_graph(
            [
                constant(f"k{n}", 2, 2),
                helper.make_node("MatMul", ["outer", f"k{n}"], [f"m{n}"]),
                helper.make_node("Add", [f"m{n}", f"w{n}"], [f"o{n}"]),
            ],
            f"branch{n}",
            [],
            [helper.make_tensor_value_info(f"o{n}", T.FLOAT, None)],
            [init(f"w{n}", 2)],
        )
        for n in range(2)
    ]
    data = model([helper.make_node("If", ["x"], ["y"], then_branch=branches[0], else_branch=branches[1])], [init("outer", 2, 2)])
    assert shapes_of(read_bytes(onnx.read, data)) == {
        "outer": (2, 2),
        "then_branch.1.w0": (2,),
        "then_branch.1.k0": (2, 2),
        "else_branch.0.w1": (2,),
        "else_branch.0.k1": (2, 2),
    }
    assert_agrees(data)


def test_scales_and_zero_points_are_apart() -> None:
    data = model(
        [
            helper.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=1),
            helper.make_node("MatMul", ["x", "w"], ["a"]),
            helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bias"]),
            helper.make_node("Add", ["a", "bias"], ["c"]),
            helper.make_node("QuantizeLinear", ["c", "cs", "cz"], ["y"]),
        ],
        [
            *(init("q", 8, 4, dtype=np.int8), init("s", 4), init("z", 4, dtype=np.int8), init("b", 4, dtype=np.int32), init("bs", 4)),
            *(init("bz", 4, dtype=np.int32), init("cs"), init("cz", dtype=np.uint8)),
        ],
    )
    listing = read_bytes(onnx.read, data)
    assert shapes_of(listing) == {"q": (8, 4), "b": (4,)}
    assert {tensor.name: tensor.note for tensor in listing.tensors if tensor.role == "buffer"} == {
        "s": "scale of packed weights",
        "z": "zero of packed weights",
        "bs": "scale of packed weights",
        "bz": "zero of packed weights",
        "cs": "scale of packed weights",
        "cz": "zero of packed weights",
    }


def test_4_bit_blocks_become_their_matrix() -> None:
    node = helper.make_node("MatMulNBits", ["x", "p", "s", "z"], ["y"], domain="com.microsoft", K=64, N=8, bits=4, block_size=32)
    tensors = [init("p", 8, 2, 16, dtype=np.uint8), init("s", 16), init("z", 8, dtype=np.uint8)]
    listing = read_bytes(onnx.read, model([node], tensors))
    assert shapes_of(listing) == {"p": (8, 64)}
    assert listing.tensors[0].stored == 256
    node = helper.make_node("MatMulNBits", ["x", "p", "s", "z"], ["y"], domain="com.microsoft", K=6400, N=8, bits=4, block_size=32)
    assert shapes_of(read_bytes(onnx.read, model([node], tensors))) == {}


def test_external_data_is_measured_and_not_opened(tmp_path: Path) -> None:
    source = lib.load_from_string(
        model(
            [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("MatMul", ["a", "v"], ["y"])],
            [init("w", 64, 64), init("v", 64, 64)],
        )
    )
    lib.save(source, tmp_path / "m.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    (tmp_path / "weights.bin").unlink()
    listing = read_bytes(onnx.read, (tmp_path / "m.onnx").read_bytes())
    assert shapes_of(listing) == {"w": (64, 64), "v": (64, 64)}
    assert listing.metadata["external_data"] == ("weights.bin",)
    assert listing.notes == ("the weights lie in weights.bin, which is not opened",)
    proto = lib.load(tmp_path / "m.onnx", load_external_data=False)
    for key, tensor in enumerate(proto.graph.initializer):
        entries = {entry.key: entry for entry in tensor.external_data}
        entries["offset"].value = "0"
        assert key in (0, 1)
    shared = read_bytes(onnx.read, proto.SerializeToString())
    assert shapes_of(shared) == {"w": (64, 64)}
    assert shared.tensors[1].tied_to == "w"


def test_sparse_and_functions() -> None:
    values, indices = helper.make_tensor("sparse", T.FLOAT, (2,), [1, 2]), helper.make_tensor("", T.INT64, (2,), [3, 9])
    sparse = helper.make_sparse_tensor(values, indices, (4, 4))
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "sparse"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", 1, None)],
        [helper.make_tensor_value_info("y", 1, None)],
        sparse_initializer=[sparse],
    )
    body = [constant("k", 2, 2), helper.make_node("MatMul", ["a", "k"], ["b"])]
    function = helper.make_function("local", "F", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    listing = read_bytes(onnx.read, helper.make_model(graph, functions=[function]).SerializeToString())
    assert shapes_of(listing) == {"sparse": (4, 4), "function.1.k": (2, 2)}
    assert [tensor.stored for tensor in listing.tensors] == [4, 4]


def test_damage_is_refused_or_read_consistently() -> None:
    assert_robust(onnx.read, SMALL, check=assert_consistent)


def test_what_cannot_be_is_refused() -> None:
    assert_refused(onnx.read, b"\x08\x08\x12\x02ab", "it holds no graph (at byte 6)")
    assert_refused(
        onnx.read,
        b"\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        "field 7 ends at 9,223,372,036,854,775,819, beyond its message, which ends at 12 (at byte 2)",
    )
    assert_refused(
        onnx.read, b"\x08\x08\xfa\x7f\x00", "field 2,047 is not one of this message, or of a later version of the format (at byte 2)"
    )
    with pytest.raises(ReadError, match="'nowhere' is taken by a node or given out, and nothing makes it"):
        read_bytes(onnx.read, model([helper.make_node("MatMul", ["x", "nowhere"], ["y"])], []))
    short = init("w", 4, 4)
    short.raw_data = bytes(60)
    with pytest.raises(ReadError, match="'w' of 16 elements of type F32 needs 64 bytes; it holds 60"):
        read_bytes(
            onnx.read,
            model([helper.make_node("MatMul", ["x", "w"], ["y"])], [short]),
        )
    with pytest.raises(ReadError, match="the tensor 'w' occurs twice"):
        read_bytes(onnx.read, model([helper.make_node("MatMul", ["x", "w"], ["y"])], [init("w", 2), init("w", 2)]))


def test_graphs_nested_without_end() -> None:
    def wrapped(number: int, inner: bytes) -> bytes:
        length, size = b"", len(inner)
        while size > 127:
            length, size = length + bytes([size & 127 | 128]), size >> 7
        return bytes([number << 3 | 2]) + length + bytes([size]) + inner

    graph = b""
    for _ in range(500):
        graph = wrapped(1, wrapped(5, wrapped(6, graph)))
    with pytest.raises(ReadError, match="graphs nested more than 32 deep"):
        read_bytes(onnx.read, b"\x08\x08" + wrapped(7, graph))
    with pytest.raises(ReadError, match="more than 350,000 fields"):
        read_bytes(onnx.read, b"\x08\x08" + wrapped(7, b"\x52\x00" * 700_000))


@pytest.mark.parametrize(
    ("package", "pattern", "elements"),
    [
        ("traceforge_title_model", "data/span/encoder.onnx", 35_332_800),
        ("traceforge_title_model", "data/span/decoder.onnx", 58_077_888),
        ("chython_rxnmap", "rxnmap.onnx", 21_141_712),
        ("basic_pitch", "saved_models/icassp_2022/nmp.onnx", 35_734),
    ],
)
def test_real_files(package: str, pattern: str, elements: int) -> None:
    """The first two are T5 v1.1 small: its encoder, and its decoder with the shared table and an untied head."""
    path = packaged_file(package, pattern)
    assert tally_of(checkpoint_of(path)).unique == elements
    with path.open("rb") as file:
        ours = {(tensor.name, tensor.shape) for tensor in onnx.read(file).tensors}
    assert ours == {(name, shape) for name, _, shape in reference(lib.load(path).graph)}


def test_real_elements_add_up() -> None:
    shared, heads = 32_128 * 512, 384
    layer = 4 * 512 * heads + 3 * 512 * 1024 + 2 * 512
    assert shared + 8 * layer + 32 * 6 + 512 == 35_332_800
