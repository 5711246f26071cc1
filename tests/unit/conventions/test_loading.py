"""As built, as loaded, as an older release builds it: the figures that everybody prints, and where they differ."""

from __future__ import annotations

import json

import pytest

from weighbridge import model
from weighbridge.cli import main
from weighbridge.conventions.loading import loading_of


@pytest.mark.parametrize(
    ("name", "built", "loaded"),
    [
        ("flan-t5-small", 60_511_616, 76_961_152),
        ("flan-t5-base", 222_903_552, 247_577_856),
        ("flan-t5-large", 750_251_008, 783_150_080),
        ("mt5-small", 172_119_424, 300_176_768),
    ],
)
def test_a_head_of_its_own_is_loaded(name: str, built: int, loaded: int) -> None:
    found = loading_of(model(name))
    assert found is not None
    assert (found.built, found.loaded, found.separate) == (built, loaded, ("lm_head.weight",))
    assert model(name).reconcile(loaded).matches[0].convention == "T5ForConditionalGeneration as loaded from its published file".replace(
        "T5", "MT5" if name.startswith("m") else "T5"
    )


@pytest.mark.parametrize("name", ["t5-small", "bert-base-uncased", "gpt2", "llama-3.2-1b"])
def test_most_models_are_loaded_as_they_are_built(name: str) -> None:
    found = loading_of(model(name))
    assert found is not None and not found.differs


def test_a_head_that_a_composite_holds() -> None:
    config = {"model_type": "blip-2", "architectures": ["Blip2ForConditionalGeneration"]}
    tied = loading_of(model({**config, "text_config": {"model_type": "t5"}}))
    own = loading_of(model({**config, "text_config": {"model_type": "t5", "tie_word_embeddings": False}}))
    assert tied is not None and not tied.differs
    assert own is not None and own.separate == ("language_model.lm_head.weight",)


def test_it_stands_everywhere(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", "flan-t5-base", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["built"], answer["loaded"], answer["separate"]) == (222_903_552, 247_577_856, ["lm_head.weight"])
    assert main(["count", "flan-t5-base"]) == 0
    assert "As loaded from its published file: 247,577,856, with lm_head.weight of its own" in capsys.readouterr().out
    assert 247_577_856 in [row.value for row in model("flan-t5-base").counts() if row.group == "loading"]
    assert main(["count", "t5-base", "--json"]) == 0
    assert "loaded" not in json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("config", "built", "older"),
    [
        ({"model_type": "bert", "architectures": ["BertForMaskedLM"], "tie_word_embeddings": False}, 132_985_716, 132_955_194),
        ({"model_type": "bart", "architectures": ["BartForConditionalGeneration"], "tie_word_embeddings": False}, 560_705_536, 457_762_816),
        ({"model_type": "albert", "architectures": ["AlbertForMaskedLM"], "tie_word_embeddings": False}, 210_238_944, 210_208_944),
        (
            {"model_type": "paligemma", "architectures": ["PaliGemmaForConditionalGeneration"], "tie_word_embeddings": False},
            3_437_037_824,
            2_910_390_528,
        ),
        ({"model_type": "mt5", "architectures": ["MT5ForConditionalGeneration"]}, 172_119_424, 300_176_768),
    ],
)
def test_an_older_release_ties_otherwise(config: dict[str, object], built: int, older: int) -> None:
    """Measured with transformers 5.23.0 and 4.57.6 on the meta device."""
    found = loading_of(model(config))
    assert found is not None
    assert (found.built, found.older) == (built, older)


def test_swin_backbones_had_a_norm_less() -> None:
    found = loading_of(model("grounding-dino-tiny"))
    assert found is not None
    assert (found.built, found.older) == (172_250_626, 172_249_090)
    assert model("grounding-dino-tiny").reconcile(172_249_090).matches[0].convention.endswith("as transformers 4.57 builds it")
