"""Texts with formulas: whole documents that other programs accept."""

import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from weighbridge import UsageError, model
from weighbridge.documents.document import Document, Paragraph
from weighbridge.documents.explain import document
from weighbridge.documents.renderers import BINARY, FORMATS, render

VOID = {"meta", "br", "wbr"}


class Nesting(HTMLParser):
    """Follows the tags; ``open`` is empty at the end of a page whose tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open
        assert self.open.pop() == tag


def pretraining(lang: str) -> Document:
    return document(model("bert-base-chinese", "BertForPreTraining").explain(lang))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_html_closes_its_tags(lang: str) -> None:
    nesting = Nesting()
    nesting.feed(render(pretraining(lang), "html"))
    assert nesting.open == []


def test_an_unclosed_tag_is_found() -> None:
    nesting = Nesting()
    nesting.feed("<p><b>bold</b>")
    assert nesting.open == ["p"]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_latex_closes_its_braces_and_environments(lang: str) -> None:
    text = render(pretraining(lang), "latex").replace(r"\{", "").replace(r"\}", "")
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{") == text.count(r"\end{")
    assert ("ctexart" in text) == (lang == "zh")


@pytest.mark.sweep
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_latex_compiles(lang: str, tmp_path: Path) -> None:
    if shutil.which("xelatex") is None:
        pytest.skip("xelatex is not installed")
    (tmp_path / "paper.tex").write_text(render(pretraining(lang), "latex"), "utf-8")
    command = ["xelatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in (*BINARY, "csv", "svg")])
def test_text_is_escaped(form: str) -> None:
    text = render(Document("a_b", "1", (Paragraph(1, "x < y & z_1"),)), form)
    expected = {"html": "x &lt; y &amp; z_1", "latex": r"x < y \& z\_1"}.get(form, "x < y & z_1")
    assert expected in text


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UsageError, match="no format 'pdf'; known: text, terminal, markdown, html, latex"):
        render(Document(""), "pdf")
