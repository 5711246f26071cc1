"""Renderers: all show the same integers; text is aligned, Chinese too; HTML and Markdown are escaped."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge.core.errors import UsageError
from weighbridge.core.formula import Number, Symbol
from weighbridge.documents.document import Column, Document, Equation, Heading, Item, Row, Share, Table, notes, shares
from weighbridge.documents.renderers import render
from weighbridge.documents.renderers.wrapping import measure

COLUMNS = (Column("name"), Column("count", "integer"), Column("share", "share"), Column("", "bar"))


def report(numbers: list[int], name: str = "嵌入层") -> Document:
    split = shares(numbers, sum(numbers))
    rows = tuple(Row((name, number, part, part), depth=number % 3) for number, part in zip(numbers, split, strict=True))
    return Document("BertModel", f"{sum(numbers):,}", (Table(COLUMNS, rows), *notes(["a note"])))


@given(st.lists(st.integers(0, 10**24), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_all_renderers_show_the_same_integers(numbers: list[int]) -> None:
    for form in ("text", "terminal", "markdown", "html", "latex", "csv", "json"):
        drawn = re.sub(r"\x1b\[[0-9;]*m|[,\n]|(?<=\d) +(?=\d)", " " if form == "csv" else "", render(report(numbers), form, width=200))
        for number in numbers:
            assert str(number) in drawn.replace(" ", " "), form


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_a_share_is_rounded_to_the_nearest(numbers: list[int]) -> None:
    whole = sum(numbers)
    for number, share in zip(numbers, shares(numbers, whole), strict=True):
        assert not whole or abs(share.per_mille * whole - 1000 * number) * 2 <= whole


def test_chinese_and_ascii_columns_are_aligned() -> None:
    lines = render(report([1, 22_222]), "text").splitlines()
    assert len({measure(line) for line in lines[2:5]}) == 1


def test_csv_reads_back_to_the_same_numbers() -> None:
    rows = list(csv.reader(io.StringIO(render(report([30_522, 768]), "csv"))))
    assert rows[0] == ["name", "count", "share"]
    assert [row[1] for row in rows[1:]] == ["30522", "768"]


def test_csv_of_a_document_without_tables_holds_its_figures() -> None:
    derivation = Document(
        "bert",
        "30",
        (
            Heading(1, "1", "encoder", "3,000"),
            Equation(1, (Symbol("H"), Number(30)), "sum"),
            Item(1, "1.1", "norm", ("ln_f",)),
            Equation(1, (Number(7),)),
            *notes(["a note"]),
        ),
    )
    rows = list(csv.reader(io.StringIO(render(derivation, "csv"))))
    assert rows == [["what", "value"], ["bert", "30"], ["1 encoder", "3000"], ["sum", "H = 30"], ["1.1 norm ln_f", "7"]]
    assert render(Document("a = a", "相同", lang="zh"), "csv") == "项目,值\na = a,相同\n"


def test_html_and_markdown_escape_names() -> None:
    hostile = report([1], "<script>|x")
    assert "<script>" not in render(hostile, "html")
    assert r"&lt;script>\|x" in render(hostile, "markdown")
    parser = HTMLParser()
    parser.feed(render(hostile, "html"))
    assert parser.rawdata == ""


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'; known: text, terminal, markdown, html, latex, csv"):
        render(report([1]), "pdf")


def test_a_share_has_one_decimal() -> None:
    assert [str(Share(n)) for n in (0, 5, 163, 1000)] == ["0.0%", "0.5%", "16.3%", "100.0%"]


def test_a_sum_with_words_in_it_is_broken_at_once() -> None:
    told = "60,506,624 + 49,348,608 (tied tensors, counted under every name) = 109,855,232"
    table = Table((Column("convention"), Column("how it comes about")), (Row(("with tied tensors", told)),))
    shown = render(Document("", "", (table,)), "text", width=50)
    assert " ".join(shown.split()).endswith("(tied tensors, counted under every name) = 109,855,232")
    assert all(measure(line) <= 50 for line in shown.splitlines())


def test_a_formula_in_a_cell_is_broken_outside_its_brackets() -> None:
    table = Table((Column("module"), Column("formula")), (Row(("layers", "L_enc × (4 × H² + 2 × H × I) + (4 × H² + 2 × H × I + 9 × H)")),))
    shown = render(Document("", "", (table,)), "text", width=44)
    assert "L_enc × (4 × H² + 2 × H × I)\n" in shown.replace(" +\n", "\n")


def test_a_tree_that_does_not_fit_keeps_its_columns() -> None:
    columns = (Column(""), Column(""), Column("", "integer"), Column("", "share"))
    rows = (
        Row(("model", "", 670_099_725_312, Share(999))),
        Row(("q_a_proj_of_some_length", "[24576, 1536] + [24576, 1536]", 37_748_736, Share(1)), depth=1),
    )
    shown = render(Document("", "", (Table(columns, rows, headed=False),)), "text", width=52).splitlines()
    assert shown == [
        "model                      670,099,725,312  99.9%",
        "  q_a_proj_of_some_length       37,748,736   0.1%",
        "      [24576, 1536] + [24576, 1536]",
    ]


def test_entries_of_a_table_that_does_not_fit_share_lines_where_they_are_short() -> None:
    columns = (Column("what makes it fit"), Column("bytes", "integer"), Column("fits"), Column("largest batch", "integer"), Column(""))
    rows = (Row(("weights in 16 bits", 1_334_666_752, "yes", 9_207, "")), Row(("weights in 8 bits", 1_245_537_280, "yes", 9_240, "")))
    shown = render(Document("", "", (Table(columns, rows),)), "text", width=40).splitlines()
    assert shown[:3] == [
        "what makes it fit                  bytes",
        "weights in 16 bits         1,334,666,752",
        "  fits: yes · largest batch: 9,207",
    ]


def test_a_product_and_a_shape_stay_whole_in_a_narrow_table() -> None:
    columns = (Column(""), Column(""), Column("", "integer"))
    rows = tuple(
        Row((name, shape, number))
        for name, shape, number in (
            ("layer × 12", "12 × 7,087,872", 85_054_464),
            ("query, key, value", "3 × [768, 768] + 768", 1_771_776),
            ("a_name_that_takes_much_of_the_line", "[30522, 768]", 23_440_896),
        )
    )
    for width in range(40, 76):
        shown = render(Document("", "", (Table(columns, rows, headed=False),)), "text", width=width)
        assert all(whole in shown for whole in ("12 × 7,087,872", "3 × [768, 768]", "[30522, 768]")), width


def test_a_table_of_one_row_is_not_set_as_a_column_of_a_newspaper() -> None:
    said = "what from_pretrained gives: tied tensors that the file holds twice with different values are untied"
    table = Table((Column("count"), Column("value", "integer"), Column("definition")), (Row(("as loaded", 671_067_242_584, said)),))
    shown = render(Document("", "", (table,)), "text", width=60).splitlines()
    assert shown[1:3] == [
        "as loaded                                    671,067,242,584",
        "  definition: what from_pretrained gives: tied tensors",
    ]


def test_a_title_is_broken_between_its_phrases() -> None:
    title = "BertModel · bert-base-uncased · 12 层、隐藏维度 768、12 个注意力头"
    shown = render(Document(title, "109,482,240 个参数"), "text", width=60).splitlines()
    assert [line.split("  ")[0] for line in shown] == ["BertModel · bert-base-uncased · 12 层、隐藏维度 768、", "12 个注意力头"]


def test_a_difference_is_written_with_a_minus_sign_and_stays_a_number_in_csv() -> None:
    document = Document("", "", (Table((Column("difference", "integer"),), (Row((-7_214_592,)),)),))
    assert "−7,214,592" in render(document, "text")
    assert "\n-7214592" in "\n" + render(document, "csv").replace("difference\n", "").lstrip()
