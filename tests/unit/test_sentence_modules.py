"""sentence-transformers' modules in a row, held to totals that MTEB 2.26 declares (``n_parameters`` of its model cards)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import WeighbridgeError, model
from weighbridge.presets import preset

SEQUENCE: list[tuple[str, dict[str, Any]]] = [("Transformer", {}), ("Pooling", {})]


def write_directory(folder: Path, config: dict[str, Any], *modules: tuple[str, dict[str, Any]]) -> Path:
    """Write a directory as the library saves it."""
    (folder / "config.json").write_text(json.dumps(config))
    listed = []
    for index, (kind, own) in enumerate(modules):
        place = f"{index}_{kind}" if index else ""
        listed.append({"idx": index, "name": str(index), "path": place, "type": f"sentence_transformers.models.{kind}"})
        if index:
            (folder / place).mkdir()
            (folder / place / "config.json").write_text(json.dumps(own))
    (folder / "modules.json").write_text(json.dumps(listed))
    return folder


def dense(inputs: int, outputs: int, **more: Any) -> tuple[str, dict[str, Any]]:
    return ("Dense", {"in_features": inputs, "out_features": outputs, "bias": False, **more})


@pytest.mark.parametrize(
    ("name", "behind", "total"),
    [
        ("sentence-t5-base", [dense(768, 768)], 110_218_368),  # gtr-t5-base
        ("sentence-t5-large", [dense(1024, 768)], 335_726_080),
        ("sentence-t5-xl", [dense(1024, 768)], 1_241_696_256),
        ("embeddinggemma-300m", [dense(768, 3072), dense(3072, 768), ("Normalize", {})], 307_581_696),
    ],
)
def test_published_totals(tmp_path: Path, name: str, behind: list[Any], total: int) -> None:
    found = preset(name)
    assert found is not None
    folder = write_directory(tmp_path, found.config, *SEQUENCE, *behind)
    whole = model(folder, "SentenceTransformer")
    assert whole.count().unique == total
    assert model(folder).class_name != "SentenceTransformer"


def test_names_and_what_is_there(tmp_path: Path) -> None:
    behind = dense(768, 512, bias=True, use_residual=True), ("LayerNorm", {"dimension": 512}), ("Dropout", {"dropout": 0.1})
    rows = [
        row.name for row in model(write_directory(tmp_path, {"model_type": "bert"}, *SEQUENCE, *behind), "SentenceTransformer").tensors()
    ]
    assert rows[0] == "0.model.embeddings.word_embeddings.weight"
    assert rows[-5:] == ["2.linear.weight", "2.linear.bias", "2.residual.weight", "3.norm.weight", "3.norm.bias"]


@pytest.mark.parametrize(
    "modules", [[("Transformer", {}), ("LSTM", {})], [("Transformer", {}), ("Dense", {"in_features": -1})], [("BoW", {})]], ids=str
)
def test_what_is_not_described_is_refused(tmp_path: Path, modules: list[Any]) -> None:
    with pytest.raises(WeighbridgeError):
        model(write_directory(tmp_path, {"model_type": "bert"}, *modules), "SentenceTransformer")


@pytest.mark.parametrize(
    "text", ["{}", "[]", "[1]", '[{"type": 3}]', '[{"type": "Transformer"}, {"type": "Dense", "path": "../x"}]', "[" * 9000]
)
def test_broken_lists_are_refused(tmp_path: Path, text: str) -> None:
    folder = write_directory(tmp_path, {"model_type": "bert"}, *SEQUENCE)
    (folder / "modules.json").write_text(text)
    with pytest.raises(WeighbridgeError):
        model(folder, "SentenceTransformer")


def test_without_a_list_there_is_no_such_class(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(WeighbridgeError):
        model(tmp_path, "SentenceTransformer")


def test_the_first_module_has_no_config_of_its_own_and_as_many_as_sixty_four_are_read(tmp_path: Path) -> None:
    from weighbridge.config.sentence_modules import MOST_MODULES, read_modules

    assert read_modules(tmp_path) == ()
    folder = write_directory(tmp_path, {"model_type": "bert"}, *SEQUENCE, dense(4, 8))
    found = read_modules(folder)
    assert [(module.name, module.kind, module.config) for module in found] == [
        ("0", "Transformer", {}),
        ("1", "Pooling", {}),
        ("2", "Dense", {"in_features": 4, "out_features": 8, "bias": False}),
    ]
    entry = {"type": "Normalize", "path": "2_Gone"}
    (folder / "modules.json").write_text(json.dumps([entry] * MOST_MODULES))
    assert [(module.name, module.config) for module in read_modules(folder)] == [(str(index), {}) for index in range(MOST_MODULES)]
    for count in (0, MOST_MODULES + 1):
        (folder / "modules.json").write_text(json.dumps([entry] * count))
        with pytest.raises(WeighbridgeError, match=f"modules.json: expected a list of up to {MOST_MODULES} modules"):
            read_modules(folder)
