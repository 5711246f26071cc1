"""Derivations: the figures of the published hand calculations, and the shape of the sections."""

import re

import pytest

from weighbridge import UsageError, model
from weighbridge.core.evaluation_steps import chain
from weighbridge.core.formula import Symbol, evaluate, write
from weighbridge.core.notation import UNICODE
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Every, Part
from weighbridge.documents.explain import as_json, document
from weighbridge.documents.renderers import render
from weighbridge.explain.derive import _layer_numbers
from weighbridge.explain.overview import formula_by_module, sum_by_module
from weighbridge.explain.section import Section, lines, sections


def chinese() -> str:
    return render(document(model("bert-base-chinese").explain("zh")))


@pytest.mark.parametrize(
    "figure",
    ["16,622,592", "2,362,368", "4,722,432", "3,072", "7,087,872", "85,054,464", "590,592", "102,267,648"],
)
def test_bert_base_chinese_reaches_the_figures_of_the_hand_calculation(figure: str) -> None:
    assert f"= {figure}\n" in chinese()


def test_the_attention_is_derived_step_by_step() -> None:
    assert "4 × (H² + H) = 4 × (768² + 768) = 4 × (589,824 + 768) = 4 × 590,592 = 2,362,368" in chinese()


def test_chinese_has_no_english_sentence() -> None:
    found = model("bert-base-chinese", "BertForPreTraining").explain("zh")
    words = [found.root.title, *(meaning for _, meaning in found.symbols)]
    words += [text for line in lines(found.root) for text in (line.title, line.sentence)]
    words = [word for word in words if word]
    assert len(words) > 20
    assert all(any("一" <= character <= "鿿" for character in word) for word in words)


def test_sections_follow_the_architecture() -> None:
    found = model("bert-base-uncased").explain()
    sections = [(part.number, part.title, part.copies, part.value) for part in found.root.parts if isinstance(part, Section)]
    assert sections == [("1", "Embeddings", 1, 23837184), ("2", "Encoder layers", 12, 85054464), ("3", "Pooler", 1, 590592)]
    layer = found.root.parts[1]
    assert isinstance(layer, Section)
    assert [(part.number, part.title, part.value) for part in layer.parts] == [
        ("2.1", "Multi-head self-attention", 2362368),
        ("2.2", "Feed-forward network", 4722432),
        ("2.3", "Layer normalization", 3072),
    ]


def test_equal_modules_stand_on_one_line() -> None:
    found = model("bert-base-uncased").explain(module="encoder.layer.attention")
    line = next(lines(found.root))
    assert line.title == "query, key, value, output"
    assert [path.rsplit("attention.")[-1] for path in line.paths] == ["self.query", "self.key", "self.value", "output.dense"]
    assert found.total == 2363904


def test_a_tied_module_counts_nothing_and_names_its_owner() -> None:
    found = model("bert-base-uncased", "BertForMaskedLM").explain()
    decoder = next(line for line in lines(found.root) if line.paths == ("cls.predictions.decoder",))
    assert decoder.value == 0
    assert decoder.tied == ("bert.embeddings.word_embeddings.weight", "cls.predictions.bias")
    assert "bert.embeddings.word_embeddings.weight and cls.predictions.bias, which are counted above" in " ".join(
        render(document(found)).split()
    )


def test_a_module_may_be_named_with_its_index_or_without_its_prefix() -> None:
    masked = model("bert-base-uncased", "BertForMaskedLM")
    assert masked.explain(module="encoder.layer.3.attention").total == 2363904
    assert masked.explain(module="bert.encoder.layer").total == 85054464


def test_an_unknown_module_is_refused() -> None:
    with pytest.raises(UsageError, match="the model has no module 'decoder'; at the top it has embeddings, encoder, pooler"):
        model("bert-base-uncased").explain(module="decoder")


def test_a_module_named_without_its_path_is_told_where_it_stands() -> None:
    with pytest.raises(UsageError, match=r"no module 'mlp' at the top; did you mean model\.layers\.mlp\?"):
        model("llama-3-8b").explain(module="mlp")
    with pytest.raises(UsageError, match=r"did you mean encoder\.layer\.attention\.self\.query\?"):
        model("bert-base-uncased").explain(module="query")


def test_depth_keeps_the_subtotals() -> None:
    found = model("bert-base-uncased").explain(depth=1)
    assert [part.parts for part in found.root.parts if isinstance(part, Section)] == [(), (), ()]
    assert found.total == 109482240
    assert "7,087,872" in render(document(found))


