"""Configs: sizes and switches, with the key path in every complaint."""

from __future__ import annotations

from typing import Any

import pytest

import weighbridge
from weighbridge.config.bind import bind, with_overrides
from weighbridge.config.check import missing_fields, unknown
from weighbridge.config.fields import LABELS, TIED, Field, choice, nested, sequence, sides, size, switch
from weighbridge.config.read import parse_config
from weighbridge.config.symbols import symbols
from weighbridge.core.errors import ConfigError

HIDDEN = size("hidden", "hidden_size", 768, "H", "hidden size", "n_embd", "d_model")
FIELDS: tuple[Field, ...] = (HIDDEN, LABELS, TIED, sequence("kinds", "layer_types", None), choice("act", "hidden_act", "gelu"))
INNER = (nested("text", "text_config", (HIDDEN, switch("gated", "gated", False))),)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"hidden_size": "768"}, "hidden_size: expected a whole number, found str '768' (the class default is 768)"),
        ({"hidden_size": True}, "hidden_size: expected a whole number, found a bool (the class default is 768)"),
        ({"hidden_size": 1.5}, "hidden_size: expected a whole number, found float 1.5 (the class default is 768)"),
        ({"hidden_size": float("nan")}, "hidden_size: expected a whole number, found float nan (the class default is 768)"),
        ({"hidden_size": float("inf")}, "hidden_size: expected a whole number, found float inf (the class default is 768)"),
        ({"hidden_size": [768]}, "hidden_size: expected a whole number, found list [768] (the class default is 768)"),
        ({"hidden_size": 0}, "hidden_size: 0 is not possible, the smallest is 1 (the class default is 768)"),
        ({"hidden_size": -1}, "hidden_size: -1 is not possible, the smallest is 1 (the class default is 768)"),
        (
            {"hidden_size": 10**30},
            "hidden_size: no model has a size of 100 bits (the largest accepted is 1,000,000,000,000,000)",
        ),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings: expected true or false, found 'yes'"),
        ({"layer_types": "full"}, "layer_types: expected a list, found str"),
        ({"id2label": 3}, "id2label: expected a mapping from index to label"),
        ({"num_labels": 0}, "num_labels: 0 is not possible, the smallest is 1 (the class default is 2)"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_key(raw: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        bind(FIELDS, raw)
    assert str(caught.value) == message
    assert caught.value.key in raw


def test_a_key_path_reaches_into_sub_configs() -> None:
    with pytest.raises(ConfigError, match=r"^text_config\.hidden_size: 0 is not possible"):
        bind(INNER, {"text_config": {"hidden_size": 0}})
    with pytest.raises(ConfigError, match="text_config: expected a mapping, found list"):
        bind(INNER, {"text_config": []})
    assert unknown(INNER, {"text_config": {"hiden": 1}}, frozenset()) == ["text_config.hiden"]
    assert missing_fields(INNER, {"text_config": {"gated": True}}) == {"text.hidden": "text_config.hidden_size"}


def test_a_whole_float_is_the_number_it_says() -> None:
    assert bind(FIELDS, {"hidden_size": 768.0}).hidden == 768


def test_absent_and_null_are_defaulted_and_said() -> None:
    assert bind(FIELDS, {"hidden_size": None}).hidden == 768
    assert missing_fields(
        FIELDS, {"hidden_size": None, "num_labels": 3, "tie_word_embeddings": False, "layer_types": [], "hidden_act": "x"}
    ) == {"hidden": "hidden_size"}


def test_other_names_of_a_field_win_over_its_key() -> None:
    assert bind(FIELDS, {"d_model": 512}).hidden == 512
    assert bind(FIELDS, {"n_embd": 512, "hidden_size": 768}).hidden == 512


@pytest.mark.parametrize(
    ("raw", "labels"),
    [
        ({}, 2),
        ({"num_labels": 3}, 3),
        ({"id2label": {"0": "a"}}, 1),
        ({"num_labels": 4, "id2label": {"0": "a"}}, 4),
        ({"id2label": ["a", "b", "c"]}, 3),
    ],
)
def test_labels_are_stated_or_listed_or_two(raw: dict[str, Any], labels: int) -> None:
    assert bind(FIELDS, raw).labels == labels


def test_symbols_take_the_place_of_sizes_alone() -> None:
    sizes = bind(FIELDS, {"hidden_size": 5})
    lettered = symbols(FIELDS, {"hidden_size": 5}, sizes)
    assert set(lettered) == {"hidden_size", "num_labels"}
    bound = bind(FIELDS, lettered, like=sizes)
    assert str(bound.hidden) == "H"
    assert bound.tied is True


def test_overrides_leave_the_given_config_alone() -> None:
    raw = {"text_config": {"hidden_size": 1}}
    assert with_overrides(raw, {"text_config.hidden_size": 2, "a": 3}) == {"text_config": {"hidden_size": 2}, "a": 3}
    assert raw == {"text_config": {"hidden_size": 1}}


def test_hidden_must_divide_by_heads() -> None:
    with pytest.raises(ConfigError) as caught:
        weighbridge.model({"model_type": "bert", "hidden_size": 770})
    assert str(caught.value) == ("hidden_size (770) is not divisible by num_attention_heads (12); change one of them")


IMAGE = sides("image", "image_size", (512, 864), "R", "side of the image")


@pytest.mark.parametrize(
    ("raw", "height", "width"),
    [({}, 512, 864), ({"image_size": 224}, 224, 224), ({"image_size": [224, 448]}, 224, 448)],
)
def test_sides_are_one_number_or_a_height_and_a_width(raw: dict[str, Any], height: int, width: int) -> None:
    sizes = bind(IMAGE, raw)
    assert (sizes.image_height, sizes.image_width) == (height, width)
    assert missing_fields(IMAGE, raw) == ({} if raw else {"image_height": "image_size"})


def test_only_a_single_side_becomes_a_symbol() -> None:
    assert symbols(IMAGE, {"image_size": [2, 3]}, bind(IMAGE, {"image_size": [2, 3]})) == {}
    both = bind(IMAGE, symbols(IMAGE, {"image_size": 2}, bind(IMAGE, {"image_size": 2})))
    assert both.image_height is both.image_width


def test_three_sides_are_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        bind(IMAGE, {"image_size": [1, 2, 3]})
    assert str(caught.value) == "image_size: expected a whole number, or two: height and width"


def test_an_empty_key_is_nobodys() -> None:
    import weighbridge

    plain, poisoned = weighbridge.count({"model_type": "swin"}), weighbridge.count({"model_type": "swin", "": "x"})
    assert plain == poisoned
    assert weighbridge.model({"model_type": "swin", "": "x"}).unknown == [""]
    with pytest.raises(ConfigError, match="swin has no such field"):
        weighbridge.model({"model_type": "swin"}, None, {"": "x"})


@pytest.mark.parametrize(("value", "tied"), [(True, True), (1, True), (False, False), (0, False)])
def test_a_switch_may_be_written_as_one_or_zero(value: object, tied: bool) -> None:
    masked = weighbridge.model({"model_type": "bert", "tie_word_embeddings": value}, "BertForMaskedLM").count()
    assert (masked.duplicated != masked.unique) is tied


@pytest.mark.parametrize("value", [2, -1, 1.0, "true", []])
def test_a_switch_is_nothing_else(value: object) -> None:
    with pytest.raises(ConfigError, match=r"tie_word_embeddings: expected true or false, found "):
        weighbridge.model({"model_type": "bert", "tie_word_embeddings": value})


@pytest.mark.parametrize("codec", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ['{"model_type": "bert"}', '{"配置": 1}'])
def test_utf_16_is_told_with_a_mark_at_its_beginning_or_without(codec: str, text: str) -> None:
    """Every second byte of a brace is zero."""
    with pytest.raises(ConfigError, match="is UTF-16 text; save it as UTF-8"):
        parse_config(text.encode(codec), "a.json")


@pytest.mark.parametrize("model_type", ["llama", "bert", "mixtral", "t5", "clip", "mamba2", "deepseek_v3"])
def test_a_default_that_is_said_has_a_key(model_type: str) -> None:
    """What no key states is a trait of the architecture and no default of the config."""
    defaulted = weighbridge.model({"model_type": model_type}).defaulted
    assert "hidden_size" in defaulted or "d_model" in defaulted or model_type == "clip"
    assert all(path and not path.endswith(".") for path in defaulted)
