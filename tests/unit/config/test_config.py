"""Configs: sizes and switches, with the key path in every complaint."""

from __future__ import annotations

from typing import Any

import pytest

import weighbridge
from weighbridge.blueprints.stated_type import refuse_deep
from weighbridge.config.bind import LARGEST, bind, with_overrides, without_key
from weighbridge.config.check import derivation_notes, missing_fields, unknown_keys
from weighbridge.config.fields import (
    LABELS,
    TIED,
    Field,
    choice,
    constant,
    nested,
    optional,
    sequence,
    sides,
    size,
    switch,
    variant,
)
from weighbridge.config.read import parse_config
from weighbridge.config.symbols import symbols
from weighbridge.core.errors import ConfigError
from weighbridge.core.suggestions import did_you_mean

HIDDEN = size("hidden", "hidden_size", 768, "H", "hidden size", "n_embd", "d_model")
FIELDS: tuple[Field, ...] = (HIDDEN, LABELS, TIED, sequence("kinds", "layer_types", None), choice("act", "hidden_act", "gelu"))
INNER = (nested("text", "text_config", (HIDDEN, switch("gated", "gated", False))),)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"hidden_size": "768"}, "hidden_size: expected a whole number, found the string '768' (the class default is 768)"),
        ({"hidden_size": True}, "hidden_size: expected a whole number, found true (the class default is 768)"),
        ({"hidden_size": 1.5}, "hidden_size: expected a whole number, found 1.5 (the class default is 768)"),
        ({"hidden_size": float("nan")}, "hidden_size: expected a whole number, found NaN (the class default is 768)"),
        ({"hidden_size": float("inf")}, "hidden_size: expected a whole number, found Infinity (the class default is 768)"),
        ({"hidden_size": [768]}, "hidden_size: expected a whole number, found the list [768] (the class default is 768)"),
        ({"hidden_size": 0}, "hidden_size: 0 is not possible, the smallest is 1 (the class default is 768)"),
        ({"hidden_size": -1}, "hidden_size: -1 is not possible, the smallest is 1 (the class default is 768)"),
        (
            {"hidden_size": 10**30},
            "hidden_size: no model has a size of 100 bits (the largest accepted is 1,000,000,000,000,000)",
        ),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings: expected true or false, found 'yes'"),
        ({"layer_types": "full"}, "layer_types: expected a list, found the string 'full'"),
        ({"id2label": 3}, "id2label: expected a mapping from index to label"),
        ({"num_labels": -1}, "num_labels: -1 is not possible, the smallest is 0 (the class default is 2)"),
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
    with pytest.raises(ConfigError, match="text_config: expected an object, found the list"):
        bind(INNER, {"text_config": []})
    assert unknown_keys(INNER, {"text_config": {"hiden": 1}}, frozenset()) == ["text_config.hiden"]
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
def test_a_switch_may_be_written_as_one_or_zero_where_the_class_takes_that(value: object, tied: bool) -> None:
    """Grok's code stands beside its files, and checks nothing; the library's own classes are strict."""
    causal = weighbridge.model({"model_type": "grok", "tie_word_embeddings": value}).count()
    assert (causal.duplicated != causal.unique) is tied


@pytest.mark.parametrize("value", [0, 1, 2, -1, 1.0, "true", []])
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


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("robert", ["roberta"], True),
        ("robertaa", ["roberta"], True),
        ("roebrta", ["roberta"], True),
        ("rbotera", ["roberta"], False),
        ("robertb", ["roberta"], False),
        ("deberta2", ["deberta3"], False),
        ("distilbort", ["distilbert"], True),
        ("distolbort", ["distilbert"], False),
        ("xoberta", ["roberta"], False),
        ("gpt_neo", ["gpt_nex"], False),
        ("gpt_neoo", ["gpt_neox"], True),
        ("mamba2", ["mamba"], False),
    ],
)
def test_a_slip_is_one_letter_more_or_less_two_exchanged_or_one_wrong_in_a_long_name(name: str, known: list[str], meant: bool) -> None:
    assert bool(did_you_mean(name, known, typos=True)) == meant


