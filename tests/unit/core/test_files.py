"""Files that are no files, are too large, or do not come: each is refused in a line, and what is read is read whole."""

from __future__ import annotations

import errno
import io
import os
import socket
import threading
from pathlib import Path

import pytest

from weighbridge.core import files
from weighbridge.core.files import PIECE, is_file_name, open_file, read_bounded, read_pipe, read_whole

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pytest.mark.parametrize("size", [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5])
def test_a_file_is_read_whole_up_to_the_bound_and_not_beyond(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    path = tmp_path / "config.json"
    path.write_bytes(data)
    assert read_whole(path) == read_whole(str(path)) == read_whole(path, size) == data
    assert read_bounded(io.BytesIO(data)) == read_bounded(io.BytesIO(data), size) == data
    with open_file(path) as file:
        assert file.read() == data
    if size:
        with pytest.raises(OSError, match=f"more than {size - 1:,} bytes") as caught:
            read_whole(path, size - 1)
        assert (caught.value.errno, caught.value.filename) == (0, str(path))
        with pytest.raises(OSError, match=f"more than {size - 1:,} bytes"):
            read_bounded(io.BytesIO(data), size - 1, "standard input")


def through_a_pipe(path: Path, pieces: list[bytes], most: int) -> bytes:
    """Write into a named pipe from beside, and read it."""
    os.mkfifo(path)

    def write() -> None:
        with open(path, "wb", buffering=0) as pipe:
            for piece in pieces:
                pipe.write(piece)

    writer = threading.Thread(target=write)
    keeper = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a writer waits until somebody reads
    writer.start()
    writer.join(0.01)
    try:
        return read_pipe(str(path), most)
    finally:
        os.close(keeper)
        writer.join()


@pytest.mark.parametrize(("pieces", "most"), [([b"{", b"}"], 2), ([b"{}"], 100), ([b"x" * 40_000, b"y" * 40_000], 80_000)])
def test_a_pipe_is_read_to_its_end(tmp_path: Path, pieces: list[bytes], most: int) -> None:
    assert through_a_pipe(tmp_path / "pipe", pieces, most) == b"".join(pieces)


def test_a_pipe_that_brings_too_much_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="more than 4 bytes"):
        through_a_pipe(tmp_path / "pipe", [b"12345"], 4)


def test_a_pipe_that_nobody_writes_to_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.01)
    path = str(tmp_path / "pipe")
    os.mkfifo(path)
    assert read_pipe(path) == b"", "closed on the other side"
    writer = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(OSError, match="nothing can be read from it"):
            read_pipe(path)
    finally:
        os.close(writer)


def test_what_is_no_ordinary_file_is_refused_as_what_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind("socket")
    try:
        for path, what, number in (
            ("pipe", "a named pipe, not a file", 0),
            ("/dev/null", "a device, not a file", 0),
            (".", "Is a directory", errno.EISDIR),
        ):
            for read in (read_whole, open_file):
                with pytest.raises(OSError, match=what) as caught:
                    read(path)
                assert caught.value.errno == number
        with pytest.raises(OSError):  # noqa: PT011  (a system that opens sockets at all says so itself)
            read_whole("socket")
    finally:
        listener.close()
    for path in ("a\0b", "\ud800"):
        with pytest.raises((OSError, UnicodeEncodeError)) as refused:
            read_whole(path)
        assert isinstance(refused.value, UnicodeEncodeError) or "no file can be called that" in str(refused.value)
    with pytest.raises(FileNotFoundError):
        read_whole("nothing")


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("a" * 255, True), ("a" * 256, False), ("", False), ("a.", False), ("a ", False), ("a\n", False), ("a/b", False), ("aux", False), ("Aux.bin", False),
        ("com1.txt", False), ("com10.txt", True), ("lpt0", False), ("LPT¹", False), ("console", True), ("model.bin", True), (".", False), ("..", False),
    ],
)  # fmt: skip
def test_which_names_are_files_on_every_system(name: str, whole: bool) -> None:
    """Windows' reserved names with any ending, in any case; 255 letters at most; nothing that leads elsewhere."""
    assert is_file_name(name) is whole


def test_a_config_has_sixteen_mebibytes_at_most(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for size, read in ((2**24, True), (2**24 + 1, False)):
        with open(path, "wb") as file:
            file.truncate(size)
        if read:
            assert len(read_whole(path)) == size
        else:
            with pytest.raises(OSError, match="more than 16,777,216 bytes"):
                read_whole(path)
