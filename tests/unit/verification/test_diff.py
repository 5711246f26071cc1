"""Two models side by side: every difference is named once, and a model does not differ from itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import weighbridge
from tests.unit import safetensors_file
from tests.unit.bert import CONFIG, bert
from weighbridge.api.model import Model
from weighbridge.cli import main
from weighbridge.readers import Listing, StoredTensor, as_model
from weighbridge.value import ModelValue
from weighbridge.verification.diff import diff


def file(model: Model, prefix: str = "", dtype: str = "F32") -> ModelValue:
    tensors = [StoredTensor(prefix + row.name, dtype, tuple(row.shape), 0) for row in model.tensors() if row.tied_to is None]  # type: ignore[arg-type]
    return as_model(Listing("safetensors", tuple(tensors)), "file")


def test_a_model_and_itself() -> None:
    found = diff(bert(), bert())
    assert found.same
    assert found.equal == len(bert().tensors())
    assert found.fields == ()


def test_one_more_layer_adds_exactly_its_tensors() -> None:
    found = diff(bert(), bert(num_hidden_layers=3))
    assert {row.name.startswith("encoder.layer.2.") for row in found.added} == {True}
    assert sum(row.count for row in found.added) == found.unique_b - found.unique_a
    assert [tuple(change) for change in found.fields] == [("num_hidden_layers", 2, 3)]
    assert (found.gone, found.reshaped) == ((), ())


def test_another_vocabulary_reshapes_its_table() -> None:
    found = diff(bert(), bert(vocab_size=50))
    assert [tuple(change) for change in found.reshaped] == [("embeddings.word_embeddings.weight", (100, 8), (50, 8))]


def test_a_prefix_is_no_difference() -> None:
    found = diff(bert(), file(bert(), "bert."))
    assert found.same
    assert found.renamed


def test_one_tensor_that_could_have_any_prefix_is_not_renamed(tmp_path: Path) -> None:
    safetensors_file.write(tmp_path / "model.safetensors", {"a.weight": (3, 4)})
    found = diff(weighbridge.model(tmp_path), weighbridge.model(CONFIG))
    assert ([row.name for row in found.gone], found.reshaped, found.renamed) == (["a.weight"], (), False)


def test_types_ties_and_roles() -> None:
    one, two = file(bert()), file(bert(), dtype="BF16")
    assert {(change.a, change.b) for change in diff(one, two).retyped} == {("F32", "BF16")}
    ties = diff(bert("BertForMaskedLM"), bert("BertForMaskedLM", tie_word_embeddings=False)).retied
    assert [change.name for change in ties] == ["cls.predictions.decoder.weight", "cls.predictions.decoder.bias"]
    a = as_model(Listing("x", (StoredTensor("running_mean", "F32", (3,), 12),)), "a")
    b = as_model(Listing("x", (StoredTensor("running_mean", "F32", (3,), 12, role="gain"),)), "b")
    assert [tuple(change) for change in diff(a, b).recast] == [("running_mean", "buffer", "gain")]


def test_other_families_and_classes() -> None:
    found = diff(bert(), bert("BertForMaskedLM"))
    assert ("class", "BertModel", "BertForMaskedLM") in [tuple(change) for change in found.fields]
    assert {row.name.split(".")[0] for row in found.added} == {"cls"}
    assert {row.name.split(".")[0] for row in found.gone} == {"pooler"}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.json").write_text(json.dumps(CONFIG))
    (tmp_path / "b.json").write_text(json.dumps({**CONFIG, "intermediate_size": 32}))
    words = ["diff", str(tmp_path / "a.json"), str(tmp_path / "b.json")]
    assert main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["fields"] == [{"name": "intermediate_size", "a": 16, "b": 32}]
    assert answer["parameters"]["difference"] == 2 * (16 * 8 * 2 + 16)
    assert main([*words, "--exit-code"]) == 1
    assert "encoder.layer.*.intermediate.dense.weight × 2" in capsys.readouterr().out
    assert main(["diff", words[1], words[1], "--exit-code"]) == 0
