"""Costs say of which type their bytes are where nobody named one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import Model, model
from weighbridge.cli import main
from weighbridge.core.tree import Part, Tensor
from weighbridge.documents.element_types import stated_type

LLAMA = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 99,
}


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(("command", "usual"), [("memory", "float32"), ("cache", "bfloat16")])
@pytest.mark.parametrize("stated", [None, "float32", "bfloat16"])
def test_the_type_and_its_reason_are_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, usual: str, stated: str | None
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | ({"torch_dtype": stated} if stated else {})))
    text = run(capsys, command, str(path), "--explain")
    answer: dict[str, Any] = json.loads(run(capsys, command, str(path), "--json"))
    assert (answer["dtype_from"], answer["config_dtype"]) == ("default", stated)
    assert (f"taken in {usual}" in text) == (stated != usual)
    assert ("is also what the config says" in text) == (stated == usual)
    assert (f"--dtype {stated} takes that" in text) == (stated not in (None, usual))
    asked = run(capsys, command, str(path), "--dtype", "float16")
    assert "No --dtype" not in asked
    assert json.loads(run(capsys, command, str(path), "--dtype", "float16", "--json"))["dtype_from"] == "option"


@pytest.mark.parametrize("types", [("BF16", "BF16"), ("F16", "F32"), ("I32", "F16")])
def test_a_file_has_its_own_types_and_is_trained_in_one(types: tuple[str, str]) -> None:
    sizes = {"BF16": 2, "F16": 2, "F32": 4, "I32": 4}
    tree = Part("", (Tensor("a", (4, 4), "weight", dtype=types[0]), Tensor("b", (8,), "weight", dtype=types[1])))
    loaded = Model("file", "checkpoint", tree)
    assert loaded.memory().weights == 16 * sizes[types[0]] + 8 * sizes[types[1]]
    found = loaded.memory(training=True)
    if "I32" not in types:
        size = 2 if types[0] == types[1] else 4
        assert (found.weights, found.gradients) == (24 * size, 24 * size)
        assert loaded.memory(training=True, dtype="float16").weights == 48


def test_a_nested_config_names_a_type() -> None:
    assert stated_type(model({"model_type": "llama", "dtype": "torch.float16"})) == "float16"
    assert stated_type(model({"model_type": "llama", "dtype": "int8"})) is None


def test_a_type_that_a_file_overrules_is_said_to_change_nothing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    header = json.dumps({"w": {"dtype": "BF16", "shape": [4, 4], "data_offsets": [0, 32]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(32))
    assert json.loads(run(capsys, "memory", str(path), "--dtype", "float32", "--json"))["idle"] == ["--dtype"]
    assert "the type that the file has it in" in run(capsys, "memory", str(path))
