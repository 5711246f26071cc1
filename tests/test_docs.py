"""Every snippet in the docs runs: commands print what stands there, Python sessions too."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from weighbridge.cli import main

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.S | re.M)


def snippets(language: str) -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for number, match in enumerate(FENCE.finditer(page.read_text("utf-8"))):
            if match[1] == language:
                found.append((f"{page.relative_to(ROOT)}#{number}", match[2]))
    return found


CONSOLE = [pytest.param(text, id=name) for name, text in snippets("console")]
PYTHON = [pytest.param(name, text, id=name) for name, text in snippets("python")]
assert CONSOLE
assert PYTHON


def sessions(text: str) -> list[tuple[str, str]]:
    """Split a console block into commands and what each prints."""
    pieces = re.split(r"^\$ ", text, flags=re.M)[1:]
    return [(piece.partition("\n")[0], piece.partition("\n")[2]) for piece in pieces]


@pytest.mark.parametrize("text", CONSOLE)
def test_a_command_prints_what_the_page_shows(text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    pairs = sessions(text)
    assert pairs, "a console block shows commands after $"
    for command, expected in pairs:
        words = shlex.split(command, comments=True)
        if words[0] == "weigh":
            main(words[1:])
            shown = capsys.readouterr()
            assert_shows(shown.out + shown.err, expected)


def assert_shows(printed: str, expected: str) -> None:
    """Hold what was printed against the page; a line of dots stands for any lines."""
    pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*?")
    squeezed = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    assert re.fullmatch(pattern, squeezed, re.S), f"printed:\n{squeezed}\n\nthe page shows:\n{expected}"


def test_a_page_that_shows_another_number_is_found() -> None:
    assert_shows("a\nb\nc", "a\n...\nc")
    with pytest.raises(AssertionError):
        assert_shows("109,482,240", "109,482,241")


@pytest.mark.parametrize(("name", "text"), PYTHON)
def test_a_python_session_prints_what_the_page_shows(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    assert test.examples, "a python block is a session with >>>"
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    assert runner.run(test).failed == 0
