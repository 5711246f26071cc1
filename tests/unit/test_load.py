"""One way from a source to a value, and values that nobody changes."""

from __future__ import annotations

from pathlib import Path

import pytest

import weighbridge
from weighbridge import SourceError, UsageError
from weighbridge.config.read import find_config
from weighbridge.core.tree import Part
from weighbridge.load import load
from weighbridge.value import ModelValue


def test_a_value_is_taken_as_it_is() -> None:
    found = load("bert-tiny")
    assert load(found) is found
    model = weighbridge.model(found)
    assert weighbridge.model(model) is model
    assert (model.source, model.tree, model.description) == (found.source, found.tree, found.description)


def test_a_value_is_read_once_more_as_another_class() -> None:
    found = load("bert-tiny", "BertForMaskedLM")
    assert load(found, None, {"num_hidden_layers": 1}).class_name == "BertForMaskedLM"
    assert load(found, "BertModel").class_name == "BertModel"
    file = ModelValue("a file", "checkpoint", Part(""))
    with pytest.raises(UsageError, match="a file: --class and --set are for configs"):
        load(file, "BertModel")


def test_replace_changes_a_copy() -> None:
    found = weighbridge.model("bert-tiny")
    other = found.replace(source="mine", notes=("said",))
    assert (found.source, other.source, other.notes, other.tree) == ("bert-tiny", "mine", ("said",), found.tree)
    assert type(other) is weighbridge.Model


def test_public_functions_take_what_model_takes(tmp_path: Path) -> None:
    config = {"model_type": "bert", "num_hidden_layers": 1}
    model = weighbridge.model(config)
    assert weighbridge.diff(config, model).same
    assert [measure.differences for measure in weighbridge.compare([config, model]).measures][:1] == [(0, 0)]
    assert weighbridge.reconcile(model, model.count().unique).matches  # type: ignore[arg-type]
    assert not weighbridge.audit("12 × 768 = 9,216", model=config).wrong
    with pytest.raises(SourceError, match="no such file or directory; verify needs weights"):
        weighbridge.verify(tmp_path / "none")


def test_a_directory_with_two_configs_is_read_by_the_library_own(tmp_path: Path) -> None:
    (tmp_path / "bert_config.json").write_text('{"hidden_size": 32, "num_attention_heads": 2, "vocab_size": 50, "type_vocab_size": 2}')
    assert find_config(tmp_path) == tmp_path / "bert_config.json"
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    assert load(tmp_path).model_type == "gpt2"
