"""Terminals, disks and interpreters as they are found: every encoding, every stream, an interruption at any moment, a full disk, no home."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weighbridge.cli import main

SOURCE = Path(__file__).parents[3] / "src"
ENCODINGS = (
    "ascii",
    "latin-1",
    "cp1252",
    "cp437",
    "cp866",
    "koi8-r",
    "gbk",
    "big5",
    "shift_jis",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-7",
    "utf-8-sig",
)
COMMANDS = (
    "bert-base-chinese", "bert-tiny --json --lang zh", "tensors bert-tiny --csv", "explain bert-tiny --lang zh", "explain bert-tiny --format latex", "formula bert-tiny", "counts bert-tiny --lang zh",
    "reconcile 110M bert-base-uncased", "flops bert-tiny --explain --lang zh", "cache gpt2", "memory bert-tiny --training --lang zh", "fits gpt2 --device a100-80gb", "parallel gpt2 --tp 2", "compare bert-tiny bert-mini --html",
    "diff bert-tiny bert-mini --markdown", "solve bert-tiny vocab_size --params 4385920 --lang zh", "sweep bert-tiny --set vocab_size=5:7", "quiz --lang zh --solution", "models bert --lang zh", "adapters bert-tiny lora:r=4,target_modules=query",
    "--help", "help explain --lang zh", "completion bash", "man", "名字", "bert-tiny --class 名字", "bert-tiny --set 名=字",
)  # fmt: skip
LONG = (
    ("design --like bert-base-uncased --params 110M --json", ""),
    ("solve bert-base-uncased hidden_size vocab_size --params 110M", ""),
    ("sweep bert-tiny --set vocab_size=1:200000", ""),
    ("reconcile 110M bert-base-uncased", ""),
    ("report bert-base-uncased -o {folder}/report.html", "report.html"),
    ("report bert-base-uncased -o {folder}/report.xlsx", "report.xlsx"),
    ("explain deepseek-v3", ""),
    ("tensors bert-large-uncased --csv", ""),
    ("audit {folder}/long.md", ""),
)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_command_can_be_written_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for command in COMMANDS:
        out, err = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, encoding=encoding))
        code = main(command.split())
        sys.stdout.flush()
        sys.stderr.flush()
        assert code in (0, 1, 2), command
        assert out.getvalue() or code == 2, command
        assert out.getvalue().decode(encoding) or err.getvalue().decode(encoding), command


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # hypothesis watches the garbage collector
@pytest.mark.parametrize(("command", "file"), LONG, ids=[command for command, _ in LONG])
def test_an_interruption_at_any_moment_is_quiet(command: str, file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if "xlsx" in file:
        pytest.importorskip("xlsxwriter", reason="the extra excel is not installed")
    pytest.importorskip(
        "numpy", reason="the extra columns is not installed"
    )  # now: a process that was stopped within cannot import it again
    (tmp_path / "long.md").write_text("BERT has 110M parameters; 3 × 4 = 13.\n" * 2000)
    words = command.format(folder=tmp_path).split()
    interrupted, longest = 0, 0.0
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    try:
        for moment in (0.004, 0.01, 0.03, 0.07, 0.15):
            began = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, moment)
            code = main(words)
            signal.setitimer(signal.ITIMER_PROF, 0)
            interrupted, longest = interrupted + (code == 130), max(longest, time.process_time() - began)
            said = capsys.readouterr()
            assert code in (0, 1, 130)
            assert "Traceback" not in said.err
            assert said.err == ("weigh: interrupted\n" if code == 130 else said.err)
            here = {path.name for path in tmp_path.iterdir()}
            assert here <= {"long.md", file}, "half of a file is left"
            if file in here and code == 130:
                assert (tmp_path / file).stat().st_size > 5000
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert interrupted or longest < 0.03  # it may be done before the clock, which ticks every few milliseconds, has ended


def run(words: list[str], *options: str, file_size: int = 0, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line as a program."""

    def bound() -> None:
        import resource

        if file_size:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))

    found = {**os.environ, "PYTHONPATH": str(SOURCE), **(environment or {})}
    return subprocess.run(
        [sys.executable, *options, "-m", "weighbridge", *words],
        capture_output=True,
        text=True,
        env=found,
        preexec_fn=bound,
        timeout=60,
        stdin=subprocess.DEVNULL,
    )


def test_ctrl_c_is_one_line_and_130(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "weighbridge", "design", "--like", "bert-base-uncased", "--params", "110M±30%", "--multiple-of", "1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)}
    ) as process:
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    if process.returncode != 0:  # a fast machine is done before
        assert (process.returncode, out, err) == (130, "", "weigh: interrupted\n")


@pytest.mark.parametrize("ending", ["html", "md", "csv", "json", "svg", "xlsx", "tex", "txt"])
def test_a_full_disk_is_told_and_nothing_half_is_left(ending: str, tmp_path: Path) -> None:
    if ending == "xlsx":
        pytest.importorskip("xlsxwriter", reason="the extra excel is not installed")
    done = run(["report", "bert-base-uncased", "-o", str(tmp_path / f"report.{ending}")], file_size=512)
    assert done.returncode == 2
    assert "cannot be written: " in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_census_on_a_full_disk_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="the extra bulk is not installed")
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "config.json").write_text('{"model_type": "bert"}')
    done = run(["census", str(tmp_path / "models"), "-o", str(tmp_path / "out.parquet"), "--jobs", "1"], file_size=512)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.parquet").is_file() or (tmp_path / "out.parquet").stat().st_size == 0


