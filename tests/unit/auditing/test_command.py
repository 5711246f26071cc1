"""``weigh audit``: exit codes, JSON keys, and the forms of its answer."""

import json
from pathlib import Path

import pytest

from weighbridge.cli import main

CORPUS = Path(__file__).parents[2] / "corpus" / "audit"


@pytest.mark.parametrize(("name", "code"), [("notes_en_right.md", 0), ("notes_en_slip.md", 1), ("missing.md", 2)])
def test_exit_code_tells_whether_anything_is_wrong(name: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(CORPUS / name)]) == code
    capsys.readouterr()


def test_json_has_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(CORPUS / "notes_en_slip.md"), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert {"claims", "summary", "model", "corrected", "left_out"} <= set(answer)
    assert answer["corrected"] == 109_482_240
    keys = {"line", "text", "kind", "verdict", "value", "expected", "difference", "reason"}
    assert answer["claims"]
    assert all(keys <= set(claim) for claim in answer["claims"])


@pytest.mark.parametrize("form", ["--markdown", "--html"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_form_names_the_right_number(form: str, lang: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(CORPUS / "notes_zh_slip.md"), form, "--lang", lang]) == 1
    assert "16,622,592" in capsys.readouterr().out


def test_a_page_on_one_line_is_shown_in_its_lines_with_each_mark_on_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "sizes.html"
    page.write_text("<h2>GPT-2 medium</h2><p>It has 24 layers.</p><p>Its hidden size is 1042.</p><p>It has 355M parameters.</p>", "utf-8")
    assert main(["audit", str(page), "--html"]) == 1
    shown = capsys.readouterr().out
    text = shown[shown.index('<div data-line="1">') : shown.index("</div>", shown.index('<div data-line="1">'))]
    lines = text.split("\n")
    assert len(lines) == 4 and "\\n" not in text and shown.count("data-line=") == 1
    assert ">24 layers</mark>" in lines[1] and "1042</mark>" in lines[2] and ">355M</mark>" in lines[3]
