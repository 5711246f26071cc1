"""Servers that mean no good: every one is left in time, and told in a line; none makes a wrong number."""

from __future__ import annotations

import gc
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import Message
from io import BytesIO
from pathlib import Path
from random import Random
from urllib.request import Request

import pytest

from tests.unit.safetensors_file import whole
from weighbridge.cli import main
from weighbridge.core.errors import ReadError, SourceError
from weighbridge.load import checkpoint_of
from weighbridge.readers import hub
from weighbridge.readers.connections import SameHost
from weighbridge.readers.remote import Access, RemotePath, fetch

Answer = Callable[[socket.socket, str, int], None]


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Serve by a function that gets the connection, the head of the request and how many came before; what it sends is up to it."""
    listener = socket.create_server(("127.0.0.1", 0))
    count = 0

    def one(connection: socket.socket, number: int) -> None:
        with connection:
            try:
                head = b""
                while b"\r\n\r\n" not in head and (more := connection.recv(4096)):
                    head += more
                answer(connection, head.decode("latin-1"), number)
            except OSError:
                pass

    def loop() -> None:
        nonlocal count
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection, count), daemon=True).start()
            count += 1

    threading.Thread(target=loop, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()


def says(text: str) -> Answer:
    return lambda connection, head, number: connection.sendall(text.encode("latin-1", "replace"))


def dripping(start: bytes) -> Answer:
    def drip(connection: socket.socket, head: str, number: int) -> None:
        connection.sendall(start)
        for _ in range(300):
            connection.sendall(b"x")
            time.sleep(0.1)

    return drip


QUICK = Access(seconds=1.0, timeout=5.0, wait=lambda seconds: None)


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nx-a: ", b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9999/10000\r\n\r\n"]
)
def test_a_server_that_sends_a_byte_now_and_then_is_left(start: bytes) -> None:
    with serving(dripping(start)) as url:
        begun = time.monotonic()
        with pytest.raises(ReadError, match="no whole answer within 1 seconds"):
            fetch(f"{url}/a", 0, 10_000, QUICK)
    assert time.monotonic() - begun < 8


@pytest.mark.parametrize(
    "text",
    [
        "HTTP/1.1 200 OK\r\nContent-Length: ²\r\n\r\nx",
        f"HTTP/1.1 200 OK\r\nContent-Length: {'9' * 5000}\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nx",
        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes ٠-٩/١٠\r\n\r\n0123456789",
        f"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-9/{'9' * 19}\r\nContent-Length: 10\r\n\r\n0123456789",
        "HTTP/1.1 503 Busy\r\nRetry-After: ²\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: http://a b:x/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: ftp://127.0.0.1/x\r\nContent-Length: 0\r\n\r\n",
        f"HTTP/1.1 302 Found\r\nLocation: http://{'a' * 70}.example/\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 302 Found\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 999999999 ?\r\n\r\n",
        "SSH-2.0-OpenSSH\r\n",
        "HTTP/1.1 200 OK\r\n" + "a: b\r\n" * 200 + "\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "",
    ],
    ids=range(17),
)
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_odd_answers_are_told_in_a_line(text: str) -> None:
    gc.disable()  # so that what is made here stays among the youngest, and the rest of the heap need not be looked through
    try:
        with serving(says(text)) as url, pytest.raises(ReadError) as caught:
            checkpoint_of_quick(f"{url}/a/", "model.safetensors")
        assert "\n" not in str(caught.value)
        del caught
        gc.collect(0)  # a connection of urllib's that an error left open is collected here, where its warning is of no interest
    finally:
        gc.enable()


def checkpoint_of_quick(base: str, name: str) -> None:
    checkpoint_of(RemotePath(base, name, QUICK))  # type: ignore[arg-type]


def test_a_file_replaced_between_two_ranges_is_noticed() -> None:
    data = whole({f"a{number}": (4,) for number in range(2000)})

    def replaced(connection: socket.socket, head: str, number: int) -> None:
        begin, end = (int(place) for place in head.partition("bytes=")[2].partition("\r\n")[0].split("-"))
        end = min(end + 1, len(data))
        connection.sendall(
            f'HTTP/1.1 206 Partial Content\r\nETag: "{number}"\r\nContent-Range: bytes {begin}-{end - 1}/{len(data)}\r\n'
            f"Content-Length: {end - begin}\r\n\r\n".encode()
            + data[begin:end]
        )

    with serving(replaced) as url, pytest.raises(ReadError, match="the file changed while it was read"):
        checkpoint_of_quick(f"{url}/", "model.safetensors")


@pytest.mark.parametrize(
    ("header", "count", "said"), [("", 2000, 1), ("", 2, 0), ("Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", 2000, 0)]
)
def test_what_no_version_is_known_of_is_said_not_to_be_checked(header: str, count: int, said: int) -> None:
    """A header in one answer is of one file; one in several may be of two, if nothing tells their versions."""
    data = whole({f"a{number}": (4,) for number in range(count)})

    def serve(connection: socket.socket, head: str, number: int) -> None:
        begin, end = (int(place) for place in head.partition("bytes=")[2].partition("\r\n")[0].split("-"))
        end = min(end + 1, len(data))
        line = f"{header}\r\n" if header else ""
        connection.sendall(
            f"HTTP/1.1 206 Partial Content\r\n{line}Content-Range: bytes {begin}-{end - 1}/{len(data)}\r\n"
            f"Content-Length: {end - begin}\r\n\r\n".encode()
            + data[begin:end]
        )

    with serving(serve) as url:
        found = checkpoint_of(RemotePath(f"{url}/", "model.safetensors", QUICK))  # type: ignore[arg-type]
    assert len([note for note in found.notes if "was not checked" in note]) == said


def test_later_ranges_ask_for_the_first_version_alone() -> None:
    data, heads = whole({f"a{number}": (4,) for number in range(2000)}), list[str]()

    def serve(connection: socket.socket, head: str, number: int) -> None:
        heads.append(head)
        begin, end = (int(place) for place in head.partition("bytes=")[2].partition("\r\n")[0].split("-"))
        end = min(end + 1, len(data))
        connection.sendall(
            f'HTTP/1.1 206 Partial Content\r\nETag: "one"\r\nContent-Range: bytes {begin}-{end - 1}/{len(data)}\r\n'
            f"Content-Length: {end - begin}\r\n\r\n".encode()
            + data[begin:end]
        )

    with serving(serve) as url:
        checkpoint_of_quick(f"{url}/", "model.safetensors")
    assert len(heads) > 1
    assert "If-Range" not in heads[0]
    assert all('If-Range: "one"' in head for head in heads[1:])


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("https://hub.example/a", "https://hub.example/b", True),
        ("https://hub.example/a", "http://hub.example/b", False),
        ("https://hub.example/a", "https://cdn.example/b", False),
        ("http://hub.example/a", "http://hub.example:81/b", False),
    ],
)
def test_a_token_goes_to_nobody_else_and_never_in_the_clear(old: str, new: str, kept: bool) -> None:
    request = Request(old, headers={"Authorization": "Bearer secret"})
    following = SameHost().redirect_request(request, BytesIO(), 302, "", Message(), new)  # type: ignore[arg-type]
    assert following is not None
    assert following.has_header("Authorization") is kept


@pytest.mark.parametrize("body", ["[" * 200_000, '{"siblings": ' + "[" * 200_000, "null", "{", '{"siblings": 5}', '{"Data": []}', "NaN"])
def test_what_is_no_answer_of_a_hub_is_told_in_a_line(
    body: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(says(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}")) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert main(["count", "org/name"]) == 2
    assert "does not answer as a hub does" in capsys.readouterr().err


ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    1.5,
    "",
    "x" * 5000,
    "\x1b[2J",
    "\u202e",
    "\ud800",
    [],
    {},
    [[]],
    {"rfilename": 5},
    "../config.json",
    "/etc/passwd",
    "NUL",
    "a/b/model.safetensors",
)


@pytest.mark.parametrize("service", ["", "modelscope:"])
def test_whatever_a_hub_answers_it_is_told_in_a_line(
    service: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = Random(404)

    def answer(connection: socket.socket, head: str, number: int) -> None:
        files = [{"rfilename": rng.choice(ODD), "Path": rng.choice(ODD), "size": rng.choice(ODD)} for _ in range(4)]
        said: dict[str, object] = {"sha": rng.choice(ODD), "siblings": files, "Code": 200, "Success": True, "Data": {"Files": files}}
        said[rng.choice(list(said))] = rng.choice(ODD) if number % 3 else files
        body = json.dumps(said if "/api/" in head else rng.choice(ODD)).encode()
        length = len(body) + 9 * (number % 7 == 0)
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n".encode() + body)

    with serving(answer) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        monkeypatch.setenv("MODELSCOPE_ENDPOINT", url)
        for _ in range(10):
            assert main(["count", f"{service}org/name"]) == 2
            said = capsys.readouterr()
            assert said.err.count("\n") == 1, said.err
            assert said.err[:-1].isprintable()
            assert said.out == ""


def test_a_hub_that_lists_without_end_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    body = json.dumps({"siblings": [{"rfilename": f"f{number}"} for number in range(200_000)]})
    with serving(says(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}")) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert main(["count", "org/name"]) == 2
    assert capsys.readouterr().err == "weigh: org/name: a repository of 200,000 files; name one by its address\n"

    def endless(connection: socket.socket, head: str, number: int) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n[")
        while True:
            connection.sendall(b" " * 65536)

    with serving(endless) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert main(["count", "org/name"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_token_that_cannot_be_sent_is_not_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_TOKEN", "hf_se\ncret")
    assert main(["count", "org/name"]) == 2
    said = capsys.readouterr().err
    assert "HF_TOKEN holds a character that no token has" in said
    assert "cret" not in said


def test_names_that_no_address_can_hold_are_refused_in_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["count", "http://127.0.0.1:9/\ud800.safetensors"]) == 2
    assert capsys.readouterr().err == "weigh: http://127.0.0.1:9/\\ud800.safetensors: no file can be called that\n"
    body = json.dumps({"siblings": [{"rfilename": "\ud800.safetensors"}]})
    with serving(says(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}")) as url:
        monkeypatch.setenv("HF_ENDPOINT", url)
        assert main(["count", "org/name"]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert said.err[:-1].isprintable()


def test_a_home_of_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("HF_HOME", "~nosuchuser")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SourceError, match="HF_HUB_OFFLINE is set"):
        hub.place("org/name")


def test_a_server_that_is_never_done_with_continuing_is_left(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("weighbridge.readers.remote.time.sleep", lambda seconds: None)

    def forever(connection: socket.socket, head: str, number: int) -> None:
        while True:
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)

    with serving(forever) as url:
        begun = time.monotonic()
        assert main(["count", f"{url}/model.safetensors"]) == 2
    assert capsys.readouterr().err.endswith("one 100 Continue after the other\n")
    assert time.monotonic() - begun < 20


def test_a_file_whose_length_nobody_states_is_whole_or_refused() -> None:
    """An answer in chunks that breaks off is no shorter file."""
    start = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n"
    with serving(says(start + "0\r\n\r\n")) as url:
        assert fetch(f"{url}/a.json", 0, 9, QUICK._replace(whole=100)) == (b"abcde", 5)
    for broken in ("", "5\r\nabc", "zz\r\n"):
        with serving(says(start + broken)) as url, pytest.raises(ReadError, match="dropped"):
            fetch(f"{url}/a.json", 0, 9, QUICK._replace(whole=100))
