"""Whatever stands at the other end of a stream, no traceback: narrow encodings, closed and full streams, hard inputs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from weighbridge.cli import main
from weighbridge.documents.renderers.wrapping import measure

SOURCE = Path(__file__).parents[3] / "src"


def weigh(line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    found = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "NO_COLOR")}
    found |= {"PYTHONPATH": str(SOURCE), "WEIGH": f"{sys.executable} -m weighbridge", **environment}
    return subprocess.run(["bash", "-c", line], capture_output=True, check=False, env=found)


@pytest.mark.parametrize("encoding", ["ascii", "gbk", "cp1252", "cp437", "latin-1", "utf-16"])
def test_a_character_that_cannot_be_written_gets_a_plain_form(encoding: str) -> None:
    counted, wrong = (weigh(f"$WEIGH {words}", PYTHONIOENCODING=encoding) for words in ("bert-base-chinese", "explian --lang zh"))
    asked = "explain bert-tiny --lang zh", "flops bert-tiny --lang zh", "explian bert-tiny --lang zh"
    program = "from weighbridge.cli import main\nfor words in {}: main(words.split())"
    done = weigh(f"{sys.executable} -c '{program.format(json.dumps(asked))}'", PYTHONIOENCODING=encoding)
    for each in (counted, wrong, done):
        assert b"Traceback" not in each.stderr
        assert each.stdout or each.stderr
    assert done.returncode == 0 and done.stdout
    assert counted.stdout.decode(encoding).startswith("BertModel ")
    if encoding == "ascii":
        assert "[768, 768] + 768" in counted.stdout.decode()
        assert "12 x 7,087,872" in counted.stdout.decode()
        assert b"explian: no such command" in wrong.stderr


FILLING = "f=$(mktemp); exec > $f; rm $f; ulimit -f 1;"
"""What makes standard output a file that may have 1,024 bytes, as on a disk that fills up midway."""


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("$WEIGH bert-tiny > /dev/full", 2, "standard output cannot be written: No space left on device"),
        ("$WEIGH bert-tiny > /dev/full 2> /dev/full", 2, ""),
        ("$WEIGH nope 2> /dev/full", 2, ""),
        (f"{FILLING} $WEIGH tensors bert-tiny", 2, "standard output cannot be written: File too large"),
        (f"{FILLING} PYTHONUNBUFFERED=1 $WEIGH tensors bert-tiny", 2, "standard output cannot be written: File too large"),
        ("$WEIGH bert-tiny >&-", 0, ""),
        ("$WEIGH nope 2>&-", 2, ""),
        ("$WEIGH - <&-", 2, "standard input is closed"),
        ("$WEIGH - < /dev/null", 2, "standard input is empty; expected a config as a JSON object"),
        ("$WEIGH ''", 2, "the source is empty; expected a preset"),
        ("$WEIGH /dev/null", 2, "/dev/null is empty"),
        ("""$WEIGH <(echo '{"model_type": "bert"}') | head -1; exit ${PIPESTATUS[0]}""", 0, ""),
        ("""echo '{"model_type": "bert"}' | iconv -t utf-16 | $WEIGH -""", 2, "standard input is UTF-16 text; save it as UTF-8"),
        ("echo '[1]' | $WEIGH -", 2, "standard input holds a list, expected an object"),
        ("$WEIGH tensors bert-large-uncased | head -1; exit ${PIPESTATUS[0]}", 0, ""),
        ("LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0 $WEIGH bert-tiny", 0, ""),
    ],
)
def test_streams_that_are_hard_to_read_or_write(line: str, code: int, message: str) -> None:
    done = weigh(line)
    assert done.returncode == code
    assert b"Traceback" not in done.stderr
    assert message in done.stderr.decode()


@pytest.mark.parametrize("columns", [40, 60, 80, 120, 200])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_line_fits_and_no_number_is_broken(
    columns: int, lang: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for words in (["bert-base-chinese"], ["flops", "bert-tiny"], ["explain", "bert-tiny"], ["help", "flops"], ["--help"]):
        assert main([*words, "--lang", lang]) == 0
        printed = capsys.readouterr().out
        assert all(measure(line) <= columns for line in printed.splitlines() if columns >= 60 and not line.startswith("  weigh ")), words
    assert main(["bert-base-chinese", "--lang", lang]) == 0
    printed = capsys.readouterr().out
    for number in ("102,267,648", "16,226,304", "7,087,872", "token_type_embeddings"):
        assert columns < 60 or number in printed


def test_a_mistyped_command_is_answered_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["explian", "bert-tiny"], ["explian"], ["help", "explian"], ["explian", "bert-tiny", "--depth", "1"]):
        assert main(words) == 2
        assert capsys.readouterr().err == "weigh: explian: no such command; did you mean explain?\n"
    assert main(["help", "explain"]) == 0
    assert capsys.readouterr().out.startswith("usage: weigh explain SOURCE [OPTIONS]")


def test_options_before_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "counts", "bert-tiny"]) == main(["counts", "bert-tiny", "--json"]) == 0
    one, other = capsys.readouterr().out.splitlines()
    assert one == other
    assert main(["--class", "BertForMaskedLM", "tensors", "bert-tiny"]) == 0


@pytest.mark.parametrize(
    ("name", "first"),
    [("bert", "bert-base-uncased"), ("llama3", "llama-3-8b"), ("mistral-7b-v", "mistral-7b-v0.1"), ("Llama 3", "llama-3-8b")],
)
def test_suggestions_are_those_a_person_would_make(name: str, first: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 2
    assert f"did you mean {first}" in capsys.readouterr().err


def test_a_field_nearly_spelled_right_is_a_loud_note_and_an_error_with_strict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"model_type": "bert", "hiden_size": 64}')
    assert main([str(config)]) == 0
    assert "hiden_size: bert has no such field, so it is ignored; did you mean hidden_size?" in capsys.readouterr().err
    assert main([str(config), "--strict"]) == 2
    assert "hiden_size: bert has no such field (did you mean hidden_size?)" in capsys.readouterr().err


def test_inner_rows_say_what_they_are_of_and_total_adds_them_up(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bert-base-uncased"]) == 0
    assert "1,771,776  1 of 12" in capsys.readouterr().out
    assert main(["bert-base-uncased", "--total", "--csv"]) == 0
    printed = capsys.readouterr().out
    assert "self,,21261312,19.4," in printed
    assert main(["bert-base-uncased"]) == 0
    assert "109.5 M parameters; 438 MB in float32, 219 MB in bfloat16." in capsys.readouterr().out


def test_a_list_without_a_match_exits_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "no-such-thing"]) == 1
    assert "presets: 0; model types: 0" in capsys.readouterr().out
