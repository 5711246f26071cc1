"""Lengths are expressions: over ints and over symbols they have one value."""

from __future__ import annotations

import pytest

from weighbridge.core.errors import UsageError
from weighbridge.core.formula import Symbol
from weighbridge.core.formula import evaluate as put_in
from weighbridge.core.length import (
    Length,
    Stream,
    at_least,
    at_most,
    evaluate,
    grows_with_batch,
    is_unknown,
    length,
    merge,
    names,
    per_batch,
    product_of,
    sum_of,
    sum_of_squares,
    unknown,
    valid_up_to,
)

SEQ = length("seq")
EXPRESSIONS: list[tuple[Stream, int]] = [
    ("seq", 19),
    (7, 7),
    ((SEQ + 2 * 1 - 3) // 2 + 1, 10),
    (3 * SEQ, 57),
    (100 - SEQ, 81),
    (2 + SEQ, 21),
    (length(197) - 1, 196),
    (sum_of("seq", "one", 4), 24),
    (product_of("seq", SEQ + 1), 380),
    (sum_of_squares("seq", 8), 64 + 64 + 9),
    (per_batch(SEQ * 2), 38),
]


@pytest.mark.parametrize(("stream", "tokens"), EXPRESSIONS, ids=lambda value: repr(value))
def test_ints_and_symbols_have_one_value(stream: Stream, tokens: int) -> None:
    assert evaluate(stream, {"seq": 19, "one": 1}) == tokens
    assert put_in(evaluate(stream, {"seq": Symbol("n"), "one": 1}), {"n": 19}) == tokens


def test_limits_hold_for_numbers_and_keep_out_of_formulas() -> None:
    assert [evaluate(at_most("seq", 8), {"seq": tokens}) for tokens in (7, 8, 9)] == [7, 8, 8]
    assert [evaluate(at_least("seq", 8), {"seq": tokens}) for tokens in (7, 8, 9)] == [8, 8, 9]
    assert evaluate(valid_up_to("seq", 8, "limit"), {"seq": 8}) == 8
    for limited in (at_most("seq", 8), at_least("seq", 8), valid_up_to("seq", 8, "limit")):
        assert str(evaluate(limited, {"seq": Symbol("n")})) == "n"


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (merge("rows", 2), "5 rows cannot be merged by 2 without remainder"),
        (merge(length("rows") * 3, 2), "15 tokens cannot be merged by 2 without remainder"),
        (valid_up_to("rows", 4, "rows that a table has"), "5 tokens: this is described up to 4, the rows that a table has"),
        (unknown("a sound decides"), "this arithmetic cannot be worked out from a config: a sound decides"),
        (length(unknown("a sound decides")) // 2 + 1, "this arithmetic cannot be worked out from a config: a sound decides"),
        ("encoder", "the model sees a stream 'encoder' whose length is not given"),
        (
            "columns",
            "the model sees a stream 'columns' whose length is not given: it reads images of any size, "
            "so say into how many patches each is cut, such as patches 16x24",
        ),
    ],
)
def test_what_cannot_be_told_is_refused(stream: Stream, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        evaluate(stream, {"rows": 5})
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("stream", "text"),
    [
        ((SEQ - 3) // 2 + 1, "(seq - 3) // 2 + 1"),
        ((SEQ + 1) * 2, "(seq + 1) * 2"),
        (SEQ // 8 * 8, "(seq // 8) * 8"),
        (SEQ - (SEQ // 8), "seq - (seq // 8)"),
        (at_most("seq", 8) * 2, "at_most(seq, 8) * 2"),
        (unknown("why"), "unknown('why')"),
        (SEQ + -3, "seq - 3"),
        (SEQ + 3, "seq + 3"),
        (SEQ * -3, "seq * -3"),
        (SEQ - -3, "seq - -3"),
        (SEQ * 2 * 3, "seq * 2 * 3"),
        (SEQ * 2 + 3 - 1, "seq * 2 + 3 - 1"),
        (SEQ // 2 + 1, "seq // 2 + 1"),
        ((SEQ - 1) // 2 // 2, "((seq - 1) // 2) // 2"),
        (SEQ * (SEQ + 1), "seq * (seq + 1)"),
        (SEQ + at_most(SEQ, 4), "seq + at_most(seq, 4)"),
        (merge("rows", 2) * "columns", "merge(rows, 2) * columns"),
    ],
)
def test_an_expression_reads_as_it_was_written(stream: Length, text: str) -> None:
    assert repr(stream) == text


def test_equal_expressions_are_equal_and_know_their_names() -> None:
    assert length("seq") + 1 == SEQ + 1
    assert hash(SEQ + 1) == hash(length("seq") + 1)
    assert SEQ + 1 != SEQ + 2
    assert SEQ != "seq"
    assert names((SEQ + "images") * 3) == {"seq", "images"}
    assert names(None) == names(5) == set()
    assert is_unknown(unknown("why")) and not is_unknown(SEQ + 1)
    assert grows_with_batch("seq") and not grows_with_batch(per_batch("seq"))
