"""Presets: found by the names that people type, and each published total joined to its preset by a convention."""

from __future__ import annotations

import pytest

from tests.shares import share
from weighbridge import SourceError, model
from weighbridge.presets import fold_name, preset, preset_like, presets, typed_names
from weighbridge.presets.aliases import lookup

HELD = [found for found in presets() if found.total is not None]
TYPED = [
    ("Qwen3-Embedding-0.6B", "qwen3-embedding-0.6b"),
    ("paraphrase-multilingual-MiniLM-L12-v2", "multilingual-e5-small"),
    ("multilingual e5 small", "multilingual-e5-small"),
    ("layoutlmv3_base", "layoutlmv3-base"),
    ("TrOCR-base", "trocr-base-handwritten"),
    ("grounding_dino_tiny", "grounding-dino-tiny"),
    ("BLIP2-OPT-2.7B", "blip2-opt-2.7b"),
    ("Meta-Llama-3-8B-Instruct", "llama-3-8b"),
    ("mistralai/mistral-7b-v0.1", "mistral-7b-v0.1"),
    ("BERT base Chinese", "bert-base-chinese"),
    ("t5-v1.1-small", "t5-v1_1-small"),
    ("opt-1.3B", "opt-1.3b"),
    ("OPT-13B", "opt-13b"),
    ("bert_base_en_uncased", "bert-base-uncased"),
    ("Whisper_Tiny.EN", "whisper-tiny.en"),
    ("chinchilla 2980M", "chinchilla-2980m"),
    ("Chinchilla 70B", "chinchilla-70b"),
    ("Gopher 280B", "gopher-280b"),
]


def test_many_are_held_to_a_published_total() -> None:
    assert len(HELD) > 250


def test_only_an_exact_total_confirms_what_is_from_memory() -> None:
    """A rounded figure, such as 13B, is met by many configs."""
    assert [found.name for found in presets() if "confirmed by the published total" in found.source and found.total is None] == []


@pytest.mark.parametrize("found", share(HELD, 4, lambda found: found.name))
def test_the_published_total_is_joined_by_its_convention(found: object) -> None:
    assert hasattr(found, "total") and hasattr(found, "name")
    first = model(found.name).reconcile(found.total.value).matches[0]
    assert (first.convention, first.value, first.how) == (found.total.convention, found.total.value, "exact")


@pytest.mark.parametrize(("typed", "name"), TYPED)
def test_names_that_people_type(typed: str, name: str) -> None:
    found = preset_like(typed)
    assert found is not None and found.name == name
    assert model(typed).count() == model(name).count()


def test_no_two_presets_answer_to_one_name() -> None:
    seen: dict[str, str] = {}
    for found in presets():
        for name in set(map(fold_name, typed_names(found))):
            assert seen.setdefault(name, found.name) == found.name


def test_a_model_of_another_owner_leaves_a_name_to_its_own() -> None:
    assert [preset(name).name for name in ("klue/roberta-base", "roberta-base")] == ["klue-roberta-base", "roberta-base"]  # type: ignore[union-attr]


def test_other_names_are_known_as_they_stand() -> None:
    for found in presets():
        for name in found.names:
            other = preset(name)
            assert other is not None and other.name == found.name


def test_a_directory_comes_before_a_name_in_another_case(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    from weighbridge import WeighbridgeError

    assert isinstance(tmp_path, Path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "BERT-Base-Chinese").mkdir()
    with pytest.raises(WeighbridgeError, match="no weights"):
        model("BERT-Base-Chinese")


def test_a_preset_keeps_its_own_name_beside_a_hub_id_that_ends_in_it() -> None:
    """In a long-lived process klue/roberta-base was once given for roberta-base, after it had been asked for."""
    assert model("klue-roberta-base").count().unique == 110_618_112
    assert model("roberta-base").count().unique == 124_645_632
    own = {found.name for found in presets()}
    assert [(found.name, name) for found in presets() for name in found.names if name in own and name != found.name] == []


def test_an_id_among_the_other_names_may_be_typed_without_its_owner() -> None:
    """The published ids: bigscience/mt0-base is mT5, microsoft/wavlm-base-plus is WavLM; a part of a pipeline is not the pipeline."""
    assert [preset_like(name).name for name in ("mt0-base", "WavLM base plus", "ul2")] == ["mt5-base", "wavlm-base", "flan-ul2"]  # type: ignore[union-attr]
    assert preset_like("stable-diffusion-v1-5") is None


@pytest.mark.parametrize("name", ["convnextv2-base", "paligemma2-3b", "kosmos-2"])
def test_nothing_is_suggested_twice(name: str) -> None:
    meant = lookup(name)
    assert meant is None or len(set(meant.names)) == len(meant.names)


@pytest.mark.parametrize(
    ("typed", "hint"),
    [("decision-transformer-gym", "decision_transformer"), ("visualbert-nlvr2", "visual_bert"), ("sew-d-tiny-100k", "sew-d")],
)
def test_a_type_is_named_whatever_separates_its_words(typed: str, hint: str) -> None:
    with pytest.raises(SourceError, match=f"; {hint} is a model type that is known"):
        model(typed)


def test_a_preset_of_each_type_is_derived_in_letters() -> None:
    first = {str(entry.config.get("model_type") or entry.config.get("_class_name")): entry.name for entry in reversed(list(presets()))}
    assert len(first) > 350
    for name in first.values():
        found = model(name)
        assert found.explain().total == found.count().unique, name
