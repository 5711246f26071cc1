"""Files over HTTP, from a real server on this machine: ranges counted, drops resumed, refusals told."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import weighbridge
from tests.unit.bert import CONFIG
from tests.unit.safetensors_file import head
from weighbridge.accounts.parameters import tally_of
from weighbridge.cli import main
from weighbridge.core.errors import ReadError, SourceError
from weighbridge.load import checkpoint_of
from weighbridge.readers import hub, remote
from weighbridge.readers.remote import Access

CORPUS = Path(__file__).parents[2] / "corpus"


class Sparse:
    """A safetensors file as long as one likes, of which only the header is kept."""

    def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
        self.head, data = head(shapes)
        self.size = len(self.head) + data

    def part(self, begin: int, end: int) -> bytes:
        return (
            (self.head + bytes(max(0, min(end, self.size) - len(self.head))))[begin:end] if begin < len(self.head) else bytes(end - begin)
        )


class Server:
    """What the handler serves and what it saw."""

    def __init__(self) -> None:
        self.files: dict[str, bytes | Sparse] = {}
        self.answers: dict[str, list[int]] = {}
        self.ranges = True
        self.drops = 0
        self.sent = 0
        self.seen: list[tuple[str, str | None, str | None]] = []
        self.elsewhere: str | None = None
        self.url = ""


def handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

        def do_GET(self) -> None:
            path = self.path.removeprefix("/cdn")
            server.seen.append((self.path, self.headers.get("Range"), self.headers.get("Authorization")))
            codes = server.answers.get(path)
            if codes and (code := codes.pop(0)):
                self.send_response(code)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            if server.elsewhere and not self.path.startswith("/cdn") and path.endswith(".safetensors"):
                self.send_response(302)
                self.send_header("Location", f"{server.elsewhere}/cdn{path}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.serve(server.files.get(path))

        def serve(self, file: bytes | Sparse | None) -> None:
            if file is None:
                self.send_error(404)
                return
            size = len(file) if isinstance(file, bytes) else file.size
            begin, end = 0, size
            stated = self.headers.get("Range")
            if stated and server.ranges:
                first, last = stated.removeprefix("bytes=").split("-")
                begin, end = int(first), min(int(last) + 1, size)
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{size}")
            else:
                self.send_response(200)
            self.send_header("Content-Length", str(end - begin))
            self.end_headers()
            if end - begin > 10**7:
                server.sent += 10**7
                return
            data = file[begin:end] if isinstance(file, bytes) else file.part(begin, end)
            if server.drops and len(data) > 1:
                server.drops -= 1
                data = data[: len(data) // 2]
                self.close_connection = True
            server.sent += len(data)
            self.wfile.write(data)

    return Handler


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler(state))
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}"
    yield state
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: Server) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("MODELSCOPE_ENDPOINT", server.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    quick = Access(wait=lambda seconds: None)
    monkeypatch.setattr(hub, "_access", lambda service: quick._replace(token=os.environ.get("HF_TOKEN")))
    monkeypatch.setattr(hub, "Access", lambda: quick)


def large() -> Sparse:
    return Sparse({f"layers.{n}.weight": (1000, 1_000_000) for n in range(100)})


def test_only_the_header_travels(server: Server) -> None:
    server.files["/big.safetensors"] = file = large()
    model = weighbridge.model(f"{server.url}/big.safetensors")
    assert tally_of(model).unique == 10**11
    assert server.sent <= len(file.head) + 128 * 1024


def test_a_long_header_comes_in_two_requests(server: Server) -> None:
    server.files["/big.safetensors"] = file = Sparse({f"layers.{n}.some.long.name.weight": (8, 8) for n in range(3000)})
    assert weighbridge.count(f"{server.url}/big.safetensors").unique == 3000 * 64
    assert server.sent <= len(file.head) + 128 * 1024
    assert len([path for path, _, _ in server.seen if path == "/big.safetensors"]) <= 3


def test_a_very_long_header_comes_in_pieces(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_AT_ONCE", 50_000)
    server.files["/big.safetensors"] = file = Sparse({f"layers.{n}.some.long.name.weight": (8, 8) for n in range(3000)})
    assert weighbridge.count(f"{server.url}/big.safetensors").unique == 3000 * 64
    assert server.sent <= len(file.head) + 128 * 1024
    assert len([path for path, _, _ in server.seen if path == "/big.safetensors"]) > len(file.head) // 50_000


@pytest.mark.parametrize("name", ["state", "training", "module_legacy"])
def test_torch_files(server: Server, name: str) -> None:
    path = CORPUS / "torch" / "valid" / f"{name}.pt"
    server.files["/model.pt"] = path.read_bytes()
    assert weighbridge.count(f"{server.url}/model.pt") == weighbridge.count(path)


def test_a_dropped_connection_is_resumed(server: Server) -> None:
    server.files["/big.safetensors"] = large()
    server.drops = 3
    assert weighbridge.count(f"{server.url}/big.safetensors").unique == 10**11
    begins = [int(stated.removeprefix("bytes=").split("-")[0]) for path, stated, _ in server.seen if stated and path == "/big.safetensors"]
    assert begins == sorted(set(begins)), "each request begins where the last one ended"
    server.drops = 10**6
    with pytest.raises(ReadError, match="the connection dropped 5 times"):
        weighbridge.count(f"{server.url}/big.safetensors")


@pytest.mark.parametrize("code", [429, 500, 503])
def test_passing_troubles_are_tried_again(server: Server, code: int) -> None:
    server.files["/big.safetensors"] = large()
    server.answers["/big.safetensors"] = [code, code]
    assert weighbridge.count(f"{server.url}/big.safetensors").unique == 10**11


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (401, r"private, gated or missing \(HTTP 401\): set HF_TOKEN to a token that may read it"),
        (403, r"private, gated or missing \(HTTP 403\): set HF_TOKEN to a token that may read it"),
        (404, r"not there \(HTTP 404\)"),
        (429, r"too many requests \(HTTP 429\), also at the last of 5 tries; try again later"),
        (500, "the server answers HTTP 500, also at the last of 5 tries"),
    ],
)
def test_refusals(server: Server, code: int, message: str) -> None:
    server.answers["/x.safetensors"] = [code] * 9
    with pytest.raises(ReadError, match=message):
        weighbridge.model(f"{server.url}/x.safetensors")


def test_a_server_without_ranges_is_cut_off(server: Server) -> None:
    server.ranges = False
    server.files["/big.safetensors"] = large()
    with pytest.raises(ReadError, match="the server ignores ranges and would send the whole file"):
        weighbridge.model(f"{server.url}/big.safetensors")
    server.files["/small.safetensors"] = (CORPUS / "safetensors" / "valid" / "matrix.safetensors").read_bytes()
    assert weighbridge.count(f"{server.url}/small.safetensors").unique == 12


def test_nobody_there() -> None:
    with pytest.raises(ReadError, match="cannot be reached"):
        remote.fetch("http://127.0.0.1:9/x", 0, 10, Access(wait=lambda seconds: None))


def bert_shapes() -> dict[str, tuple[int, ...]]:
    return {row.name: tuple(size for size in row.shape if isinstance(size, int)) for row in weighbridge.model(CONFIG).tensors()}


def publish(server: Server, *, config: bool = True, files: dict[str, bytes | Sparse] | None = None) -> None:
    """Publish a model as the Hub does."""
    contents: dict[str, bytes | Sparse] = {"model.safetensors": Sparse(bert_shapes())} if files is None else dict(files)
    if config:
        contents["config.json"] = json.dumps(CONFIG).encode()
    listed = {"siblings": [{"rfilename": name} for name in (*contents, "README.md", ".gitattributes")]}
    server.files["/api/models/org/tiny/revision/main"] = json.dumps(listed).encode()
    server.files |= {f"/org/tiny/resolve/main/{name}": content for name, content in contents.items()}


def test_a_hub_id_is_its_config(server: Server) -> None:
    publish(server)
    model = weighbridge.model("org/tiny")
    assert (model.kind, tally_of(model).unique) == ("config", weighbridge.count(CONFIG).unique)


def test_a_hub_id_without_a_config_is_its_weights(server: Server) -> None:
    publish(server, config=False)
    model = weighbridge.model("org/tiny")
    assert (model.kind, model.source, tally_of(model).unique) == ("checkpoint", "org/tiny", weighbridge.count(CONFIG).unique)


def test_verify_on_the_hub(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    publish(server)
    assert main(["verify", "org/tiny", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["residual"] == 0


def test_shards_on_the_hub(server: Server) -> None:
    shards = {f"model-{n:05}-of-00003.safetensors": Sparse({f"w{n}": (n, 1000)}) for n in (1, 2, 3)}
    weight_map = {f"w{n}": f"model-{n:05}-of-00003.safetensors" for n in (1, 2, 3)}
    index = json.dumps({"metadata": {"total_size": 24_000}, "weight_map": weight_map}).encode()
    publish(server, files={**shards, "model.safetensors.index.json": index})
    model = checkpoint_of("org/tiny")
    assert (tally_of(model).unique, model.notes) == (6000, ())
    assert weighbridge.count(f"{server.url}/org/tiny/resolve/main/model.safetensors.index.json").unique == 6000


def test_the_token_stays_with_its_host(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    publish(server)
    server.elsewhere = server.url.replace("127.0.0.1", "localhost")
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    assert tally_of(checkpoint_of("org/tiny")).unique == weighbridge.count(CONFIG).unique
    tokens = {(path.startswith("/cdn"), token) for path, _, token in server.seen}
    assert tokens == {(False, "Bearer hf_secret"), (True, None)}


def test_no_such_repository(server: Server) -> None:
    with pytest.raises(SourceError, match=rf"org/none: no such file here, and on {server.url}: not there \(HTTP 404\)"):
        weighbridge.model("org/none")


def test_offline(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SourceError, match="org/tiny: neither here nor in the cache, and HF_HUB_OFFLINE is set"):
        weighbridge.model("org/tiny")
    assert server.seen == []


def test_presets_are_named_beside_an_id_that_no_hub_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for source, like in (("unsloth/llama-3-8b-bnb-4bit", "llama-3-8b"), ("someone/Qwen2.5-7B-Instruct-AWQ", "qwen2.5-7b")):
        with pytest.raises(SourceError, match=f"is set; presets with a name like it: {like}$") as caught:
            weighbridge.model(source)
        assert caught.value.suggestions == (like,)


def test_the_cache_is_used(server: Server, tmp_path: Path) -> None:
    folder = tmp_path / "hub" / "models--org--tiny"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("abc123")
    (folder / "snapshots" / "abc123").mkdir(parents=True)
    (folder / "snapshots" / "abc123" / "config.json").write_text(json.dumps(CONFIG))
    assert weighbridge.count("org/tiny").unique == weighbridge.count(CONFIG).unique
    assert server.seen == []


def test_modelscope(server: Server) -> None:
    listed = {"Code": 200, "Data": {"Files": [{"Path": "config.json"}, {"Path": "model.safetensors"}]}}
    server.files["/api/v1/models/org/tiny/repo/files?Revision=master&Recursive=False"] = json.dumps(listed).encode()
    server.files["/api/v1/models/org/tiny/repo?Revision=master&FilePath=config.json"] = json.dumps(CONFIG).encode()
    assert weighbridge.count("modelscope:org/tiny").unique == weighbridge.count(CONFIG).unique


def test_what_is_no_id() -> None:
    for text in ("a/b/c", "config.json", "dir/config.json", "dir/model.safetensors", "./x", "../x/y", "/abs/x", "a b/c", "~/x"):
        assert hub.repository(text) is None, text
    assert hub.repository("org/name@refs/pr/1") == ("hf", "org/name", "refs/pr/1")