def test_sizes_at_their_bounds() -> None:
    assert bind(FIELDS, {"hidden_size": LARGEST}).hidden == bind(FIELDS, {"hidden_size": float(LARGEST)}).hidden == LARGEST == 10**15
    for value in (LARGEST + 1, [LARGEST + 1] * 2):
        with pytest.raises(ConfigError, match="image_size: no model has a size of 50 bits"):
            bind(sides("image", "image_size", 224, "R", ""), {"image_size": value})
    with pytest.raises(ConfigError, match="hidden_act: no model has a size of 50 bits"):
        bind(FIELDS, {"hidden_act": LARGEST + 1})
    assert bind(FIELDS, {"hidden_act": -LARGEST}).act == -LARGEST
    assert len(bind(FIELDS, {"layer_types": ["a"] * 4096}).kinds) == 4096
    with pytest.raises(ConfigError, match=r"layer_types: no model has a list of 4,097 entries \(the longest accepted is 4,096\)"):
        bind(FIELDS, {"layer_types": ["a"] * 4097})


def nest(depth: int) -> Any:
    """Return mappings and lists within each other."""
    value: Any = 1
    for level in range(depth):
        value = {"a": value} if level % 2 else [value]
    return value


def test_configs_are_bounded_in_depth_and_in_keys() -> None:
    refuse_deep({"a": nest(59)})
    refuse_deep({str(index): index for index in range(5000)})
    refuse_deep({"inner": {str(index): index for index in range(6000)}})
    with pytest.raises(ConfigError, match="the config is nested deeper than 60 levels"):
        refuse_deep({"a": nest(61)})
    with pytest.raises(ConfigError, match="5,001 keys, more than any config has"):
        refuse_deep({str(index): index for index in range(5001)})


def test_a_pair_as_default_belongs_to_the_height_and_the_width() -> None:
    fields = sides("patch", "patch_size", (14, 16), "P", "")
    assert [bind(fields, {}).patch_height, bind(fields, {}).patch_width] == [14, 16]
    assert [field.report_default for field in fields] == [True, False]
    assert list(missing_fields(fields, {})) == ["patch_height"]


