"""What the reference builds is weighed as it resolves it, with a note where that surprises; what it refuses is refused."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import model
from weighbridge.core.errors import ConfigError


def count(raw: dict[str, Any], class_name: str | None = None) -> int:
    unique = model(raw, class_name).count().unique
    assert isinstance(unique, int)
    return unique


def test_an_alias_comes_after_the_derivations_of_the_class() -> None:
    found = model({"model_type": "t5", "num_hidden_layers": 3})
    assert found.count().unique == 51_066_368
    assert any("num_decoder_layers: 6" in note for note in found.notes)
    assert count({"model_type": "t5", "num_layers": 3}) == 38_478_848
    assert model({"model_type": "t5", "num_layers": 3}).notes == ()


@pytest.mark.parametrize(
    ("raw", "note"),
    [
        (
            {"model_type": "mamba", "intermediate_size": 1600},
            "intermediate_size: 1600 is used as given, though the other fields give 1536",
        ),
        ({"model_type": "cohere2", "head_dim": 64}, "head_dim: 64 is used as given, though the other fields give 128"),
        (
            {"model_type": "bros", "dim_bbox_projection": 32},
            "dim_bbox_projection: 32 is used as given, though the other fields give 64",
        ),
        (
            {"model_type": "hy_v3", "num_hidden_layers": 2, "mlp_layer_types": ["dense"] * 3},
            "3 entries for 2 layers; those beyond are left out",
        ),
    ],
)
def test_what_stands_beside_what_follows_is_taken_and_noted(raw: dict[str, Any], note: str) -> None:
    assert any(note in found for found in model(raw).notes)


@pytest.mark.parametrize(
    "raw",
    [
        {"model_type": "bert", "type_vocab_size": 0},
        {"model_type": "bert", "id2label": {}, "architectures": ["BertForSequenceClassification"]},
        {"model_type": "bit", "depths": [3, 4, 6]},
        {"model_type": "convnext", "num_stages": 3},
        {"model_type": "segformer", "num_encoder_blocks": 3},
        {"model_type": "switch_transformers", "encoder_sparse_step": 2},
        {"model_type": "mobilebert", "num_attention_heads": 3},
        {"model_type": "rt_detr", "encoder_attention_heads": 7},
    ],
)
def test_what_the_class_does_not_mind_is_weighed(raw: dict[str, Any]) -> None:
    assert count(raw) > 0


def test_a_gate_that_is_stated_is_a_gate() -> None:
    gated = {"model_type": "t5", "feed_forward_proj": "gated-relu"}
    assert count({"model_type": "t5", "is_gated_act": True}) == count(gated)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            {"model_type": "gpt_neo", "attention_types": [[["global", "local"], 5]]},
            "attention_types: gives the kinds of 10 layers, but num_layers is 24",
        ),
        (
            {"model_type": "mpt", "attn_config": {"attn_type": "grouped_query_attention"}},
            "attn_config.attn_type: the reference library builds no MPT with 'grouped_query_attention'",
        ),
        ({"model_type": "convnext", "num_stages": 5}, "depths: 4 entries, but num_stages is 5 (one for each stage)"),
    ],
)
def test_what_the_class_refuses_is_refused(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        model(raw)
    assert str(caught.value) == message


FOUND_AT_RANDOM: list[tuple[dict[str, Any], int]] = [
    ({"model_type": "phi4_multimodal", "audio_config": {"nemo_final_size": 11}}, 4_694_720_960),
    ({"model_type": "idefics", "vision_config": {"embed_dim": 768, "hidden_size": 384}}, 12_255_836_992),
    ({"model_type": "xmod", "languages": ["en_XX", "en_XX"]}, 116_573_952),
    ({"model_type": "patchtsmixer", "num_patches": 1}, 1_251),
    ({"model_type": "patchtsmixer", "num_patches": 5, "patch_length": 9}, 1_667),
    ({"model_type": "gte", "hidden_size": 769}, 305_765_899),
    ({"model_type": "nomic_bert", "hidden_size": 769}, 136_909_684),
]
"""What random tests of every key of every type found, with the parameters of the live class (transformers 5.23.0, 2026-11-22)."""


@pytest.mark.parametrize(("raw", "unique"), FOUND_AT_RANDOM, ids=lambda value: value["model_type"] if isinstance(value, dict) else "")
def test_what_was_found_at_random(raw: dict[str, Any], unique: int) -> None:
    assert count(raw) == unique


def test_a_size_that_the_class_makes_of_others_follows_what_is_set() -> None:
    tower: dict[str, Any] = {"model_type": "step3p5_vision"}
    assert model(tower, overrides={"hidden_size": 1280}).count() == model({**tower, "hidden_size": 1280}).count()
    with pytest.raises(ConfigError, match="intermediate_size: the class makes 8960 of other keys, whatever is said here"):
        model(tower, overrides={"intermediate_size": 4096})
