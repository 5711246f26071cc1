"""Known numbers and the conventions behind them; numbers that nothing gives; numbers as people write them."""

from functools import cache

import pytest

from weighbridge import Model, UsageError, model
from weighbridge.conventions.reconcile import Match, Reconciliation, explanation, reconcile
from weighbridge.conventions.rounding import readings
from weighbridge.conventions.rules import convention
from weighbridge.core.messages import mark
from weighbridge.documents.reconcile import as_json, document

ROBERTA = {
    "model_type": "roberta",
    "vocab_size": 50265,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 514,
    "type_vocab_size": 1,
}


@cache  # what is worked out of a model once serves every number that is asked for
def known(name: str) -> Model:
    return model(name)


def base() -> Model:
    return known("bert-base-uncased")


def assert_accounted(answer: Reconciliation, match: Match) -> None:
    assert match.class_count - sum(p.amount for p in match.leaves_out) + sum(p.amount for p in match.adds) == match.value
    assert answer.reference - sum(piece.amount for piece in match.from_reference) == match.value


@pytest.mark.parametrize(
    ("number", "convention", "leaves_out"),
    [
        (109482240, "BertModel", []),
        (108808704, "BertModel without linear biases and pooler", [("linear biases", 83712), ("pooler", 589824)]),
        (110104890, "BertForPreTraining without cls.seq_relationship", [("cls.seq_relationship", 1538)]),
        (85054464, "the layers of BertModel", [("embeddings", 23837184), ("pooler", 590592)]),
        (7087872, "one layer of BertModel", [("embeddings", 23837184), ("repeated layers", 77966592), ("pooler", 590592)]),
        (109396992, "BertModel without linear biases and embedding norm", [("linear biases", 83712), ("embedding norm", 1536)]),
        (108891648, "BertModel without pooler", [("pooler", 590592)]),
    ],
)
def test_known_numbers(number: int, convention: str, leaves_out: list[tuple[str, int]]) -> None:
    answer = base().reconcile(number)
    assert answer.matches[0].convention == convention
    assert [tuple(piece) for piece in answer.matches[0].leaves_out] == leaves_out
    for match in answer.matches:
        assert_accounted(answer, match)


def test_published_models_with_classes_of_others_are_no_neighbours() -> None:
    """The first LLaVA's files state the same model type and a class of their authors, which is no class of transformers."""
    assert not known("llava-1.5-7b").reconcile(7_063_427_073).matches


def test_roberta_as_another_library_counts_it() -> None:
    answer = model(ROBERTA, "RobertaModel").reconcile(124052736)
    assert answer.matches[0].convention == "RobertaModel without two spare rows of the position table, pooler and token type embeddings"
    assert_accounted(answer, answer.matches[0])


def test_ties_counted_under_every_name() -> None:
    answer = model("bert-base-uncased", "BertForMaskedLM").reconcile(132985716)
    assert answer.matches[0].convention == "BertForMaskedLM, with tied tensors, counted under every name"
    assert explanation(answer.matches[0], mark) == "109,514,298 + 23,471,418 (tied tensors, counted under every name) = 132,985,716"


@pytest.mark.parametrize(
    ("number", "how", "unit"),
    [("110M", "coarse", 10**6), ("1.1亿", "rounded", 10**8), ("104M", "rounded", 2**20), ("109.48M", "rounded", 10**6)],
)
def test_rounded_numbers_of_bert_base(number: str, how: str, unit: int) -> None:
    first = base().reconcile(number).matches[0]
    assert (first.convention, first.how, first.unit) == ("BertModel", how, unit)


def test_rounded_number_of_bert_large() -> None:
    assert model("bert-large-uncased").reconcile("340M").matches[0].value == 335141888
    assert model("bert-large-uncased").reconcile("0.34B").matches[0].value == 335141888


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (109482204, "two digits are exchanged in 109,482,240 (BertModel)"),
        (109482340, "one digit differs from 109,482,240 (BertModel)"),
        (10948224, "109,482,240 (BertModel) is the same number with the point moved by 1"),
        (102267648, "BertModel gives it with vocab_size 21,128, the vocabulary of bert-base-chinese"),
        (194536704, "BertModel gives it with num_hidden_layers 24"),
        (109482240 + 768 * 100, "the difference from BertModel is +76,800, 100 × H"),
        (109483240, "the difference from BertModel is +1,000: one digit is off by 1"),
    ],
)
def test_what_a_difference_looks_like(number: int, hint: str) -> None:
    answer = base().reconcile(number)
    assert answer.matches == ()
    assert answer.nearest is not None
    assert answer.nearest.match.value + answer.nearest.residual == number
    assert hint in answer.nearest.hints


LAYER, EMBEDDING = 7_087_872, 768