def test_what_a_class_derives_from_other_fields_is_refused_by_their_keys() -> None:
    derived = Field("head_dim", "", lambda c: 10 // c.heads, "derived", aliases=("hidden_size", "num_heads"))
    own = size("inner", "inner_size", lambda c: 10 // c.heads, "I", "")
    heads = size("heads", "num_heads", 1, "A", "", minimum=0)
    for fields, word, keys in (
        ((heads, derived), "head_dim", "text.hidden_size and text.num_heads"),
        ((heads, own), "inner", "text.inner_size"),
    ):
        with pytest.raises(ConfigError) as caught:
            getattr(bind(fields, {"num_heads": 0}, path="text."), word)
        assert caught.value.key == keys
        assert "cannot be computed from the other fields: " in str(caught.value)


def test_a_value_that_its_rule_does_not_bear_is_refused_with_its_path() -> None:
    with pytest.raises(ConfigError) as caught:
        bind(
            (nested("text", "text_config", (choice("depth", "depths", None, read=lambda value: value[5]),)),),
            {"text_config": {"depths": [1]}},
        )
    assert caught.value.key == "text_config.depths"
    assert str(caught.value).startswith("text_config.depths: [1] is not a value this field can take: ")


def test_a_sub_config_of_another_kind_is_refused_by_its_path() -> None:
    with pytest.raises(ConfigError, match="text_config: expected an object, found the list"):
        bind(INNER, {"text_config": [1]})
    with pytest.raises(ConfigError, match=r"text_config\.gated: expected true or false, found 'on'"):
        bind(INNER, {"text_config": {"gated": "on"}})


def test_a_variant_changes_defaults_names_and_places() -> None:
    base = (size("hidden", "hidden_size", 768, "H", ""), switch("biased", "bias", True), size("mlp", "inner", 4, "I", ""))
    renamed = variant(base, constant("gate", 1), mlp=size("experts", "num_experts", 8, "E", ""), biased=False)
    assert [(field.word, field.default) for field in renamed] == [("hidden", 768), ("biased", False), ("experts", 8), ("gate", 1)]
    again = variant(base, size("mlp", "other", 9, "J", ""), mlp=size("experts", "num_experts", 8, "E", ""))
    assert [field.key for field in again] == ["hidden_size", "bias", "num_experts", "other"]
    replaced = variant(base, switch("biased", "use_bias", False))
    assert [field.key for field in replaced] == ["hidden_size", "use_bias", "inner"]
    with pytest.raises(KeyError, match="no such fields: nothing"):
        variant(base, nothing=1)


def test_a_constant_is_no_default_that_is_said() -> None:
    assert missing_fields((constant("gated", True), optional("rank", "q_rank", None, "R", "")), {}) == {"rank": "q_rank"}
    assert missing_fields((optional("rank", "q_rank", None, "R", ""),), {"q_rank": None}) == {}


@pytest.mark.parametrize(
    ("entries", "stated", "notes"),
    [(3, 3, 0), (4, 3, 1), (2, 3, 0)],
)
def test_entries_beyond_the_layers_are_said_to_be_left_out(entries: int, stated: int, notes: int) -> None:
    fields = (size("layers", "num_hidden_layers", 2, "L", ""), choice("kinds", "layer_types", None))
    raw = {"num_hidden_layers": stated, "layer_types": ["a"] * entries}
    said = derivation_notes(fields, raw, bind(fields, raw))
    assert said == ([f"layer_types: {entries} entries for {stated} layers; those beyond are left out"] if notes else [])


def test_a_list_of_stages_is_compared_with_the_stages() -> None:
    fields = (size("stages", "num_stages", 2, "N", ""), sequence("widths", "hidden_sizes", [8, 8]))
    for count, note in ((2, []), (3, ["hidden_sizes: 3 entries for 2 stages; those beyond are left out"])):
        raw = {"num_stages": 2, "hidden_sizes": [8] * count}
        assert derivation_notes(fields, raw, bind(fields, raw)) == note
    alone = (sequence("widths", "hidden_sizes", [8, 8]),)
    assert derivation_notes(alone, {"hidden_sizes": [8] * 9}, bind(alone, {"hidden_sizes": [8] * 9})) == []


def test_symbols_of_sub_configs_have_their_own_letters_paths_and_order() -> None:
    fields = (size("hidden", "hidden_size", 768, "H", ""), *INNER)
    raw = {"hidden_size": 8, "text_config": {"hidden_size": 4, "model_type": "inner"}}
    found = symbols(fields, raw, bind(fields, raw))
    inner = found["text_config"]
    assert (found["hidden_size"].letter, inner["hidden_size"].letter) == ("H", "H_text")
    assert (inner["hidden_size"].key, inner["model_type"]) == ("text_config.hidden_size", "inner")
    assert inner["hidden_size"].order > 100 > found["hidden_size"].order
    pair = sides("image", "image_size", 224, "R", "")
    after = (*pair, size("patch", "patch_size", 16, "P", ""))
    assert set(symbols(after, {"image_size": [8, 16]}, bind(after, {"image_size": [8, 16]}))) == {"patch_size"}


def test_a_key_is_taken_out_by_its_path() -> None:
    raw = {"a": 1, "text_config": {"b": 2}}
    assert without_key(raw, "a") == {"text_config": {"b": 2}}
    assert without_key(raw, "text_config.b") == {"a": 1, "text_config": {}}
    assert without_key(raw, "a.b") == raw


@pytest.mark.parametrize(
    ("text", "what"),
    [("[1]", "a list"), ('"x"', "a string"), ("3", "a number"), ("2.5", "a number"), ("true", "true or false"), ("null", "null")],
)
def test_a_config_is_an_object(text: str, what: str) -> None:
    with pytest.raises(ConfigError, match=f"holds {what}, expected an object with the config's keys"):
        parse_config(text.encode(), "config.json")


def test_a_key_that_stands_twice_is_named() -> None:
    with pytest.raises(ConfigError, match=r"b: the key occurs twice in one object \(keep one\)"):
        parse_config(b'{"a": 1, "b": 2, "c": 3, "b": 4}', "config.json")


def test_a_model_without_layers_has_letters_for_its_other_sizes() -> None:
    _, letters, values = weighbridge.model({"model_type": "bert", "num_hidden_layers": 0}).symbolic()
    assert "L" not in letters
    assert {"I", "S", "T"} <= set(letters)
    assert values["I"] == 3072


def test_standard_input_that_is_closed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(weighbridge.UsageError, match="standard input is closed"):
        weighbridge.model("-")
