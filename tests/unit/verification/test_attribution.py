"""What explains that two models have unlike counts: each field by a count of its own, and all of it adds up."""

from __future__ import annotations

import random

import pytest

import weighbridge
from weighbridge.accounts.compare import Attribution

SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size", "max_position_embeddings", "type_vocab_size")


def explain(a: object, b: object) -> Attribution:
    """Explain one difference."""
    (found,) = weighbridge.compare([a, b]).explained
    assert found is not None
    return found


@pytest.mark.parametrize("seed", range(20))
def test_causes_and_their_interaction_add_up_to_the_difference(seed: int) -> None:
    rng = random.Random(seed)
    a, b = ({"model_type": "bert", "num_attention_heads": 4, **{key: 4 * rng.randrange(1, 60) for key in SIZES}} for _ in range(2))
    found = explain(a, b)
    counts = [weighbridge.count(raw).unique for raw in (a, b)]
    assert found.difference == counts[1] - counts[0]
    assert sum(cause.amount for cause in found.causes) + found.interaction == found.difference
    for cause in found.causes:
        alone = weighbridge.count({**a, **{key: b[key] for key in cause.fields}}).unique
        assert cause.amount == alone - counts[0]


def test_one_field_explains_all_of_it_without_interaction() -> None:
    found = explain("bert-base-uncased", "bert-base-chinese")
    assert [(cause.fields, cause.a, cause.b, cause.amount) for cause in found.causes] == [(("vocab_size",), "30522", "21128", -7214592)]
    assert found.interaction == 0


def test_fields_that_make_no_model_apart_are_changed_together() -> None:
    found = explain("bert-base-uncased", "bert-large-uncased")
    assert {cause.fields for cause in found.causes} == {
        ("num_hidden_layers",),
        ("hidden_size", "num_attention_heads"),
        ("intermediate_size",),
    }


def test_fields_of_sub_configs_and_those_that_are_left_out_are_named() -> None:
    text = {
        "model_type": "llama",
        "hidden_size": 64,
        "num_attention_heads": 4,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "vocab_size": 50,
    }
    a = {"model_type": "llava", "text_config": text}
    found = explain(a, {"model_type": "llava", "text_config": {**text, "vocab_size": 70, "head_dim": 32}})
    assert {cause.fields for cause in found.causes} == {("text_config.vocab_size",), ("text_config.head_dim",)}
    assert next(cause.a for cause in found.causes if "head_dim" in cause.fields[0]) == "–"


def test_another_class_is_a_cause_of_its_own() -> None:
    a, b = weighbridge.model("bert-tiny"), weighbridge.model("bert-tiny", "BertForMaskedLM")
    found = explain(a, b)
    assert [(cause.fields, cause.b) for cause in found.causes] == [(("class",), "BertForMaskedLM")]
    assert found.interaction == 0


def test_configs_of_other_keys_are_not_explained() -> None:
    assert weighbridge.compare(["bert-base-uncased", "gpt2"]).explained == (None,)
