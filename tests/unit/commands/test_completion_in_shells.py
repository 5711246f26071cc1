"""Completion as the shells themselves do it, where they are installed."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src"
LINES = [
    ("weigh exp", "explain"),
    ("weigh explain --de", "--depth"),
    ("weigh bert-base-ch", "bert-base-chinese"),
    ("weigh completion z", "zsh"),
    ("weigh help recon", "reconcile"),
    ("weigh count --lang z", "zh"),
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which weigh is a command."""
    program = tmp_path / "weigh"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={SOURCE} exec {sys.executable} -m weighbridge "$@"\n', "utf-8")
    program.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "TERM": "dumb", "COLUMNS": "120"}


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_fish(line: str, wanted: str, environment: dict[str, str]) -> None:
    script = f'weigh completion fish | source; complete -C "{line}"'
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert wanted in [found.partition("\t")[0] for found in done.stdout.splitlines()]


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_bash(line: str, wanted: str, environment: dict[str, str]) -> None:
    words = line.split()
    script = (
        'eval "$(weigh completion bash)"; '
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; COMP_LINE='{line}'; COMP_POINT={len(line)}; _weigh; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert wanted in [found.strip() for found in done.stdout.splitlines()]


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_zsh(line: str, wanted: str, environment: dict[str, str], tmp_path: Path) -> None:
    """The line editor of zsh needs a terminal, so it has one, in which a person types the line and a tab."""
    setup = tmp_path / "setup.zsh"
    setup.write_text(
        f'autoload -Uz compinit; compinit -u -d {tmp_path}/dump\neval "$(weigh completion zsh)"\nprint ready$((1+1))\n', "utf-8"
    )
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe("zsh", ["zsh", "-f"], environment)
    try:
        os.write(terminal, f"source {setup}\n".encode())
        assert "ready2" in read_until(terminal, "ready2")
        os.write(terminal, f"{line}\t".encode())
        rest = wanted.removeprefix(line.split()[-1])
        assert rest in read_until(terminal, rest).replace("\x07", "")
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(terminal)


def read_until(terminal: int, wanted: str, seconds: float = 40) -> str:
    """Read what a terminal shows until something stands in it."""
    shown, end = "", time.monotonic() + seconds
    while time.monotonic() < end and wanted not in shown.replace("\x07", ""):
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


def test_powershell_s_grammar_reads_the_script() -> None:
    """PowerShell itself is seldom at hand; its grammar for tree-sitter comes with the test packages."""
    sitter, powershell = pytest.importorskip("tree_sitter"), pytest.importorskip("tree_sitter_powershell")
    script = subprocess.run(
        [sys.executable, "-m", "weighbridge", "completion", "powershell"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    parser = sitter.Parser(sitter.Language(powershell.language()))
    assert not parser.parse(script).root_node.has_error
    assert parser.parse(script.replace(b"@{", b"@", 1)).root_node.has_error, "a fault is noticed"
