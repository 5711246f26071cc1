"""The command line: forms of output, exit codes, one line for an error."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from weighbridge.cli import main
from weighbridge.commands.table import COMMANDS
from weighbridge.core.errors import SourceError


def output_of(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["count"],
        ["--json"],
        ["nope"],
        ["bert-base-uncased", "--set", "x"],
        ["flops", "bert-base-uncased", "--seq", "0"],
        ["tensors", "bert-base-uncased", "--names", "x"],
        ["bert-base-uncased", "--nope"],
        ["bert-base-uncased", "--class", "X"],
    ],
)
def test_bad_input_exits_with_2_and_says_so(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert (shown.err or shown.out).strip()


def test_an_error_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bert-base-uncasd"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("weigh: bert-base-uncasd: no such preset or file; did you mean bert-base-uncased")
    assert error.count("\n") == 1


def test_traceback_shows_where_an_error_came_from() -> None:
    with pytest.raises(SourceError):
        main(["nope", "--traceback"])


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    overview = output_of(capsys, "--help")
    assert all(f"  {name} " in overview for name in COMMANDS)
    assert output_of(capsys, "--version").startswith("weighbridge 0.")


def test_the_bare_source_is_count(capsys: pytest.CaptureFixture[str]) -> None:
    assert output_of(capsys, "bert-base-uncased") == output_of(capsys, "count", "bert-base-uncased")
    assert output_of(capsys, "--class", "BertForMaskedLM", "bert-base-uncased").startswith("BertForMaskedLM")


def test_rows_of_a_level_add_up_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    head, *rows = list(csv.reader(io.StringIO(output_of(capsys, "bert-base-chinese", "--depth", "1", "--csv"))))
    assert head == ["module", "shape", "amount", "share %", "path"]
    assert sum(int(row[2]) for row in rows) == 102_267_648
    assert [row[3] for row in rows] == [f"{int(row[2]) / 1_022_676.48:.1f}" for row in rows]
    for form in ("--markdown", "--html"):
        assert "85,054,464" in output_of(capsys, "bert-base-chinese", form)


def test_tensors_as_json_have_the_documented_keys(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(output_of(capsys, "tensors", "bert-base-uncased", "--class", "BertForPreTraining", "--json"))
    assert all({"name", "shape", "count", "role", "tied_to"} <= set(row) for row in rows)
    assert sum(row["count"] for row in rows if row["tied_to"] is None) == 110_106_428


@pytest.mark.parametrize(("source", "seq"), [("clip-vit-base-patch32", 77), ("bert-base-uncased", 128)])
def test_flops_are_of_no_more_tokens_than_there_are_positions(source: str, seq: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(output_of(capsys, "flops", source, "--json"))["seq"] == seq


def test_flops_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(output_of(capsys, "flops", "bert-base-uncased", "--batch", "2", "--json"))
    assert answer["forward_matmul"] == 2 * 22_348_431_360
    assert answer["tree"]["forward_matmul"] == answer["forward_matmul"]
    assert answer["backward"] == 2 * answer["forward_matmul"]


def test_models_are_listed_and_can_be_narrowed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "bert-base-chinese" in output_of(capsys, "models", "--names").split()
    answer = json.loads(output_of(capsys, "models", "bert-base-c", "--json"))
    assert {entry["name"] for entry in answer["presets"]} >= {"bert-base-cased", "bert-base-chinese"}
    assert "102,267,648" in output_of(capsys, "models", "bert-base-chinese")


def test_coverage_is_told_as_it_was_measured(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(output_of(capsys, "models", "--coverage", "--json"))
    assert found["classes_exact"] == sum(exact for exact, _ in found["by_type"].values())
    assert found["classes"] == sum(of for _, of in found["by_type"].values())
    shown = output_of(capsys, "models", "bert", "--coverage")
    assert f"{found['classes_exact']:,} of {found['classes']:,} classes agree" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = output_of(capsys, "completion", shell)
    assert all(name in script for name in COMMANDS)


def test_bash_accepts_its_completion(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(output_of(capsys, "completion", "bash"))
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = f"{sys.executable} -m weighbridge.cli tensors bert-large-uncased | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2] / "src")
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1


def test_a_terminal_gets_the_same_rows_in_colour() -> None:
    import re

    import weighbridge
    from weighbridge.documents.count import document
    from weighbridge.documents.renderers import render

    answer = document(weighbridge.model("bert-base-chinese"))
    drawn = re.sub(r"\x1b\[[0-9;]*m", "", render(answer, "terminal", width=110))
    for line in render(answer, "text").splitlines()[1:20]:
        for number in re.findall(r"[\d,]{5,}", line):
            assert number in drawn
    assert "█" in drawn