def test_insight_of_bert() -> None:
    insight = model("bert-base-uncased").explain().insight
    assert insight is not None
    assert write(insight.leading, UNICODE) == "12 × L × H²"
    assert insight.leading_value == 84934656
    assert [(change.symbol.letter, change.by, change.value) for change in insight.changes] == [
        ("L", 1, 7087872),
        ("V", 1, 768),
        (
            "H",
            192,
            model("bert-base-uncased", overrides={"hidden_size": 960}).count().unique - 109482240,
        ),  # 832 does not divide by 12 heads
    ]
    wider = {"hidden_size": 960, "intermediate_size": 3840}
    assert insight.changes[2].kept == model("bert-base-uncased", overrides=wider).count().unique - 109482240


@pytest.mark.parametrize("name", ["t5-base", "whisper-small", "bart-base", "detr-resnet-50"])
def test_a_layer_more_is_told_of_the_encoder_and_of_the_decoder(name: str) -> None:
    weighed = model(name)
    insight = weighed.explain().insight
    assert insight is not None
    changes = {change.symbol.key: change.value for change in insight.changes if "layers" in change.symbol.meaning}
    assert len(changes) == 2
    layers = 12 if name in ("t5-base", "whisper-small") else 6
    for key, value in changes.items():
        assert value == model(name, overrides={key: layers + 1}).count().unique - weighed.count().unique


def test_json_carries_every_step() -> None:
    data = as_json(model("bert-base-chinese").explain("zh"))
    line = data["sections"][1]["parts"][0]["parts"][0]
    assert line["steps"][-1] == "2,362,368"
    assert data["total"] == sum(section["value"] for section in data["sections"])


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_form_shows_the_same_figures(form: str, lang: str) -> None:
    text = render(document(model("bert-base-uncased", "BertForPreTraining").explain(lang)), form).replace("{,}", ",")
    for line in lines(model("bert-base-uncased", "BertForPreTraining").explain(lang).root):
        assert f"{line.value:,}" in text
    assert "110,106,428" in text


def test_a_share_is_rounded_to_the_nearest_by_itself() -> None:
    """Equal amounts have equal shares: Llama 3's table and its head, 525,336,576 each."""
    derivation = model("llama-3-8b").explain()
    outer = {1: 1}
    for section in sections(derivation.root):
        depth = section.number.count(".") + 1
        outer[depth + 1] = outer[depth] * section.copies
        assert section.share == round(1000 * outer[depth] * section.value / derivation.total)
    tables = [part for part in derivation.root.parts if isinstance(part, Section) and part.value == 525_336_576]
    assert [part.share for part in tables] == [65, 65]


def test_chain_of_a_single_letter() -> None:
    assert [write(step, UNICODE) for step in chain(Symbol("V"), {"V": 30522})] == ["V", "30,522"]


@pytest.mark.parametrize(
    ("repeat", "indices", "text"),
    [
        (1, None, "0"),
        (2, None, "0, 1"),
        (3, None, "0–2"),
        (2, Every(3, 1), "3, 4"),
        (58, Every(3, 1), "3–60"),
        (3, (0, 2, 3), "0, 2, 3"),
        (5, Every(1, 2), "1, 3, 5, 7, 9"),
        (6, Every(1, 2), "1, 3, 5, …, 11"),
        (12, Every(3, 4), "3, 7, 11, …, 47"),
        (Symbol("L"), None, ""),
    ],
)
def test_where_layers_stand_is_written_short(repeat: Size, indices: Every | tuple[int, ...] | None, text: str) -> None:
    assert _layer_numbers(Part("layers", repeat=repeat, indices=indices)) == text


OUTLINED = [
    ("bert-base-uncased", "BertForMaskedLM"),
    ("bert-base-uncased", "BertForPreTraining"),
    ("gpt2", "GPT2LMHeadModel"),
    ("llama-3-8b", None),
    ("t5-small", None),
    ("mixtral-8x7b", None),
    ("whisper-tiny", None),
    ("vit-base-patch16-224", None),
    ("albert-base-v2", "AlbertForMaskedLM"),
]


@pytest.mark.parametrize(("name", "class_name"), OUTLINED)
def test_the_total_by_module_is_the_total(name: str, class_name: str | None) -> None:
    """In letters and in numbers, with what is tied, and counts nothing, before, between and behind the rest."""
    weighed = model(name, class_name)
    found = weighed.explain()
    assert evaluate(formula_by_module(found.root), found.values) == found.total == weighed.count().unique
    outline = sum_by_module(found.root)
    if outline is not None:
        assert evaluate(outline.formula, found.values) == evaluate(outline.numbers, {}) == found.total
        assert outline.words.count("×") == write(outline.numbers, UNICODE).count("×")


