"""Names from files are data: whatever they hold, no command and no form of an answer lets them act.

Held over every command that takes a file or a config, in every form, with names made to rewrite a terminal, to turn a line round, to be
computed by a spreadsheet, to be run by a page, to fetch a picture from a Markdown reader, and to break a line of a table.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hostile.acts import acts
from tests.unit.safetensors_file import write
from weighbridge.api.model import model
from weighbridge.cli import main
from weighbridge.core.escape import HIDDEN, escape_invisible
from weighbridge.documents.document import Column, Document, Heading, Item, Paragraph, Row, Table
from weighbridge.documents.renderers import BINARY, FORMATS, render

NAMES = (
    "\x1b[2J\x1b]0;owned\x07", "line\r\nbreak", "\x9b31mred", "\u202egnp.exe", "\u2066a\u2069", "a\u2028b\u2029c", "nul\0", "\ufeffbom",
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "＝1+1", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a|b|c",
    "![p](http://evil.example/x.png)", "[l](javascript:alert(1))", "`code` ``more``", "\\input{/etc/passwd}", "$x$ & % # _ {", "[4] bracket",
    "]]></text><script>", '" onload="alert(1)', "\ue000joint", "\U000e0041tag", "名字", "e\u0301", "🏋️", "filler\u3164\u115f", "joiner\u034f", "variant\U000e0100",
)  # fmt: skip
TEXTS = st.text(
    st.sampled_from("ab1 .=+-@|<>&\"'`[](){}\\$%#_~^*!:\n\r\t\x00\x07\x1b\x85\x9b\u00ad\u200b\u200e\u202e\u2066\u2028\ufeff\ue000\ud800字")
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Files whose every name is hostile, by what they are."""
    folder = tmp_path_factory.mktemp("hostile") / "\x1b[31m<b>\u202e=1"
    folder.mkdir()
    shapes = {f"bert.encoder.layer.{number}.{name}.weight": (4, 4) for number, name in enumerate(NAMES)} | dict.fromkeys(NAMES, (3,))
    write(folder / "model.safetensors", shapes)
    small = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 8,
        "vocab_size": 16,
        "max_position_embeddings": 4,
    }
    config = {"model_type": "bert", **small, **dict.fromkeys(NAMES, "\x1b[1m"), "_name_or_path": NAMES[0], "architectures": ["BertModel"]}
    (folder / "config.json").write_text(json.dumps(config))
    wrong = folder / "wrong\x07.json"
    wrong.write_text(json.dumps({"model_type": "bert", "hidden_size": "\x1b[2J\u202e", NAMES[0]: 1}))
    stranger = folder / "stranger.json"
    stranger.write_text(json.dumps({"model_type": "\x1b[2J<script>\u202e"}))
    article = folder / "article.md"
    article.write_text("\n".join(f"{name} has 110M parameters, 3 × 4 = 13 \x1b[2J" for name in NAMES), newline="")
    adapter = folder / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(
        json.dumps({"peft_type": "LORA", "r": 2, "target_modules": ["query", *NAMES], NAMES[1]: 1})
    )
    (folder / "damaged\u202e.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0" + b'{"\x1b[2J": 5}     ')
    return {
        "file": str(folder / "model.safetensors"),
        "config": str(folder / "config.json"),
        "folder": str(folder),
        "article": str(article),
        "adapter": str(adapter),
        "wrong": str(wrong),
        "stranger": str(stranger),
        "damaged": str(folder / "damaged\u202e.safetensors"),
    }


COMMANDS = (
    "count {file}", "count {config}", "tensors {file}", "tensors {config}", "explain {config}", "formula {config}", "counts {config}",
    "reconcile 12345 {config}", "flops {config} --seq 4", "cache {config}", "memory {config} --seq 4", "adapters {config} {adapter}", "verify {folder}",
    "verify {config} --checkpoint {file}", "diff {file} {config}", "diff {config} bert-tiny", "compare {config} {file}", "audit {article}",
    "audit {article} --model {config}", "solve {config} vocab_size --params 110M", "sweep {config} vocab_size=5:7", "parallel {config} --tp 2",
    "fits {config} --device a100-80gb", "explain {file}", "counts {file}", "reconcile 5 {file}", "memory {file}", "fits {file} --device a100-80gb",
    "adapters {file} {adapter}", "quiz {config}", "design --like {config} --params 10M", "models \x1b[2J", "audit {article} --lang zh", "count {wrong}", "verify {wrong}", "count {stranger}", "count {damaged}", "diff {damaged} {file}",
    "count {folder}/none\x1b[2J\u202e", "count bert-tiny --class \x1b[2J", "count bert-tiny --set \x1b[2J=\u202e", "tensors {file} --nope\x1b[2J", "\x1b[2Jcount",
)  # fmt: skip
FORMS = ("", "--json", "--csv", "--markdown", "--html", "--format latex")


