"""At any width no line is wider than the terminal, and no number is broken (``scripts/pictures --gallery`` shows all of it)."""

import re

import pytest

from weighbridge.cli import main
from weighbridge.documents.renderers.layout import measure

COMMANDS = [
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
    for command in COMMANDS:
        words = command.format(name).split()
        main([*words, *([] if words[0] == "help" else ["--lang", lang])])
        narrow = capsys.readouterr().out
        text = narrow.partition("example:")[0]  # examples are there to be copied, and stay on one line
        assert all(measure(line) <= columns for line in text.splitlines()), command
        monkeypatch.setenv("COLUMNS", "400")
        main([*words, *([] if words[0] == "help" else ["--lang", lang])])
        wide = capsys.readouterr().out
        monkeypatch.setenv("COLUMNS", str(columns))
        number = re.compile(r"\d{1,3}(?:,\d{3})+")
        assert set(number.findall(wide)) == set(number.findall(narrow)), command