def test_a_tie_counts_nothing_wherever_it_stands() -> None:
    derivation = model("bert-base-uncased", "BertForPreTraining").explain()
    for step in (1, -1):
        root = derivation.root._replace(parts=derivation.root.parts[::step])
        assert evaluate(formula_by_module(root), derivation.values) == derivation.total
        outline = sum_by_module(root)
        assert outline is None or evaluate(outline.numbers, {}) == derivation.total


def test_one_more_layer_is_counted_as_the_config_would_make_it() -> None:
    """The 33rd layer of Jamba is a Mamba layer without experts, though most parameters are in the experts of others."""
    jamba = model("jamba-v0.1")
    insight = jamba.explain().insight
    assert insight is not None
    change = insight.changes[0]
    deeper = model("jamba-v0.1", overrides={"num_hidden_layers": 33})
    assert (change.symbol.key, change.value) == ("num_hidden_layers", deeper.count().unique - jamba.count().unique)
    assert change.value == 281_477_408


def test_what_the_config_leaves_out_grows_with_a_size() -> None:
    """T5's decoder is as deep as its encoder where the config has no num_decoder_layers."""
    small = model("t5-small")
    insight = small.explain().insight
    assert insight is not None
    change = next(change for change in insight.changes if change.symbol.key == "num_layers")
    assert change.follows == ("num_decoder_layers",)
    assert change.value == model("t5-small", overrides={"num_layers": 7}).count().unique - small.count().unique
    assert "num_decoder_layers, which the config leaves out, grows with it" in render(document(small.explain()))


@pytest.mark.parametrize(("raw", "said"), [({"partial_rotary_factor": 0.4}, True), ({"partial_rotary_factor": 1.0}, False), ({}, False)])
def test_a_part_of_each_head_is_rotated_where_the_config_says_so(raw: dict[str, float], said: bool) -> None:
    text = render(document(model({"model_type": "phi", "hidden_size": 320, "num_attention_heads": 4, **raw}).explain()))
    assert ("rotating 32 of the 80 dimensions" in " ".join(text.split())) is said
    assert "32 of the 80" not in render(document(model({"model_type": "qwen2", **raw}).explain()))


def test_stages_are_numbered() -> None:
    titles = [section.title for section in sections(model("convnext-tiny-224").explain().root)]
    assert [title for title in titles if title.startswith("Stage")] == ["Stage 1", "Stage 2", "Stage 3", "Stage 4"]


def test_maps_without_modules_of_their_own_are_named() -> None:
    """XLNet's q, k, v, o and r are tensors of the attention itself."""
    found = {line.title: line for line in lines(model("xlnet-base-cased").explain(lang="en").root)}
    assert found["query, key, value, output"].value == 4 * 768**2
    assert found["relative positions"].value == 768**2
    assert write(found["relative positions"].formula, UNICODE) == "H²"


def test_the_bonus_of_rwkv_4_is_no_factor() -> None:
    """It is added to the keys in an exponent; RWKV-5 multiplies with its own."""
    line = next(line for line in lines(model("rwkv-4-169m-pile").explain().root) if line.paths == ("rwkv.blocks.attention.time_first",))
    assert line.says == ()


@pytest.mark.parametrize(
    ("name", "module", "total"),
    [
        ("gpt2", "transformer.h.3", 7_087_872),
        ("gpt2", "transformer.h", 12 * 7_087_872),
        ("t5-small", "encoder.block.3", 3_146_752),  # the first alone has a table of relative positions
        ("t5-small", "encoder.block.0.layer.1.DenseReluDense", 2_097_152),
        ("deepseek-v3", "model.layers.2.mlp", 396_361_728),
        ("deepseek-v3", "model.layers.5.mlp", 11_320_164_352),
        ("deepseek-v3", "model.layers[3]", 58 * 11_507_286_016),
        ("deepseek-v3", "model.layers.self_attn", 187_107_328),
    ],
)
def test_an_index_picks_the_layer_in_which_it_stands(name: str, module: str, total: int) -> None:
    assert model(name).explain(module=module).total == total


@pytest.mark.parametrize(
    ("module", "error"),
    [("model.layers.61", "no module 'model.layers.61'"), ("model.layers.mlp", "did you mean model.layers.0.mlp or model.layers.3.mlp?")],
)
def test_a_layer_that_is_not_there_and_one_of_several_kinds_are_refused(module: str, error: str) -> None:
    with pytest.raises(UsageError, match=re.escape(error)):
        model("deepseek-v3").explain(module=module)