def hints(number: int, name: str = "bert-base-uncased") -> tuple[str, ...]:
    nearest = known(name).reconcile(number).nearest
    return nearest.hints if nearest is not None else ()


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (109482240 - 11 * LAYER, "BertModel gives it with num_hidden_layers 1"),
        (109482240 + 188 * LAYER, "BertModel gives it with num_hidden_layers 200"),
        (109482240 + 512 * EMBEDDING, "BertModel gives it with max_position_embeddings 1,024"),
        (109482240 + 1024 * EMBEDDING, "BertModel gives it with max_position_embeddings 1,536"),
        (109482240 - 448 * EMBEDDING, "BertModel gives it with max_position_embeddings 64"),
        (109482240 * 1000, "109,482,240 (BertModel) is the same number with the point moved by 3"),
        (109482240 + 5 * 768 * 768, "the difference from BertModel is +2,949,120, 5 × H²"),
        (109482240 - 7 * 768 * 3072, "the difference from BertModel is −16,515,072, 28 × H²"),
        (109482240 - 3_000_000, "the difference from BertModel is −3,000,000: one digit is off by 3"),
    ],
)
def test_other_sizes_and_slips_at_their_bounds(number: int, hint: str) -> None:
    assert hint in hints(number), hints(number)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (109482240 - 12 * LAYER, "num_hidden_layers"),
        (109482240 + 189 * LAYER, "num_hidden_layers"),
        (109482240 + 3 * EMBEDDING, "max_position_embeddings"),
        (109482240 + 7 * EMBEDDING, "vocab_size"),
        (109482240 * 10000, "the point moved"),
        (109428204, "are exchanged"),
        (109482241, "point moved"),
        (109482240 + 12, "one digit is off"),
    ],
)
def test_no_hint_is_stretched(number: int, words: str) -> None:
    """No model has no layer, nor more than 200; positions come in powers of two or 512s; a vocabulary is one that is published;
    two digits are exchanged only where nothing else differs."""
    assert not [hint for hint in hints(number) if words in hint], hints(number)


def test_two_digits_are_exchanged_only_where_they_are() -> None:
    """One digit that differs, two that differ otherwise, and an exchange of neighbours or of digits far apart."""
    assert any("two digits are exchanged" in hint for hint in hints(109482420))
    assert any("two digits are exchanged" in hint for hint in hints(149082240))
    assert not any("exchanged" in hint for hint in hints(109482251))
    assert any("one digit differs from 109,482,240 (BertModel)" in hint for hint in hints(109482940))


def test_another_published_model_is_named() -> None:
    nearest = base().reconcile("340M").nearest
    assert nearest is not None
    assert nearest.hints[0] == "BertModel of bert-large-uncased has 335,141,888"
    assert all("bert-large" in hint for hint in nearest.hints)


def test_answers_are_the_same_every_time() -> None:
    assert as_json(base().reconcile(108808704)) == as_json(base().reconcile(108808704))


def test_convention_for_programs() -> None:
    weighed = base()
    found = convention(weighed, 108808704)
    assert found is not None
    assert found.keys == ("biases", "pooler")
    assert convention(weighed, 108808705) is None


def test_a_checkpoint_without_config_has_conventions_too() -> None:
    weighed = Model("file", "checkpoint", base().tree)
    found = convention(weighed, 108808704)
    assert found is not None
    assert found.value == 108808704


def test_report_in_chinese() -> None:
    answer = base().reconcile(108808704, "zh")
    table = document(answer, "zh").tables[0]
    assert table.rows[0].cells[0] == "BertModel，不计线性层偏置、池化层"


@pytest.mark.parametrize(
    ("text", "low", "high", "how"),
    [
        ("109,482,240", 109482240, 109482240, "exact"),
        ("１０２，２６７，６４８", 102267648, 102267648, "exact"),
        ("１１０Ｍ", 109500000, 110500000, "rounded"),
        ("１０９．４８ＭＩＬＬＩＯＮ", 109475000, 109485000, "rounded"),
        ("109 482 240", 109482240, 109482240, "exact"),
        ("≈110M", 109500000, 110500000, "rounded"),
        ("约 1.1 亿", 105000000, 115000000, "rounded"),
        ("10948万", 109475000, 109485000, "rounded"),
        ("10948.2240万", 109482240, 109482240, "exact"),
        ("16.622592M", 16622592, 16622592, "exact"),
        ("0.34B", 335000000, 345000000, "rounded"),
        ("110 million parameters", 109500000, 110500000, "rounded"),
        ("37.5KB", 38349, 38451, "rounded"),
    ],
)
def test_numbers_as_people_write_them(text: str, low: int, high: int, how: str) -> None:
    first = readings(text)[0]
    assert (first.low, first.high, first.how) == (low, high, how)


@pytest.mark.parametrize("text", ["", "many", "12x", "1,23", "--5", "1.2.3", "9" * 80])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a number; expected one such as"):
        readings(text)


def test_the_model_is_named_by_its_class_or_by_what_it_is() -> None:
    assert base().reconcile(1).class_name == "BertModel"
    assert Model("file", "checkpoint", base().tree).reconcile(1).class_name == "checkpoint"


@pytest.mark.parametrize("number", ["110M", "109M", "85.1M", "1.1亿"])
def test_what_is_not_shown_is_counted(number: str) -> None:
    """All that a number can mean is what is shown and as many more as are said to be hidden."""
    shown, every = base().reconcile(number), base().reconcile(number, every=True)
    assert len(every.matches) == len(shown.matches) + shown.hidden
    assert every.hidden == 0
    assert {match.convention for match in shown.matches} <= {match.convention for match in every.matches}


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (109482240 * 10, "moved by 1"),
        (109482240 * 100, "moved by 2"),
        (109482240 // 10, "moved by 1"),
        (1094822, None),
        (109482240 * 10**4, None),
    ],
)
def test_a_point_is_moved_by_three_places_at_most_and_to_a_whole_number(number: int, hint: str | None) -> None:
    found = [said for said in hints(number) if "the point moved" in said]
    assert bool(found) == (hint is not None)
    assert hint is None or hint in found[0]


def test_a_head_by_another_name_has_rows_of_the_vocabulary_too() -> None:
    """InternLM2's head is called ``output``, ModernBERT's ``decoder``: one token more is a row of both tables."""
    own = 1_889_110_016
    assert "a vocabulary of 92,545 instead of 92,544" in reconcile(model("internlm2-1_8b"), own + 2 * 2048).matches[0].convention
    without = reconcile(model("internlm2-1_8b"), own - 92_544 * 2048, every=True).matches
    assert any(match.convention.endswith("without output") for match in without)
