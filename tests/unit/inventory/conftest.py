"""A store of models that several tests of a census read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.unit.inventory.stores import BERT, safetensors, write


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A model store with some of everything."""
    root = tmp_path / "store"
    write(root / "a" / "config.json", BERT)
    write(root / "a" / "tokenizer_config.json", {"model_max_length": 5})
    write(root / "b" / "config.json", {"model_type": "gpt2", "n_layer": 1})
    write(root / "many" / "one_config.json", {"model_type": "no_such"})
    write(root / "many" / "two_config.json", {"model_type": "bert", "hidden_size": 7})
    (root / "broken").mkdir()
    (root / "broken" / "config.json").write_bytes(b"{\xff")
    safetensors(root / "weights.safetensors", {"w": [3, 4]}, {"total_parameters": "13"})
    (root / "torn.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{")
    os.symlink(root, root / "many" / "loop")
    return root