@pytest.mark.parametrize(
    "place",
    [
        "/proc/none/x.html",
        "/dev/full",
        "/",
        "{folder}",
        "{folder}/none/x.html",
        "{folder}/" + "x" * 300 + ".html",
        "{folder}/a\0b.html",
        "",
    ],
)
def test_a_place_that_cannot_be_written_is_told_in_a_line(place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "bert-tiny", "-o", place.format(folder=tmp_path)]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err.startswith("weigh: ")


@pytest.mark.parametrize("command", ["count", "tensors", "verify", "diff bert-tiny", "audit", "compare bert-tiny", "adapters bert-tiny"])
@pytest.mark.parametrize(
    "name",
    ["x" * 300, "x" * 5000 + "/y", "a\0b", "\udcff", "名字.json", "/proc/self/mem", "/proc/1/environ", "/dev/tty", "http://例え.テスト/model.safetensors", "http://[::1", "http://a b/c.json", "http://127.0.0.1:99999/x.json",
     "http://127.0.0.1:0/模型/x.json", "https://user:pw@/x.json", "http://\u202e/x.json", "http:///x.json", "s3://", "s3://名/x", "gs://b/../x.json", "hf:../x", "org/name@../../x", "modelscope:", "-x", "@", "~nobody/x", "file:///etc/passwd"],
    ids=ascii,
)  # fmt: skip
def test_no_name_of_a_source_makes_a_traceback(
    command: str, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("weighbridge.readers.remote.TRIES", 1)
    assert main([*command.split(), name]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "environment"),
    [
        (("-O",), {}), (("-OO",), {}), (("-W", "error"), {}), (("-X", "utf8=0"), {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}), ((), {"HOME": "/nonexistent"}), ((), {"HOME": "/proc"}), ((), {"HOME": ""}),
        ((), {"LANG": "zh_CN.GBK"}), ((), {"COLUMNS": "0"}), ((), {"COLUMNS": "x"}), ((), {"COLUMNS": "1000000000"}), ((), {"COLUMNS": "9" * 5000}), ((), {"TERM": ""}), ((), {"TMPDIR": "/nonexistent"}), ((), {"LC_ALL": "tlh"}), (("-B", "-s", "-E"), {}),
    ],
    ids=ascii,
)  # fmt: skip
def test_the_interpreter_and_its_environment_may_be_any(options: tuple[str, ...], environment: dict[str, str]) -> None:
    """What an interpreter makes of its options and its environment it makes once: one process answers all three."""
    asked = [["bert-tiny", "--json"], ["explain", "bert-tiny"], ["no-such-model"]]
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); from weighbridge.cli import main\nfor words in {asked!r}: print(f'code {{main(words)}}')"
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    first, second, third, rest = (text.replace(",", "") for text in re.split(r"(?<=code \d)\n", done.stdout))
    assert first.endswith("code 0") and second.endswith("code 0") and third == "code 2" and not rest
    assert "4385920" in first and "4385920" in second
    assert "no-such-model" in done.stderr


def test_isolated_it_runs_as_a_module(tmp_path: Path) -> None:
    """``python -I`` looks neither at PYTHONPATH nor at the current folder: a file called json.py there is not imported."""
    (tmp_path / "json.py").write_text("raise SystemExit('imported')")
    code = f"import sys, runpy; sys.path.append({str(SOURCE)!r}); sys.argv = ['weigh', 'bert-tiny', '--json']; runpy.run_module('weighbridge', run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert '"unique": 4385920' in done.stdout


OTHERS = [
    found
    for version in ("3.12", "3.13", "3.14")
    if (found := shutil.which(f"python{version}")) and subprocess.run([found, "-c", ""], capture_output=True).returncode == 0
]


@pytest.mark.skipif(not OTHERS, reason="no other Python is installed")
@pytest.mark.parametrize("python", OTHERS)
def test_other_versions_of_python_run_it(python: str) -> None:
    for words in (["bert-base-uncased", "--json"], ["explain", "bert-tiny"], ["memory", "bert-tiny", "--training"], ["models"]):
        done = subprocess.run(
            [python, "-W", "error", "-m", "weighbridge", *words],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            timeout=120,
        )
        assert (done.returncode, done.stderr) == (0, "")


EARLY = """
import os, signal, sys
class Impatient:
    def find_spec(self, name, path, target=None):
        if name == {name!r}: os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
from weighbridge.cli import entry
sys.meta_path.insert(0, Impatient())
sys.argv = ["weigh", "bert-tiny"]
entry()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(
    ("name", "ended", "said"),
    [
        ("weighbridge.commands.line", -signal.SIGINT, ""),
        ("weighbridge.commands.output", -signal.SIGINT, ""),
        ("weighbridge.api", 130, "weigh: interrupted\n"),
    ],
)
def test_an_interruption_while_the_program_starts_is_quiet(name: str, ended: int, said: str) -> None:
    done = subprocess.run([sys.executable, "-c", EARLY.format(name=name)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (ended, "", said)
