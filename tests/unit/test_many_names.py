"""Work is bounded in the number of names: many tensors take little memory, and too many are refused in a line."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.names import COMMANDS, KINDS, shapes, write_files
from tests.shares import share
from tests.unit.safetensors_file import write
from weighbridge.cli import main

COUNT = 2_000


IMPOSSIBLE = ("there is no exercise of level layer", "no module of the base model is adapted: target_modules none")
"""What is rightly refused of a checkpoint without layers, or without matrices that an adapter could change."""


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (700_000_000, 700_000_000))


@pytest.mark.parametrize("kind", share(KINDS, 4))
def test_many_tensors_are_within_bounds(kind: str, tmp_path: Path) -> None:
    """So many tensors in 700 MB of addresses: what was quadratic took gigabytes, or many minutes."""
    write_files(tmp_path, kind, COUNT)
    words = [command.format(f=tmp_path / "model.safetensors", d=tmp_path).split() for command in COMMANDS]
    code = "import sys, json\nfrom weighbridge.cli import main\nsys.exit(max(main(words) for words in json.loads(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(words)], capture_output=True, text=True, timeout=300, preexec_fn=limit_memory, check=False
    )
    refused = [line for line in done.stderr.splitlines() if not line.endswith(IMPOSSIBLE)]
    assert not refused
    assert done.returncode == (2 if done.stderr else 1)


@pytest.mark.parametrize("command", ["tensors", "tensors --json", "adapters lora:r=2", "parallel --tp 2"])
def test_more_names_than_anybody_reads_are_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = command.split()
    assert main([name, "bert-tiny", *options, "--set", "num_hidden_layers=10000000"]) == 2
    assert capsys.readouterr().err == "weigh: 160,000,007 tensors; at most 1,000,000 are listed by name\n"


@pytest.mark.parametrize("command", ["count", "formula", "explain", "counts", "flops", "cache", "memory", "report -o {}/r.html"])
def test_what_needs_no_names_knows_no_such_limit(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, *options = command.format(tmp_path).split()
    assert main([name, "bert-tiny", *options, "--set", "num_hidden_layers=10000000"]) == 0
    assert capsys.readouterr().out


def test_a_derivation_of_modules_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "model.safetensors", shapes("heads", 12_000))
    assert main(["explain", str(tmp_path / "model.safetensors")]) == 2
    said = "weigh: 24,001 modules that differ; at most 20,000 are derived: name one with --module\n"
    assert capsys.readouterr().err == said
    assert main(["explain", str(tmp_path / "model.safetensors"), "--module", "m7"]) == 0


def test_a_report_says_what_it_leaves_out(tmp_path: Path) -> None:
    write(tmp_path / "model.safetensors", shapes("bare", 12_000))
    assert main(["report", str(tmp_path / "model.safetensors"), "-o", str(tmp_path / "r.md")]) == 0
    text = (tmp_path / "r.md").read_text()
    assert "Only the first 10,000 rows are shown; weigh count shows all." in text


def test_a_matrix_that_stands_in_no_module_is_cut_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A bare matrix at the top of a file has a name of one piece, which a sentence names as it is."""
    write(tmp_path / "model.safetensors", {"proj": (4, 6), "layers.0.self_attn.q_proj.weight": (4, 4), "norm.weight": (4,)})
    assert main(["parallel", str(tmp_path / "model.safetensors"), "--tp", "2"]) == 0
    assert "proj" in capsys.readouterr().out
