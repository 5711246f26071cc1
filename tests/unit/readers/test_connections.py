"""Connections are kept as long as the server keeps them; what is secret stays with the host that it is for."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.unit.safetensors_file import whole
from weighbridge.accounts.parameters import tally_of
from weighbridge.cli import main
from weighbridge.load import checkpoint_of

SHARDS = {
    f"model-0000{number}-of-00003.safetensors": whole({f"layers.{number}.{n}.weight": (4,) for n in range(800)}) for number in (1, 2, 3)
}
INDEX = {
    "weight_map": {f"layers.{number}.{n}.weight": f"model-0000{number}-of-00003.safetensors" for number in (1, 2, 3) for n in range(800)}
}
FILES = {**SHARDS, "model.safetensors.index.json": json.dumps(INDEX).encode()}


class Server(ThreadingHTTPServer):
    """What it holds, what it saw, and after how many answers it closes a connection without a word."""

    daemon_threads = True

    def __init__(self, patience: int = 10**9, redirect: str = "") -> None:
        self.patience, self.redirect, self.only_signed = patience, redirect, False
        self.connections, self.requests, self.headers = 0, 0, list[dict[str, str]]()
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that has left before its answer was whole: what the tests read is the client's own word."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1
        self.answered = 0

    def do_GET(self) -> None:
        self.server.requests += 1
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        signed = "authorization" in self.server.headers[-1] or "X-Amz-Signature" in self.path
        if self.server.redirect and (signed or not self.server.only_signed):
            self.send_response(307)
            self.send_header("Location", self.server.redirect + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = FILES.get(self.path.rpartition("/")[2])
        if data is None:
            self.send_error(404)
            return
        begin, end = (int(place) for place in self.headers["Range"].removeprefix("bytes=").split("-"))
        end = min(end + 1, len(data))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(data)}")
        self.send_header("Content-Length", str(end - begin))
        self.end_headers()
        self.wfile.write(data[begin:end])
        self.answered += 1
        self.close_connection = self.answered >= self.server.patience

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(server: Server) -> Iterator[str]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_ranges_of_a_file_come_over_one_connection() -> None:
    with serving(server := Server()) as url:
        listing = checkpoint_of(f"{url}/org/model-00001-of-00003.safetensors")
    assert tally_of(listing).stored == 3200
    assert server.requests > 1
    assert server.connections == 1


def test_shards_share_connections() -> None:
    with serving(server := Server()) as url:
        assert tally_of(checkpoint_of(f"{url}/org/model.safetensors.index.json")).stored == 9600
    assert server.requests >= 7
    assert server.connections <= 1 + len(SHARDS)


@pytest.mark.parametrize("patience", [1, 2])
def test_a_server_that_closes_without_a_word_is_asked_again(patience: int) -> None:
    with serving(server := Server(patience)) as url:
        assert tally_of(checkpoint_of(f"{url}/org/model.safetensors.index.json")).stored == 9600
    assert server.connections > 3


def test_nothing_is_left_open() -> None:
    with serving(Server()) as url:
        for _ in range(30):
            checkpoint_of(f"{url}/org/model-00002-of-00003.safetensors")
    # an open socket would be a ResourceWarning, which is an error here


@pytest.mark.parametrize("only_signed", [False, True])
@pytest.mark.parametrize("source", ["s3://bucket/org/model-00001-of-00003.safetensors", "s3://bucket/org"])
def test_the_token_of_a_session_goes_to_no_other_host(
    source: str, only_signed: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("obstore", reason="the extra stores is not installed")
    with serving(other := Server()) as elsewhere, serving(first := Server(redirect=elsewhere.replace("127.0.0.1", "localhost"))) as url:
        first.only_signed = only_signed
        for name, value in {
            "AWS_ACCESS_KEY_ID": "AKIA",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_SESSION_TOKEN": "the-token",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": url,
        }.items():
            monkeypatch.setenv(name, value)
        assert main(["count", source]) == 2
    said = capsys.readouterr().err
    assert "the store redirects to localhost:" in said
    assert said.count("\n") == 1
    assert other.headers == []
    assert not any("the-token" in str(headers) for headers in first.headers)


def test_a_session_without_a_redirect_is_served(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("obstore", reason="the extra stores is not installed")
    with serving(server := Server()) as url:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "AKIA",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_SESSION_TOKEN": "the-token",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": url,
        }.items():
            monkeypatch.setenv(name, value)
        main(["count", "s3://bucket/org/model-00001-of-00003.safetensors"])
    assert any("the-token" in str(headers) for headers in server.headers)
