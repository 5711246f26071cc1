"""The table of all counts of BERT, held against figures measured elsewhere."""

from pathlib import Path

import pytest

from weighbridge import Model, model
from weighbridge.conventions.atoms import parts_of
from weighbridge.conventions.counts import CUSTOMS, counts
from weighbridge.conventions.omissions import OMISSIONS, tower_and_head_omissions
from weighbridge.documents.counts import as_json, document


def by_key(weighed: Model) -> dict[str, int | None]:
    return {row.key: row.value for row in weighed.counts() if row.group != "class"}


def test_classes_of_bert() -> None:
    classes = {row.class_name: row.value for row in model("bert-base-uncased").counts() if row.group == "class"}
    assert classes["BertModel"] == 109482240
    assert classes["BertForMaskedLM"] == 109514298
    assert classes["BertForPreTraining"] == 110106428
    assert classes["BertForTokenClassification"] == 108893186
    assert len(classes) == 9


def test_customs_of_bert() -> None:
    found = by_key(model("bert-base-uncased"))
    assert found == {
        "embeddings": 85646592,
        "word-embeddings": 86041344,
        "position-embeddings": 109089024,
        "biases": 109398528,
        "norms": 109443840,
        "matrices": 109360128,
        "pooler": 108891648,
        "layers": 85054464,
        "one-layer": 7087872,
        "scaling-law": 84934656,
        "layers-and-tables": 108888576,
        "published": None,
    }


def test_ties_of_a_head() -> None:
    found = by_key(model("bert-base-uncased", "BertForMaskedLM"))
    assert found["ties"] == 132985716
    assert found["head"] == 108891648


def test_every_count_has_a_definition_and_a_source() -> None:
    for lang in ("en", "zh"):
        for row in model("bert-base-chinese").counts(lang):
            assert row.name
            assert row.definition
            assert row.source


def test_json_and_report_show_the_same_numbers() -> None:
    weighed = model("bert-base-chinese")
    values = [row["value"] or row["published"] for row in as_json(weighed)]
    shown = [row.cells[1] for table in document(weighed).tables for row in table.rows]
    assert sorted(map(str, values)) == sorted(map(str, shown))


def test_every_key_has_its_place_among_the_counting_rules() -> None:
    page = (Path(__file__).parents[3] / "docs" / "counting-rules.md").read_text("utf-8")
    anchors = {word for line in page.splitlines() if line.startswith("### ") for word in line.removeprefix("### ").split(", ")}
    assert {custom.key for custom in CUSTOMS} - anchors == set()
    assert {omission.key for omission in OMISSIONS} - anchors == set()


def test_the_towers_of_a_model_that_sees_make_up_the_whole() -> None:
    rows = {row.name: row.value for row in model("clip-vit-base-patch32").counts() if row.key == "tower"}
    assert rows == {"text_model": 63_165_952, "vision_model": 87_456_000, "visual_projection": 393_216, "text_projection": 262_144}
    assert not [row for row in model("bert-base-uncased").counts() if row.key == "tower"]


def test_a_tower_is_left_out_only_where_something_stands_beside_it() -> None:
    """Of a model that is nothing but a tower, nothing would be left."""
    towers = {"clip": ["the image tower"], "clap": ["the audio tower"], "clip_vision_model": [], "clap_audio_model": [], "bert": []}
    for model_type, expected in towers.items():
        found = tower_and_head_omissions(parts_of(model({"model_type": model_type})))
        assert [one.what for one in found if one.key == "tower"] == expected, model_type


@pytest.mark.parametrize(("name", "laws"), [("detr-resnet-50", 0), ("vit-base-patch16-224", 0), ("gpt2", 2), ("clip-vit-base-patch32", 2)])
def test_scaling_laws_are_of_models_that_read_words(name: str, laws: int) -> None:
    assert sum(row.group == "law" for row in counts(model(name))) == laws
