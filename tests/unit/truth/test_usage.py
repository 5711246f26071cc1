"""``--help`` of the repository's tools: their docstring, before anything is imported or run."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.usage import print_usage

ROOT = Path(__file__).parents[3]
TOOLS = [
    path for folder in ("benchmarks", "truth") for path in sorted((ROOT / folder).glob("*.py")) if '"__main__"' in path.read_text("utf-8")
]
SCRIPTS = sorted(path for path in (ROOT / "scripts").iterdir() if path.is_file())
assert len(TOOLS) > 20 and len(SCRIPTS) > 10


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: f"{path.parent.name}.{path.stem}")
def test_a_tool_asked_for_help_prints_its_docstring_and_runs_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    name = f"{path.parent.name}.{path.stem}".removesuffix(".__main__")
    monkeypatch.setattr(sys, "argv", ["-m", "--help"])
    monkeypatch.setattr(sys, "orig_argv", ["python", "-m", name, "--help"])
    if "argparse" in path.read_text("utf-8"):
        print_usage(path.parent.name)  # leaves it to the tool
        return
    with pytest.raises(SystemExit) as ended:
        print_usage(path.parent.name)
    assert ended.value.code is None and len(capsys.readouterr().out) > 40


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_knows_help(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "--help" in text or path.name == "weigh", "weigh says it itself"
