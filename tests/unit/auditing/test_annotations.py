"""Annotations for a pull request: GitHub's workflow commands, and SARIF."""

import json
from pathlib import Path

import pytest

from weighbridge.cli import main

TEXT = "30522 × 768 = 23,449,856\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text(TEXT, "utf-8")
    (tmp_path / "docs" / "b.md").write_text("2 + 2 = 4\n", "utf-8")
    (tmp_path / "docs" / "c.png").write_bytes(b"\0")
    return tmp_path / "docs"


def test_github_shows_each_error_on_its_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(folder), "--format", "github"]) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("::error file=")
    assert ",line=1,col=1," in line
    assert "should be 23,440,896 (8,960 too high)" in line


def test_sarif_names_the_file_and_the_place(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(folder), "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)
    (result,) = log["runs"][0]["results"]
    assert (log["version"], result["level"]) == ("2.1.0", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 1


def test_a_folder_is_audited_file_by_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", str(folder), "--json"]) == 1
    answers = json.loads(capsys.readouterr().out)
    assert [len(answer["claims"]) for answer in answers] == [1, 1]
    assert all(answer["summary"]["seen"] >= answer["summary"]["judged"] for answer in answers)
