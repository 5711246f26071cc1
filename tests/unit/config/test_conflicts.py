"""Two names of one field that disagree: the class sets its ``attribute_map`` names last, and what is used is said."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weighbridge import ConfigError, model
from weighbridge.blueprints import MODULES, family
from weighbridge.config.bind import alias_value, with_overrides
from weighbridge.config.check import alias_notes
from weighbridge.config.fields import Field, size


def fields_with_aliases(fields: tuple[Field, ...]) -> Iterator[tuple[Field, tuple[str, ...]]]:
    """Yield the fields that have several keys, and those."""
    for field in fields:
        keys = tuple(dict.fromkeys(key for key in (field.key, *field.aliases) if key))
        if field.kind not in ("derived", "nested") and len(keys) > 1:
            yield field, keys


ALIASED = [model_type for model_type in MODULES if any(fields_with_aliases(family(model_type).fields))]
assert len(ALIASED) > 50


def test_of_every_pair_of_names_the_one_that_is_used_is_said() -> None:
    for field, keys in [pair for model_type in ALIASED for pair in fields_with_aliases(family(model_type).fields)]:
        for index, first in enumerate(keys):
            for second in keys[index + 1 :]:
                assert alias_notes((field,), {first: 768, second: 768}) == []
                assert alias_notes((field,), {first: 768, second: None}) == []
                assert alias_value(field, {first: 768, second: 1024}) == 1024
                assert alias_notes((field,), {first: 768, second: 1024}) == [
                    f"{second}: 1024 is used, not {first}: 768; both name the same field, and the class sets {second} last"
                ]


def test_the_counts_are_those_of_the_live_classes() -> None:
    """Recorded from GPT2Config and OlmoeConfig of transformers 5.23.0: whichever stands first, the mapped name wins."""
    for raw in ({"n_layer": 3, "num_hidden_layers": 5}, {"num_hidden_layers": 5, "n_layer": 3}):
        found = model({"model_type": "gpt2", **raw})
        assert found.count().unique == model({"model_type": "gpt2", "n_layer": 5}).count().unique
        assert "num_hidden_layers: 5 is used, not n_layer: 3" in found.notes[0]
    olmoe = model({"model_type": "olmoe", "num_local_experts": 16, "num_experts": 8})
    assert olmoe.count().unique == model({"model_type": "olmoe", "num_experts": 16}).count().unique


THREE = size("layers", "n_layer", 12, "L", "layers", "num_hidden_layers", "num_layers")


def test_of_three_names_the_last_in_the_config_wins() -> None:
    assert alias_value(THREE, {"num_layers": 3, "n_layer": 1, "num_hidden_layers": 2}) == 2
    assert alias_value(THREE, {"num_hidden_layers": 2, "num_layers": 3}) == 3
    assert alias_value(THREE, {"n_layer": 1, "num_layers": None}) is None


@pytest.mark.parametrize("key", ["n_layer", "num_hidden_layers", "num_layers"])
def test_what_is_set_by_hand_wins_over_every_other_name(key: str) -> None:
    raw = {"n_layer": 1, "num_hidden_layers": 2, "num_layers": 3}
    found = with_overrides(raw, {key: 7}, (THREE,))
    assert (alias_value(THREE, found) or found["n_layer"]) == 7
    assert (
        model({"model_type": "gpt2", "num_hidden_layers": 2}, overrides={"n_layer": 7}).count().unique
        == model({"model_type": "gpt2", "n_layer": 7}).count().unique
    )
    said = model("gpt2", overrides={"num_hidden_layers": 3}).notes
    assert not any("both name" in note for note in said), "what is set on purpose is no disagreement"


def test_where_published_code_and_class_take_different_ones_it_is_refused() -> None:
    with pytest.raises(ConfigError, match="the published code takes n_embd: 768, the library's class hidden_size"):
        model({"model_type": "nomic_bert", "n_embd": 768, "hidden_size": 48})


def test_inside_a_sub_config_too() -> None:
    raw = {"model_type": "llava", "text_config": {"model_type": "gpt2", "num_hidden_layers": 2}}
    found = model(raw, overrides={"text_config.n_layer": 3})
    assert found.count().unique == model({"model_type": "llava", "text_config": {"model_type": "gpt2", "n_layer": 3}}).count().unique


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ({"model_type": "gpt2", "num_hidden_layers": 2, "hidden_size": 24}, {"model_type": "gpt2", "n_layer": 2, "n_embd": 24}),
        ({"model_type": "gpt2", "num_hidden_layers": 2, "n_layer": 3}, {"model_type": "gpt2", "n_layer": 2}),
        ({"model_type": "flex_olmo", "num_local_experts": 6}, {"model_type": "flex_olmo", "num_experts": 6}),
        (
            {"model_type": "llava", "text_config": {"model_type": "gpt2", "num_hidden_layers": 2}},
            {"model_type": "llava", "text_config": {"model_type": "gpt2", "n_layer": 2}},
        ),
    ],
)
def test_formulas_have_a_letter_for_a_size_whatever_name_it_has(raw: dict[str, object], plain: dict[str, object]) -> None:
    assert str(model(raw).formula()) == str(model(plain).formula())
    assert model(raw).symbolic()[2] == model(plain).symbolic()[2]
