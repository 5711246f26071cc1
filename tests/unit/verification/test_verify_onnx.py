"""ONNX exports against a config: names that torch's exporter kept, matrices it transposed and numbered, and the rest by shape."""

from __future__ import annotations

import io

import pytest

from tests.unit.bert import bert
from tests.unit.readers.real import packaged_file
from weighbridge.api.model import Model
from weighbridge.readers import Listing, onnx
from weighbridge.readers.onnx_roles import modules_in
from weighbridge.verification.verify import verify, verify_checkpoint

T5 = {
    "model_type": "t5",
    "d_model": 512,
    "d_kv": 64,
    "num_heads": 6,
    "num_layers": 8,
    "num_decoder_layers": 8,
    "d_ff": 1024,
    "vocab_size": 32128,
    "feed_forward_proj": "gated-gelu",
}


def exported_listing(model: Model) -> Listing:
    """Return the listing of the graph that torch's exporter makes: each matrix of a linear layer transposed, under a number."""
    lib, np = pytest.importorskip("onnx"), pytest.importorskip("numpy")
    helper = lib.helper
    nodes, tensors, last = [], [], "x"
    for number, row in enumerate(row for row in model.tensors() if row.tied_to is None):
        shape = tuple(size for size in row.shape if isinstance(size, int))
        linear = row.role == "weight" and len(shape) == 2
        name = f"onnx::MatMul_{100 + number}" if linear else row.name
        tensors.append(lib.numpy_helper.from_array(np.zeros(shape[::-1] if linear else shape, np.float32), name))
        node = f"/{row.name.removesuffix('.weight').replace('.', '/')}/MatMul" if linear else f"/node_{number}"
        kind = "MatMul" if linear else "Gather" if row.role == "embedding" else "Add"
        inputs = [name, last] if kind == "Gather" else [last, name]
        nodes.append(helper.make_node(kind, inputs, [last := f"y{number}"], name=node))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "main", [value("x", lib.TensorProto.FLOAT, None)], [value(last, lib.TensorProto.FLOAT, None)], tensors)
    return onnx.read(io.BytesIO(helper.make_model(graph, producer_name="pytorch").SerializeToString()))


def test_matrices_are_found_by_the_operators_that_take_them() -> None:
    model = bert()
    listing = exported_listing(model)
    assert any(tensor.name.startswith("onnx::MatMul_") for tensor in listing.tensors)
    found = verify(model, listing)
    assert found.holds
    assert (found.expected, found.found, found.matched) == (model.count().unique, model.count().unique, len(model.tensors()))
    assert {finding.reason for finding in found.explained} == {"transposed in the file"}


def test_a_matrix_is_found_by_a_shape_that_no_other_has() -> None:
    model = bert(num_hidden_layers=1)
    listing = exported_listing(model)
    modules = {name: module for name, module in modules_in(listing).items() if module != "encoder.layer.0.output.dense"}
    assert verify(model, listing._replace(metadata={"modules": modules})).holds, "one matrix of 8 × 16 is left on either side"
    modules = {name: module for name, module in modules.items() if "intermediate" not in module}
    found = verify(model, listing._replace(metadata={"modules": modules}))
    assert found.residual == 4 * 128, "two are left, and which is which cannot be told"


def test_what_is_found_by_nothing_is_named() -> None:
    model = bert()
    listing = exported_listing(model)
    found = verify(model, listing._replace(metadata={}))
    assert not found.holds
    names = {finding.name for finding in found.unexplained}
    assert any(name.startswith("onnx::MatMul_") for name in names)
    assert "encoder.layer.0.attention.self.query.weight" in names


def test_a_published_encoder() -> None:
    found = verify_checkpoint(packaged_file("traceforge_title_model", "data/span/encoder.onnx"), T5, "T5EncoderModel")
    assert (found.expected, found.matched, found.residual, found.holds) == (35_332_800, 75, 0, True)


def test_a_published_encoder_and_its_decoder() -> None:
    folder = packaged_file("traceforge_title_model", "data/span/encoder.onnx").parent
    found = verify_checkpoint(folder, T5, "T5ForConditionalGeneration")
    assert (found.expected, found.matched_elements, found.residual, found.holds) == (60_511_616, 60_511_616, 0, True)
    copies = [finding.elements for finding in found.explained if finding.reason.startswith("a copy of shared.weight")]
    assert copies == [32_128 * 512] * 2


def test_a_config_that_is_not_the_files() -> None:
    found = verify_checkpoint(packaged_file("traceforge_title_model", "data/span/encoder.onnx"), {**T5, "num_layers": 7}, "T5EncoderModel")
    assert not found.holds
    layer = 4 * 512 * 384 + 3 * 512 * 1024 + 2 * 512
    assert found.residual == layer
    assert {finding.reason for finding in found.unexplained} == {"not in the config's class"}
