"""At any width no line is wider than the terminal, and no number is broken (``scripts/pictures --gallery`` shows all of it)."""

import re

import pytest

from weighbridge.cli import main
from weighbridge.commands.help import page
from weighbridge.commands.table import COMMANDS
from weighbridge.documents.renderers.wrapping import measure

LINES = [
    "count {}",
    "explain {}",
    "formula {}",
    "counts {}",
    "memory {}",
    "fits {} --gib 24",
    "compare {} bert-base-uncased",
    "tensors {}",
    "help fits",
]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("name", ["bert-base-chinese", "llama-3-8b", "whisper-tiny"])
def test_no_line_is_wider_than_the_terminal(
    name: str, columns: int, lang: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for command in LINES:
        words = command.format(name).split()
        main([*words, *([] if words[0] == "help" else ["--lang", lang])])
        narrow = capsys.readouterr().out
        assert all(measure(line) <= columns for line in narrow.splitlines()), command
        monkeypatch.setenv("COLUMNS", "400")
        main([*words, *([] if words[0] == "help" else ["--lang", lang])])
        wide = capsys.readouterr().out
        monkeypatch.setenv("COLUMNS", str(columns))
        number = re.compile(r"\d{1,3}(?:,\d{3})+")
        assert set(number.findall(wide)) == set(number.findall(narrow)), command


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("columns", [60, 80])
def test_no_line_of_any_help_is_wider_than_the_terminal(columns: int, lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name in COMMANDS:
        for line in page(name, lang).splitlines():
            assert measure(line) <= columns, (name, line)
