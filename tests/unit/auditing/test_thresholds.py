"""Where a verdict turns: each threshold at both of its sides."""

import pytest

from weighbridge.auditing import audit
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.text.tokens import tokens


def verdict(figure: str, name: str, what: str = "total", *, hedged: bool = False) -> str | None:
    model = preset_model(name)
    assert model is not None
    found = settle(tokens(figure, 0)[0], [model], what, hedged=hedged)
    return found.verdict if found is not None else None


@pytest.mark.parametrize(
    ("figure", "name", "expected"),
    [
        ("109.5M", "bert-base-uncased", "rounded"),
        ("109.4M", "bert-base-uncased", "note"),
        ("111M", "bert-base-uncased", None),
        ("110M", "bert-base-chinese", "note"),
        ("110M", "bert-base-multilingual-cased", None),
        ("400M", "deberta-large", "note"),
        ("355M", "gpt2-medium", "rounded"),
        ("345M", "gpt2-medium", "note"),
        ("25,557,000", "resnet-50", "rounded"),
        ("25,558,000", "resnet-50", None),
    ],
)
def test_a_rounded_figure_is_fair_up_to_its_last_digit(figure: str, name: str, expected: str | None) -> None:
    assert verdict(figure, name) == expected


def test_a_hedge_allows_a_twentieth() -> None:
    assert verdict("104,500,000", "bert-base-uncased", hedged=True) == "note"
    assert verdict("103,000,000", "bert-base-uncased", hedged=True) is None


def test_active_is_not_total() -> None:
    assert verdict("37B", "deepseek-v3", "active") == "rounded"  # without the table that is only looked up in
    assert verdict("47B", "deepseek-v3", "active") is None


def test_a_figure_is_cut_off_by_no_more_than_a_tenth_or_about_a_quarter_of_its_one_digit() -> None:
    assert (verdict("30B", "deepseek-v3", "active"), verdict("36B", "deepseek-v3", "active")) == (None, "rounded")
    row = "| model | params |\n|---|---|\n| {} | {} |"
    assert audit(row.format("T5-3B", "2B")).wrong
    assert not audit(row.format("Phi-3-mini", "3B")).wrong


@pytest.mark.parametrize(
    ("written", "right", "expected"),
    [("28331552", "28311552", True), ("132", "123", True), ("321", "123", False), ("12345", "1234", True), ("2001", "1000", False)],
)
def test_a_slip_of_the_pen_is_one_digit_or_two_neighbours(written: str, right: str, *, expected: bool) -> None:
    assert is_slip(written, right) is expected


def test_as_many_digits_as_the_inputs_have_are_fair_and_no_more() -> None:
    assert not audit("12 × 7.09M = 85.1M").wrong
    assert audit("12 × 7.09M = 85.05M").wrong
    assert not audit("One layer has 7,087,872 parameters, about 7.09M.\n\n12 × 7.09M = 85.05M").wrong


def test_a_figure_of_one_digit_is_a_rounding_up_to_a_third_too_large() -> None:
    assert not audit("for Llama-2-13B the KV cache is 1 MB per token").wrong  # 819,200 bytes
    assert audit("for Llama-2-7B the KV cache is 1 MB per token in fp16").wrong  # 524,288 bytes


def test_a_short_figure_is_meant_for_the_number_before_it_if_it_is_near() -> None:
    assert audit("One layer has 7,087,872 (7.19M) parameters.").wrong
    assert not audit("It has 671,026,404,352 (37B) parameters.").wrong


@pytest.mark.parametrize(
    ("text", "wrong"), [("GPT-3 has 155B parameters.", True), ("GPT-2 has 1.5B parameters.", False), ("GPT-2 has 117M parameters.", False)]
)
def test_a_complete_family_leaves_its_authors_figures(text: str, *, wrong: bool) -> None:
    assert bool(audit(text).wrong) == wrong


SIZES_OF_FILES = "| Model | Params | File size |\n|---|---|---|\n| one | 86.6M | {} |\n| two | 88.2M | 353 MB |\n| three | 304.3M | 1.22 GB |\n| four | 306.5M | 1.23 GB |"


@pytest.mark.parametrize(("size", "wrong"), [("346 MB", False), ("349 MB", False), ("352 MB", False), ("354 MB", True)])
def test_bytes_of_a_count_are_wrong_from_a_fiftieth(size: str, *, wrong: bool) -> None:
    assert bool(audit(SIZES_OF_FILES.format(size)).wrong) is wrong


def test_bytes_off_by_more_than_a_hundredth_agree_with_no_count() -> None:
    text = SIZES_OF_FILES.replace("353 MB", "358 MB").replace("1.22 GB", "1.24 GB")  # two of four agree: too few to settle a third
    assert not audit(text.format("376 MB")).wrong


def test_bytes_of_less_than_three_digits_are_of_any_count() -> None:
    assert not audit(SIZES_OF_FILES.format("2 GB")).wrong
    assert audit(SIZES_OF_FILES.format("2.00 GB")).wrong


@pytest.mark.parametrize(("words", "wrong"), [("29k", False), ("28k", True), ("35k", False), ("36k", True)])
def test_a_vocabulary_in_thousands_is_wrong_from_a_tenth(words: str, *, wrong: bool) -> None:
    assert bool(audit(f"Llama 2 7B has a vocabulary of {words} tokens.").wrong) is wrong


@pytest.mark.parametrize(("count", "judged"), [("6738415616", True), ("99999", False)])
def test_a_setting_of_parameters_is_a_count_from_a_hundred_thousand(count: str, *, judged: bool) -> None:
    found = audit(f"## Llama 2 7B\n\n- num_params: {count}\n- num_layers: 32\n- hidden_size: 4096\n- num_heads: 32\n")
    assert any(claim.text == f"{int(count)}" and claim.verdict != "unsettled" for claim in found.claims) is judged
