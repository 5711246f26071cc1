"""What lies beside a model may be anything: each command says so in a line, and none waits, fills the memory or falls over."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.safetensors_file import write
from weighbridge.cli import main
from weighbridge.readers import hub

CONFIG = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 8,
    "vocab_size": 16,
    "max_position_embeddings": 4,
}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3_000_000_000)


def loop(path: Path) -> None:
    path.symlink_to(path.name)


def deep(path: Path) -> None:
    path.write_text("[" * 200_000)


def digits(path: Path) -> None:
    path.write_text('{"model_type": "bert", "hidden_size": ' + "9" * 100_000 + "}")


KINDS: tuple[Callable[[Path], None], ...] = (fifo, device, huge, loop)
ODD: tuple[Callable[[Path], None], ...] = (deep, digits)
COMMANDS = (
    "count {d}",
    "count {d}/model.safetensors",
    "count {d}/{name}",
    "verify {d}",
    "diff {d}/model.safetensors {d}/{name}",
    "compare {d} bert-tiny",
    "adapters bert-tiny {d}",
    "audit {d}/{name}",
    "audit {d}/a.md --model {d}",
    "census {d} -o {d}/out.parquet",
)
NAMES = ("config.json", "adapter_config.json", "model.safetensors.index.json", "model.safetensors", ".zarray")


def run(words: list[str], **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, with a gigabyte of memory and fifteen seconds."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    command = [sys.executable, "-m", "weighbridge.cli", *words]
    return subprocess.run(  # type: ignore[call-overload,no-any-return]
        command, capture_output=True, text=True, timeout=15, preexec_fn=bound, stdin=subprocess.DEVNULL, **options
    )


def folder_with(tmp_path: Path, name: str, kind: Callable[[Path], None]) -> Path:
    folder = tmp_path / "d"
    folder.mkdir()
    write(folder / "model.safetensors", {"embeddings.word_embeddings.weight": (16, 8)})
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "a.md").write_text("BERT has 110M parameters.")
    (folder / name).unlink(missing_ok=True)
    kind(folder / name)
    return folder


@pytest.mark.sweep
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_no_command_falls_over_a_neighbour(tmp_path: Path, kind: Callable[[Path], None]) -> None:
    # In one process of all: what hangs or fills the memory does so whichever command came before.
    code = "import sys, json\nfrom weighbridge.cli import main\nfor words in json.loads(sys.argv[1]): print(main(words), file=sys.stderr)"
    words = []
    for name in NAMES:
        (tmp_path / name).mkdir()
        folder = folder_with(tmp_path / name, name, kind)
        words += [[word.format(d=folder, name=name) for word in command.split()] for command in COMMANDS]

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(words)],
        capture_output=True,
        text=True,
        timeout=200,
        preexec_fn=bound,
        stdin=subprocess.DEVNULL,
    )
    codes = [line for line in done.stderr.splitlines() if line.isdigit()]
    assert "Traceback" not in done.stderr, done.stderr[-2000:]
    assert len(codes) == len(COMMANDS) * len(NAMES), done.stderr[-2000:]
    assert set(codes) <= {"0", "1", "2"}


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (fifo, "cannot be read: a named pipe, not a file"),
        (device, "cannot be read: a device, not a file"),
        (huge, "cannot be read: more than 16,777,216 bytes"),
        (loop, "cannot be read: Too many levels of symbolic links"),
    ],
    ids=["fifo", "device", "huge", "loop"],
)
def test_a_config_that_is_no_file_is_refused_in_a_line(tmp_path: Path, kind: Callable[[Path], None], said: str) -> None:
    folder = folder_with(tmp_path, "config.json", kind)
    done = run(["count", str(folder)])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"weigh: {folder}/config.json: {said}\n"
    done = run(["verify", str(folder)])
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"weigh: {folder}/config.json: {said}\n")


@pytest.mark.parametrize("kind", ODD, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", NAMES[:4])
def test_a_text_that_is_no_config_is_refused_in_a_line(
    tmp_path: Path, name: str, kind: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_with(tmp_path, name, kind)
    for words in (["count", str(folder)], ["verify", str(folder)], ["adapters", "bert-tiny", str(folder)], ["count", str(folder / name)]):
        assert main(words) in (0, 1, 2)
        assert capsys.readouterr().err.count("\n") <= 1


def test_a_pipe_that_was_named_is_read_and_one_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, json.dumps(CONFIG).encode())
    os.close(writing)
    done = run(["count", f"/dev/fd/{reading}", "--json"], pass_fds=(reading,))
    assert json.loads(done.stdout)["class"] == "BertModel"
    os.mkfifo(tmp_path / "pipe")
    done = run(["count", str(tmp_path / "pipe")])
    assert done.returncode == 2
    assert done.stderr == f"weigh: {tmp_path}/pipe is empty; expected a config as a JSON object\n"
    done = run(["count", "/dev/zero"])
    assert done.stderr == "weigh: /dev/zero: cannot be read: more than 16,777,216 bytes\n"


def test_standard_input_without_end_is_refused() -> None:
    for words in (["count", "-"], ["audit", "-"]):
        with open("/dev/zero", "rb") as endless:
            done = subprocess.run(
                [sys.executable, "-m", "weighbridge.cli", *words], stdin=endless, capture_output=True, text=True, timeout=15, check=False
            )
        assert done.returncode == 2
        assert "cannot be read: more than 16,777,216 bytes" in done.stderr


@pytest.mark.parametrize(
    "name", ["x" * 300, "x" * 5000 + "/a.json", "a/" * 3000, "http://[::1", "http://a b/c.json", "~nosuchuser/config.json"]
)
def test_names_that_no_system_takes_are_refused_in_a_line(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("count", "verify", "audit", "tensors"):
        assert main([command, name]) == 2
        said = capsys.readouterr().err
        assert said.startswith("weigh: ")
        assert said.count("\n") == 1


def test_an_audit_of_a_folder_without_end_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weighbridge.commands.audit.MOST_FILES", 3)
    for name in "abcd":
        (tmp_path / f"{name}.md").write_text("")
    assert main(["audit", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"weigh: {tmp_path}: more than 3 files; name a folder inside it\n"


@pytest.mark.parametrize("kind", [fifo, device, huge, loop])
def test_what_the_hub_s_own_library_keeps_is_not_waited_for(
    tmp_path: Path, kind: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    refs = tmp_path / "hub" / "models--org--name" / "refs"
    refs.mkdir(parents=True)
    kind(tmp_path / "token")
    kind(refs / "main")
    assert hub._access("hf").token is None
    assert hub._folder_in_cache(hub.Repository("hf", "org/name", "main")) is None


@pytest.mark.parametrize(
    ("kind", "said"),
    [(fifo, "a named pipe, not a file"), (device, "a device, not a file"), (loop, "Too many levels of symbolic links")],
    ids=["fifo", "device", "loop"],
)
def test_verify_says_what_the_config_is(
    tmp_path: Path, kind: Callable[[Path], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = folder_with(tmp_path, "config.json", kind)
    assert main(["verify", str(folder)]) == 2
    assert capsys.readouterr().err == f"weigh: {folder}/config.json: cannot be read: {said}\n"


@pytest.mark.parametrize("kind", [fifo, device, loop])
def test_weights_that_are_no_file_are_named(tmp_path: Path, kind: Callable[[Path], None], capsys: pytest.CaptureFixture[str]) -> None:
    folder = folder_with(tmp_path, "model.safetensors", kind)
    (folder / "optimizer.pt").write_bytes(b"beside")
    assert main(["verify", str(folder)]) == 2
    assert capsys.readouterr().err == (
        f"weigh: {folder}: the directory holds no weights; model.safetensors is not a regular file, but a pipe, a device or a broken link\n"
    )


def test_a_folder_that_cannot_be_read_is_not_left_out_of_an_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.md").write_text("3 × 4 = 12")
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert main(["audit", str(tmp_path)]) == 2
    assert capsys.readouterr().err == f"weigh: {tmp_path}/closed: cannot be read: Permission denied\n"
