"""A class inside a whole config, such as the text half of CLIP: what live classes have that were built from the live sub-configs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.shares import groups
from weighbridge import model
from weighbridge.blueprints.describe import builders_in
from weighbridge.core.errors import UnknownArchitecture

RECORDED = Path(__file__).parents[2] / "truth" / "keys" / "inner_classes.jsonl"
ENTRIES = [json.loads(line) for line in RECORDED.read_text("utf-8").splitlines()]


def test_hundreds_of_classes_are_recorded() -> None:
    assert len(ENTRIES) > 150 and sum(len(entry["cases"]) for entry in ENTRIES) > 1500


@pytest.mark.parametrize("entries", groups(ENTRIES))
def test_inner_classes_have_what_the_live_ones_have(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        for index, class_name, live in entry["cases"]:
            assert model(entry["configs"][index], class_name).count().unique == live, (class_name, entry["configs"][index])


def test_what_the_outer_class_puts_into_a_sub_config_counts() -> None:
    config = {"model_type": "instructblip", "vision_config": {"hidden_size": 64, "num_attention_heads": 4}}
    keys = {row.name: row.shape for row in model(config, "InstructBlipQFormerModel").tensors()}
    assert keys["encoder.layer.0.crossattention.attention.key.weight"] == (768, 64)


def test_sub_configs_three_deep_are_found() -> None:
    assert builders_in({"model_type": "sam3_video"}, "Sam3ViTModel")[0] == "detector_config.vision_config.backbone_config"


def test_the_sub_config_is_named_and_so_are_others_that_would_do() -> None:
    found = model({"model_type": "clvp"}, "ClvpEncoder")
    assert found.notes[-2] == "ClvpEncoder is built from text_config; the whole config is one of ClvpModelForConditionalGeneration"
    assert found.notes[-1] == "speech_config would build another ClvpEncoder"


def test_a_class_that_no_sub_config_builds_is_refused() -> None:
    with pytest.raises(UnknownArchitecture, match="no class 'BertModel' of model type 'clip'"):
        model({"model_type": "clip"}, "BertModel")


def test_what_the_bytes_bring_into_blts_large_model_follows_from_the_encoder_around_it() -> None:
    """BltGlobalTransformer of transformers 5.23.0, built on the meta device from the global_config of such a BltConfig."""
    raw = {"model_type": "blt", "encoder_config": {"hidden_size": 8, "num_attention_heads": 1}, "global_config": {"num_hidden_layers": 1}}
    assert model(raw, "BltGlobalTransformer").count().unique == 51_417_088
