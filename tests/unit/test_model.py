"""Models: classes, sources, figures of the reference, errors in full."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import weighbridge
from tests.unit.safetensors_file import write as write_tensors
from weighbridge import ConfigError, SourceError, UnknownArchitecture, UsageError, WeighbridgeError
from weighbridge.accounts.parameters import unique_of
from weighbridge.blueprints.stated_type import GOOGLE_KEYS
from weighbridge.presets import presets

TOTALS = [
    ("bert-base-uncased", "BertModel", {}, 109_482_240),
    ("bert-base-chinese", "BertModel", {}, 102_267_648),
    ("bert-large-uncased", "BertModel", {}, 335_141_888),
    ("bert-base-uncased", "BertForMaskedLM", {}, 109_514_298),
    ("bert-base-uncased", "BertForMaskedLM", {"tie_word_embeddings": False}, 132_985_716),
    ("bert-base-uncased", "BertForPreTraining", {}, 110_106_428),
    ("bert-base-uncased", "BertForPreTraining", {"tie_word_embeddings": False}, 133_577_846),
    ("bert-base-uncased", "BertForSequenceClassification", {}, 109_483_778),
    ("bert-base-uncased", "BertForTokenClassification", {}, 108_893_186),
    ("bert-base-uncased", "BertForMultipleChoice", {"num_labels": 7}, 109_483_009),
    ("bert-base-uncased", "BertModel", {"add_pooling_layer": False}, 108_891_648),
    ("bert-base-uncased", "BertModel", {"is_decoder": True, "add_cross_attention": True}, 109_482_240 + 28_366_848),
    ("all-MiniLM-L6-v2", "BertModel", {}, 22_713_216),
]
"""Figures of transformers 5.23.0 with torch 2.13.0 on the meta device."""


@pytest.mark.parametrize(("source", "name", "overrides", "unique"), TOTALS)
def test_totals_of_the_reference(source: str, name: str, overrides: dict[str, Any], unique: int) -> None:
    model = weighbridge.model(source, name, overrides)
    assert model.count().unique == unique
    assert model.class_name == name


def test_three_labels_add_769_to_three_heads_and_nothing_to_the_others() -> None:
    def added(name: str) -> int:
        more = weighbridge.count("bert-base-uncased", name, {"num_labels": 3}).unique
        less = weighbridge.count("bert-base-uncased", name).unique
        assert isinstance(more, int)
        assert isinstance(less, int)
        return more - less

    heads = ("BertForSequenceClassification", "BertForTokenClassification", "BertForQuestionAnswering")
    assert [added(name) for name in heads] == [769, 769, 769]
    assert [added(name) for name in ("BertForMultipleChoice", "BertForNextSentencePrediction", "BertForMaskedLM")] == [0, 0, 0]


def test_the_class_is_what_the_config_says_else_the_base() -> None:
    assert weighbridge.model({"model_type": "bert"}).class_name == "BertModel"
    assert weighbridge.model({"architectures": ["BertForMaskedLM"]}).class_name == "BertForMaskedLM"
    assert weighbridge.model({"model_type": "bert", "architectures": ["BertForMaskedLM"]}, "BertModel").class_name == "BertModel"


def test_every_preset_weighs_and_names_its_source() -> None:
    names = [preset.name for preset in presets()]
    assert len(names) == len(set(names)) >= 45
    for preset in presets():
        model = weighbridge.model(preset.name)
        assert not model.unknown, (preset.name, model.unknown)
        assert preset.source
        if preset.hub:
            assert weighbridge.model(preset.hub).count() == model.count()


def test_the_24_miniatures_are_there() -> None:
    found = [name for preset in presets() if (name := preset.name).startswith("bert-uncased-l-")]
    assert len(found) == 24
    assert weighbridge.count("bert-uncased-l-2-h-128").unique == weighbridge.count("bert-tiny").unique == 4_385_920


def test_googles_config_is_told_by_its_keys() -> None:
    raw = dict.fromkeys(GOOGLE_KEYS, 1) | {"initializer_range": 0.02, "hidden_size": 4, "num_attention_heads": 2, "hidden_act": "gelu"}
    model = weighbridge.model(raw)
    assert model.model_type == "bert"
    assert model.notes == ("the config states no model type; its keys are those of bert",)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        ("bert-base-uncase", SourceError, "bert-base-uncase: no such preset or file; did you mean bert-base-uncased?"),
        ("no/such/config.json", SourceError, "no/such/config.json: no such file or directory"),
        (7, SourceError, "an object of type int cannot be weighed; expected a name, a path, a mapping, a config or a module"),
        (
            {},
            ConfigError,
            'model_type: the config does not say what it is (add "model_type", such as "bert", or name a class with --class)',
        ),
        ({"model_type": "brt"}, UnknownArchitecture, "model_type: unknown model type 'brt' (did you mean bert"),
        (
            {"model_type": "bert", "architectures": ["BertForMaskdLM"]},
            UnknownArchitecture,
            "architectures: no class 'BertForMaskdLM' of model type 'bert' (did you mean BertForMaskedLM",
        ),
        (
            {"model_type": "bert", "architectures": "BertModel"},
            ConfigError,
            "architectures: expected a list of class names, found 'BertModel'",
        ),
    ],
)
def test_what_cannot_be_weighed_is_refused_with_a_way_forward(source: object, error: type[WeighbridgeError], message: str) -> None:
    with pytest.raises(error) as caught:
        weighbridge.model(source)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[]", "holds a list, expected an object with the config's keys"),
        (b"{", "is not JSON: Expecting property name enclosed in double quotes at line 1, column 2"),
        (b'{"a": 1, "a": 2}', "a: the key occurs twice in one object (keep one)"),
        (b"\xff\xfe{}", "is UTF-16 text; save it as UTF-8"),
        (b"{\xff}", "is not UTF-8 text (byte 1)"),
        (b'{"a":' * 100_000, "is nested too deep to be a config"),
        (b'{"hidden_size": ' + b"9" * 5000 + b"}", "holds a number that is no size of any model"),
    ],
)
def test_a_file_that_is_no_config_is_refused(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text)
    with pytest.raises(ConfigError) as caught:
        weighbridge.model(path)
    assert message in str(caught.value)


def test_a_config_from_a_file_a_directory_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.json"
    path.write_text('\ufeff{"model_type": "bert", "num_hidden_layers": 24, "initializer_range": NaN}')
    assert weighbridge.count(path).unique == weighbridge.count(str(tmp_path)).unique == 194_536_704
    stdin = io.TextIOWrapper(io.BytesIO(b'{"model_type": "bert"}'))
    monkeypatch.setattr("sys.stdin", stdin)
    assert weighbridge.count("-").unique == 109_482_240


def test_overrides_of_no_field_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"hiden_size: bert has no such field.*did you mean hidden_size"):
        weighbridge.model("bert-base-uncased", overrides={"hiden_size": 3})
    assert weighbridge.model("bert-base-uncased", overrides={"hidden_act": "relu"}).count().unique == 109_482_240


def test_unknown_fields_are_listed_and_neutral_ones_are_not() -> None:
    assert weighbridge.model({"model_type": "bert", "hiden_size": 3, "use_cache": True}).unknown == ["hiden_size"]


def test_defaulted_names_only_fields_that_the_class_reads() -> None:
    raw = {"model_type": "bert", "hidden_size": 768, "num_attention_heads": 12}
    assert "num_labels" not in weighbridge.model(raw).defaulted
    assert "num_labels" in weighbridge.model(raw, "BertForTokenClassification").defaulted
    assert "hidden_size" not in weighbridge.model(raw).defaulted


def test_names_of_the_first_release() -> None:
    model = weighbridge.model("bert-base-uncased", "BertForPreTraining")
    names = [row.name for row in model.tensors("tensorflow")]
    assert "bert/encoder/layer_11/attention/output/LayerNorm/gamma" in names
    assert "cls/predictions/transform/dense/kernel" in names
    assert "cls/seq_relationship/output_weights" in names
    assert "cls/predictions/output_bias" in names
    with pytest.raises(UsageError, match="known: reference, checkpoint, tensorflow"):
        model.tensors("nonsense")


def test_seed_tensors_stand_in_their_order_with_their_prefix() -> None:
    rows = weighbridge.model("bert-base-uncased", "BertForPreTraining").tensors()
    assert [(row.name, row.shape, row.count) for row in rows[:2]] == [
        ("bert.embeddings.word_embeddings.weight", (30522, 768), 23_440_896),
        ("bert.embeddings.position_embeddings.weight", (512, 768), 393_216),
    ]
    tied = [(row.name, row.tied_to) for row in rows if row.tied_to]
    assert tied == [
        ("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"),
        ("cls.predictions.decoder.bias", "cls.predictions.bias"),
    ]


@pytest.mark.parametrize(("given", "forward"), [((1, 128), 22_348_431_360), ((2, 128), 44_696_862_720)])
def test_flops_of_the_reference(given: tuple[int, int], forward: int) -> None:
    flops = weighbridge.model("bert-base-uncased").flops(*given)
    assert flops.forward_matmul == forward
    assert flops.backward == 2 * forward


def test_flops_refuse_what_is_no_length() -> None:
    with pytest.raises(UsageError, match="seq: expected a whole number from 1 to 999,999,999, found 0"):
        weighbridge.model("bert-base-uncased").flops(seq=0)


def test_an_activation_with_parameters_is_put_where_the_class_has_it() -> None:
    plain = weighbridge.count({"model_type": "bert"}, "BertForMaskedLM").unique
    learned = weighbridge.model({"model_type": "bert", "hidden_act": "prelu"}, "BertForMaskedLM")
    assert learned.count().unique == plain + 13  # one in each layer, one in the head
    assert learned.formula().value == plain + 13
    names = [row.name for row in learned.tensors() if "act_fn" in row.name]
    assert names[0] == "bert.encoder.layer.0.intermediate.intermediate_act_fn.weight"
    assert names[-1] == "cls.predictions.transform.transform_act_fn.weight"
    assert weighbridge.model({"model_type": "apertus", "hidden_act": "xielu", "num_hidden_layers": 1}).count().unique


def test_fused_experts_share_one_activation() -> None:
    config = {"model_type": "mixtral", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96, "vocab_size": 99}
    plain, learned = (weighbridge.count({**config, **more}) for more in ({}, {"hidden_act": "xielu"}))
    assert (learned.unique - plain.unique, learned.active - plain.active, learned.buffers - plain.buffers) == (4, 4, 4)


def test_a_sub_config_has_its_own_activation() -> None:
    config = {"model_type": "llava", "text_config": {"num_hidden_layers": 3}, "vision_config": {"num_hidden_layers": 2}}
    towers = {
        "text_config": {"num_hidden_layers": 3, "hidden_act": "prelu"},
        "vision_config": {"num_hidden_layers": 2, "hidden_act": "xielu"},
    }
    assert weighbridge.count({**config, **towers}).unique == weighbridge.count(config).unique + 3 + 2 * 2


def test_an_activation_with_parameters_whose_place_is_not_known_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        weighbridge.model({"model_type": "detr", "backbone_config": {"model_type": "convnext", "hidden_act": "prelu"}})
    assert str(caught.value) == "backbone_config.hidden_act: prelu has parameters of its own, which are not described for this model type"


def test_cross_attention_without_a_decoder_is_refused_as_the_reference_does() -> None:
    with pytest.raises(ConfigError) as caught:
        weighbridge.model({"model_type": "bert", "add_cross_attention": True})
    assert str(caught.value) == "add_cross_attention: cross-attention is for decoders (set is_decoder as well)"


def test_cross_attention_runs_only_with_an_encoder() -> None:
    model = weighbridge.model("bert-base-uncased", None, {"is_decoder": True, "add_cross_attention": True})
    assert model.flops().forward_matmul == 22_348_431_360
    longer = model.flops(seq=128, encoder_seq=64).forward_matmul
    per_layer = 2 * (2 * 128 * 768**2) + 2 * (2 * 64 * 768**2) + 4 * 128 * 64 * 768
    assert longer == 22_348_431_360 + 12 * per_layer


def test_a_notebook_shows_the_table() -> None:
    text = weighbridge.model("bert-base-chinese")._repr_html_()
    assert "102,267,648" in text
    assert "word_embeddings" in text
    assert "<svg" in text
    assert "<details" in text


def test_a_formula_has_the_value_of_the_count_and_names_its_symbols() -> None:
    formula = weighbridge.model("bert-base-uncased").formula()
    assert formula.value == 109_482_240
    assert {symbol.letter: formula.values[symbol.letter] for symbol in formula.symbols} == {
        "V": 30522,
        "S": 512,
        "T": 2,
        "H": 768,
        "I": 3072,
        "L": 12,
    }
    assert [module.path for module in formula.modules][:2] == ["embeddings", "embeddings.word_embeddings"]
    from sympy import Symbol

    values = {Symbol(letter, integer=True, positive=True): value for letter, value in formula.values.items()}
    assert formula.sympy().subs(values) == 109_482_240


def test_json_is_what_the_design_names() -> None:
    from weighbridge.documents.count import as_json

    answer = json.loads(json.dumps(as_json(weighbridge.model("bert-base-uncased"))))
    assert {"source", "kind", "model_type", "class", "parameters", "buffers", "defaulted", "tree"} <= set(answer)
    assert {"unique", "stored", "trainable", "active", "embedding", "non_embedding"} <= set(answer["parameters"])
    assert answer["tree"]["parameters"] == sum(child["parameters"] for child in answer["tree"]["children"])


def test_saved_buffers_of_a_file_are_no_parameters(tmp_path: Path) -> None:
    """Its tensors are counted from their list, without a tree; either way a running mean is left out."""
    write_tensors(
        tmp_path / "a.safetensors",
        {"bn.weight": (4,), "bn.bias": (4,), "bn.running_mean": (4,), "bn.running_var": (4,), "fc.weight": (5, 4)},
    )
    found = weighbridge.model(tmp_path / "a.safetensors")
    assert found.listed is not None
    assert unique_of(found) == found.count().unique == 4 + 4 + 20