@pytest.mark.parametrize("command", COMMANDS, ids=ascii)
def test_nothing_acts_in_what_a_command_says(hostile: dict[str, str], command: str, capsys: pytest.CaptureFixture[str]) -> None:
    for form in FORMS:
        words = [word.format(**hostile) for word in f"{command} {form}".split()]
        assert main(words) in (0, 1, 2)
        said = capsys.readouterr()
        assert acts(said.out, form.strip("-")) is None, form
        assert acts(said.err, "text") is None, form
        assert "Traceback" not in said.err, form
        assert said.err.count("\n") <= len(NAMES) + 1, form


@pytest.mark.parametrize("ending", ["html", "md", "tex", "txt", "csv", "json", "svg", "xlsx"])
@pytest.mark.parametrize("source", ["file", "config"])
def test_nothing_acts_in_a_report(
    hostile: dict[str, str], source: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if ending == "xlsx":
        pytest.importorskip("xlsxwriter", reason="the extra excel is not installed")
    path = tmp_path / f"report.{ending}"
    assert main(["report", hostile[source], "-o", str(path)]) == 0, capsys.readouterr().err
    if ending != "xlsx":
        assert acts(path.read_text("utf-8"), {"md": "markdown"}.get(ending, ending)) is None
        return
    with zipfile.ZipFile(path) as book:
        for name in book.namelist():
            text = book.read(name).decode()
            assert "<f>" not in text
            assert not [letter for letter in text if category(letter) in HIDDEN and letter not in "\r\n"]


@given(st.lists(TEXTS, min_size=6, max_size=6), st.sampled_from([form for form in FORMATS if form not in (*BINARY, "svg")]))
@settings(max_examples=300, deadline=None)
def test_nothing_acts_in_any_document(texts: list[str], form: str) -> None:
    """Whatever texts a document is made of, the forms show them and obey none."""
    title, heading, note, code, column, cell = texts
    table = Table(
        (Column(column), Column("count", "integer"), Column("tie", "tie")), (Row((cell, 5, f"= {cell}")), Row((note, None, ""), 1))
    )
    blocks = (Heading(1, "1", heading, code), Paragraph(1, note), Item(1, "", code, (code, cell)), table, Paragraph(0, cell))
    document = Document(title, heading, blocks)
    assert acts(render(document, form, width=40), form) is None


@given(TEXTS)
@settings(max_examples=200)
def test_what_is_written_out_can_be_read_back(text: str) -> None:
    """A name shown in a JSON answer is the name: the escapes are JSON's own."""
    shown = escape_invisible(json.dumps(text, ensure_ascii=False))
    assert json.loads(shown) == text
    assert shown.encode()


def test_a_page_and_a_call_show_names_as_data(hostile: dict[str, str]) -> None:
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from starlette.testclient import TestClient

    from weighbridge.web.app import create

    config = Path(hostile["config"]).read_text()
    with TestClient(create()) as client:
        for address in ("/model", "/explain", "/api/v1/count", "/api/v1/tensors", "/api/v1/explain"):
            text = client.get(address, params={"config": config}).text
            assert acts(text, "json" if "/api/" in address else "html") is None, address
        for source in NAMES:
            text = client.get("/model", params={"source": source, "module": source, "class": source}).text
            assert acts(text.replace("\t", ""), "html") is None, source


def test_an_error_in_python_shows_names_as_data(hostile: dict[str, str]) -> None:
    for source in ("wrong", "stranger", "damaged"):
        with pytest.raises(ValueError, match=r"u001b|u202e|u0007") as caught:
            model(hostile[source])
        assert acts(str(caught.value), "text") is None


CHECKS: tuple[tuple[str, str], ...] = (
    ("\x1b[2J", "text"),
    ("\u202e", "markdown"),
    ("a,=1+1\n", "csv"),
    ("<script>", "html"),
    ("[a](http://b)", "markdown"),
    ("\ud800", "json"),
)


@pytest.mark.parametrize(("text", "form"), CHECKS, ids=ascii)
def test_what_acts_would_be_noticed(text: str, form: str) -> None:
    look: Callable[[str, str], str | None] = acts
    assert look(text, form) is not None
