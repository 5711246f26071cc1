"""GGUF files as llama.cpp's loader wants them, written by the gguf library: counted, and verified against their own metadata."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import pytest

from tests.unit.verification.gguf_loader import SAMPLES, Sample
from weighbridge.readers import read_listing
from weighbridge.verification.verify import verify_checkpoint

gguf: Any = pytest.importorskip("gguf")
np: Any = pytest.importorskip("numpy")
NUMBERS = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}


def write(path: Path, variant: str, sample: Sample) -> None:
    """Have the library write a file."""
    architecture = variant.partition(" ")[0]
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_array("tokenizer.ggml.tokens", [f"t{number}" for number in range(96)])
    for key, value in sample.keys.items():
        name = f"{architecture}.{key}"
        if isinstance(value, tuple):
            writer.add_array(name, list(value))
        elif isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, float):
            writer.add_float32(name, value)
        else:
            writer.add_uint32(name, value)
    for name, shape in sample.tensors.items():
        writer.add_tensor(name, np.zeros(shape, np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize("architecture", SAMPLES)
def test_a_file_as_the_loader_wants_it_is_its_own_config(architecture: str, tmp_path: Path) -> None:
    sample = SAMPLES[architecture]
    write(tmp_path / "x.gguf", architecture, sample)
    listing = read_listing(tmp_path / "x.gguf")
    assert {tensor.name: tensor.shape for tensor in listing.tensors} == sample.tensors
    found = verify_checkpoint(tmp_path / "x.gguf")
    assert found.unexplained == ()
    assert (found.residual, found.holds, found.class_name) == (0, True, sample.class_name)
    assert found.found == sum(map(prod, sample.tensors.values()))
    assert any("leaves out" in finding.reason for finding in found.explained) == bool(sample.left_out)
    assert sum(finding.elements for finding in found.explained if "filler" in finding.reason) == sample.added


@pytest.mark.parametrize("architecture", SAMPLES)
def test_a_wrong_shape_and_a_missing_tensor_are_found(architecture: str, tmp_path: Path) -> None:
    sample = SAMPLES[architecture]
    names = [name for name in sample.tensors if name.startswith("blk.1.") and "exp_probs" not in name]
    wrong = {**sample.tensors, names[0]: (*sample.tensors[names[0]][:-1], sample.tensors[names[0]][-1] + 1)}
    write(tmp_path / "wrong.gguf", architecture, sample._replace(tensors=wrong))
    assert not verify_checkpoint(tmp_path / "wrong.gguf").holds
    short = {name: shape for name, shape in sample.tensors.items() if name != names[-1]}
    write(tmp_path / "short.gguf", architecture, sample._replace(tensors=short))
    assert not verify_checkpoint(tmp_path / "short.gguf").holds


@pytest.mark.parametrize("architecture", SAMPLES)
def test_the_library_knows_the_names_that_the_loader_asks_for(architecture: str) -> None:
    known = {gguf.TENSOR_NAMES[tensor] for tensor in gguf.MODEL_TENSORS[NUMBERS[architecture.partition(" ")[0]]]}
    asked = {name.removesuffix(".weight").removesuffix(".bias") for name in SAMPLES[architecture].tensors}
    assert {base.format(bid=layer) for base in known for layer in range(4)} >= asked
