"""Object stores: S3 by moto's server, the other two by a server that speaks what a download needs of them."""

from __future__ import annotations

import json
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weighbridge
from tests.unit.bert import CONFIG
from tests.unit.safetensors_file import whole
from weighbridge.accounts.parameters import tally_of
from weighbridge.cli import main
from weighbridge.core.errors import ReadError, SourceError
from weighbridge.load import checkpoint_of
from weighbridge.readers import objects

pytest.importorskip("obstore")
serving = pytest.importorskip("werkzeug.serving")

CORPUS = Path(__file__).parents[2] / "corpus"


class Store:
    """What the server saw, and how often it is to answer something else first."""

    def __init__(self, url: str = "") -> None:
        self.url = url
        self.seen: list[tuple[str, str | None]] = []
        self.sent = 0
        self.answers: list[int] = []
        self.drops = 0
        self.signed: set[bool] = set()
        self.signatures: list[str] = []

    def put(self, key: str, data: bytes) -> None:
        headers = {"Content-Type": "application/octet-stream", "x-amz-acl": "public-read-write"}
        request = urllib.request.Request(f"{self.url}/models/{key}", data, headers, method="PUT")
        urllib.request.urlopen(request, timeout=20).close()

    def forget(self) -> None:
        self.seen, self.sent, self.signed, self.signatures = [], 0, set(), []


def watch(store: Store, application: Any) -> Any:
    """Count what an application sends, and answer in its place where the test says so; it is asked one thing at a time."""
    turn = threading.Lock()

    def answer(environ: dict[str, Any], start: Any) -> Any:
        store.seen.append((environ["PATH_INFO"], environ.get("HTTP_RANGE")))
        store.signed.add("HTTP_AUTHORIZATION" in environ)
        store.signatures.append(environ.get("HTTP_AUTHORIZATION", ""))
        if store.answers and environ["REQUEST_METHOD"] == "GET":
            start(f"{store.answers.pop(0)} refused", [("Content-Length", "0")])
            return [b""]
        with turn:
            body = b"".join(application(environ, start))
        if store.drops and len(body) > 1:
            store.drops -= 1
            body = body[: len(body) // 2]
        store.sent += len(body)
        return [body]

    return answer


@pytest.fixture(scope="module")
def s3() -> Iterator[Store]:
    moto = pytest.importorskip("moto.server")  # by the process that runs these tests alone: it takes a second
    store = Store()
    server = serving.make_server(
        "127.0.0.1", 0, watch(store, moto.DomainDispatcherApplication(moto.create_backend_app)), threaded=True, request_handler=quiet()
    )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    store.url = f"http://127.0.0.1:{server.server_port}"
    urllib.request.urlopen(urllib.request.Request(f"{store.url}/models", method="PUT"), timeout=20).close()
    yield store
    server.shutdown()
    thread.join()
    server.server_close()


def quiet() -> Any:
    """Return a handler of requests that writes no log."""
    return type("Quiet", (serving.WSGIRequestHandler,), {"log": lambda *_: None})


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch, s3: Store) -> None:
    for service in objects.SERVICES.values():
        for name in (*service.credentials, *service.endpoints):
            monkeypatch.delenv(name, raising=False)
    for name, value in (("AWS_CONFIG_FILE", "/nowhere/config"), ("AWS_SHARED_CREDENTIALS_FILE", "/nowhere/credentials")):
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_DEFAULT_REGION", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    s3.answers = []


def bert_shapes() -> dict[str, tuple[int, ...]]:
    return {row.name: tuple(size for size in row.shape if isinstance(size, int)) for row in weighbridge.model(CONFIG).tensors()}


def test_only_the_header_travels(s3: Store) -> None:
    data = whole({f"layers.{n}.weight": (100, 1000) for n in range(20)})
    s3.put("big/model.safetensors", data)
    s3.forget()
    assert weighbridge.count("s3://models/big/model.safetensors").unique == 2_000_000
    assert s3.sent <= 128 * 1024
    assert s3.seen[0] == ("/models/big/model.safetensors", "bytes=0-32767")
    assert all(stated for path, stated in s3.seen if path.endswith(".safetensors"))
    assert s3.signed == {True}


def test_a_long_header_comes_in_two_requests(s3: Store) -> None:
    data = whole({f"layers.{n}.some.long.name.weight": (8, 8) for n in range(3000)})
    s3.put("long.safetensors", data)
    s3.forget()
    assert weighbridge.count("s3://models/long.safetensors").unique == 3000 * 64
    assert s3.sent <= 8 + int.from_bytes(data[:8], "little") + 128 * 1024
    assert len([path for path, _ in s3.seen if path == "/models/long.safetensors"]) <= 3


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_folder_is_its_config_and_its_weights(s3: Store, slash: str, capsys: pytest.CaptureFixture[str]) -> None:
    s3.put("a%20folder/tiny/config.json", json.dumps(CONFIG).encode())
    s3.put("a%20folder/tiny/model.safetensors", whole(bert_shapes()))
    s3.put("a%20folder/tiny/below/other.safetensors", whole({"w": (3,)}))
    source = f"s3://models/a folder/tiny{slash}"
    model = weighbridge.model(source)
    assert (model.kind, model.source, tally_of(model).unique) == ("config", source, weighbridge.count(CONFIG).unique)
    assert main(["verify", source, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["residual"] == 0
    assert main(["verify", "s3://models/a folder/tiny/model.safetensors"]) == 0, "the config beside a file is found"


def test_shards_by_index(s3: Store) -> None:
    for n in (1, 2, 3):
        s3.put(f"sharded/model-{n:05}-of-00003.safetensors", whole({f"w{n}": (n, 1000)}))
    weight_map = {f"w{n}": f"model-{n:05}-of-00003.safetensors" for n in (1, 2, 3)}
    s3.put("sharded/model.safetensors.index.json", json.dumps({"metadata": {"total_size": 24_000}, "weight_map": weight_map}).encode())
    model = checkpoint_of("s3://models/sharded")
    assert (tally_of(model).unique, model.notes) == (6000, ())
    assert weighbridge.count("s3://models/sharded/model.safetensors.index.json").unique == 6000
    weight_map["w4"] = "model-00004-of-00003.safetensors"
    s3.put("sharded/model.safetensors.index.json", json.dumps({"weight_map": weight_map}).encode())
    with pytest.raises(ReadError, match=r"1 of 4 shards are missing: model-00004-of-00003\.safetensors"):
        checkpoint_of("s3://models/sharded/")


@pytest.mark.parametrize("name", ["state", "training", "module_legacy"])
def test_torch_files(s3: Store, name: str) -> None:
    path = CORPUS / "torch" / "valid" / f"{name}.pt"
    s3.put(f"{name}.pt", path.read_bytes())
    assert weighbridge.count(f"s3://models/{name}.pt") == weighbridge.count(path)


def test_an_empty_file(s3: Store) -> None:
    s3.put("empty.safetensors", b"")
    with pytest.raises(ReadError, match="the file is empty"):
        weighbridge.count("s3://models/empty.safetensors")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (401, r"private or missing \(HTTP 401\): the credentials in the environment may not read it"),
        (403, r"private or missing \(HTTP 403\): the credentials in the environment may not read it"),
        (404, r"not there \(HTTP 404\)"),
    ],
)
def test_refusals(s3: Store, code: int, message: str) -> None:
    s3.answers = [code] * 9
    with pytest.raises(ReadError, match=rf"s3://models/x\.safetensors: {message}"):
        weighbridge.model("s3://models/x.safetensors")


def test_without_credentials_nothing_is_signed(s3: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    s3.put("open.safetensors", whole({"w": (3,)}))
    s3.forget()
    assert weighbridge.count("s3://models/open.safetensors").unique == 3
    assert s3.signed == {False}
    s3.answers = [403]
    with pytest.raises(
        ReadError, match=r"HTTP 403\): set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to what may read it"
    ):
        weighbridge.count("s3://models/open.safetensors")


def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, config: str, credentials: str = "", name: str = "work") -> None:
    """Write AWS's two files, and leave nothing but the profile's name in the environment."""
    for variable, text in (("AWS_CONFIG_FILE", config), ("AWS_SHARED_CREDENTIALS_FILE", credentials)):
        (tmp_path / variable).write_text(text)
        monkeypatch.setenv(variable, str(tmp_path / variable))
    for variable in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(variable)
    monkeypatch.setenv("AWS_PROFILE", name)


SECRETS = "[default]\naws_access_key_id = wrong\n[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = secret\n"


@pytest.mark.parametrize(
    "config",
    [
        "[profile work]\nregion = eu-west-1\nendpoint_url = {url}\n",
        '[profile "work"]\nregion = eu-west-1\nservices = here\nendpoint_url = http://127.0.0.1:9\n[services here]\ns3 =\n  endpoint_url = {url}\n',
    ],
)
def test_a_profile(s3: Store, config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s3.put("profile.safetensors", whole({"w": (3,)}))
    profiles(tmp_path, monkeypatch, config.format(url=s3.url), SECRETS)
    s3.forget()
    assert weighbridge.count("s3://models/profile.safetensors").unique == 3
    assert s3.signed == {True}
    assert any("AKIAWORK" in signature and "/eu-west-1/s3/" in signature for signature in s3.signatures)
    s3.answers = [403]
    with pytest.raises(ReadError, match=r"private or missing \(HTTP 403\): the profile work may not read it"):
        weighbridge.count("s3://models/profile.safetensors")


def test_variables_go_before_profiles(s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s3.put("profile.safetensors", whole({"w": (3,)}))
    profiles(tmp_path, monkeypatch, "[profile work]\nregion = eu-west-1\nendpoint_url = http://127.0.0.1:9\n", SECRETS)
    for name, value in (("ACCESS_KEY_ID", "AKIAOWN"), ("SECRET_ACCESS_KEY", "x"), ("REGION", "us-west-2"), ("ENDPOINT_URL", s3.url)):
        monkeypatch.setenv(f"AWS_{name}", value)
    s3.forget()
    assert weighbridge.count("s3://models/profile.safetensors").unique == 3
    assert all("AKIAOWN" in signature and "/us-west-2/s3/" in signature for signature in s3.signatures)


def test_the_default_profile_needs_no_name(s3: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    s3.put("profile.safetensors", whole({"w": (3,)}))
    keys = "aws_access_key_id = AKIADEFAULT\naws_secret_access_key = x\n"
    profiles(tmp_path, monkeypatch, f"[default]\nendpoint_url = {s3.url}\n{keys}", name="")
    s3.forget()
    assert weighbridge.count("s3://models/profile.safetensors").unique == 3
    assert all("AKIADEFAULT" in signature for signature in s3.signatures)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("", r"AWS_PROFILE names 'work', which is neither in ~/\.aws/config nor in ~/\.aws/credentials"),
        (
            "[profile work]\nsso_session = s\n",
            r"has its keys from elsewhere; .*aws configure export-credentials --profile work --format env",
        ),
        ("[profile work\nregion=x\n", r"AWS_CONFIG_FILE is damaged: File contains no section headers"),
        ("[a]\n[a]\n", r"AWS_CONFIG_FILE is damaged: While reading from .* section 'a' already exists"),
    ],
)
def test_a_profile_that_does_not_serve(config: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profiles(tmp_path, monkeypatch, config)
    with pytest.raises(SourceError, match=rf"s3://models/x\.safetensors: .*{message}"):
        weighbridge.count("s3://models/x.safetensors")


@pytest.mark.parametrize("code", [429, 500, 503])
def test_passing_troubles_are_tried_again(s3: Store, code: int) -> None:
    s3.put("again.safetensors", whole({"w": (3,)}))
    s3.answers = [code, code]
    assert weighbridge.count("s3://models/again.safetensors").unique == 3


def test_a_dropped_connection_is_resumed(s3: Store) -> None:
    data = whole({f"layers.{n}.some.long.name.weight": (8, 8) for n in range(3000)})
    s3.put("dropped.safetensors", data)
    s3.drops = 3
    assert weighbridge.count("s3://models/dropped.safetensors").unique == 3000 * 64


def test_what_is_not_there(s3: Store) -> None:
    with pytest.raises(ReadError, match=r"s3://models/none\.safetensors: not there \(HTTP 404\)"):
        weighbridge.count("s3://models/none.safetensors")
    with pytest.raises(ReadError, match=r"s3://models/none: not there \(HTTP 404\)"):
        weighbridge.count("s3://models/none")
    with pytest.raises(SourceError, match=r"s3://no-bucket/none: the folder cannot be listed: not there \(HTTP 404\); name a file"):
        weighbridge.count("s3://no-bucket/none")
    with pytest.raises(SourceError, match="s3:///x: expected s3://BUCKET/PATH, a file or a folder"):
        weighbridge.count("s3:///x")


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(ReadError, match="cannot be reached: HTTP error: error sending request"):
        weighbridge.count("s3://models/x.safetensors")


def test_without_obstore(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(SourceError, match=r"object stores need obstore: pip install weighbridge\[stores\]"):
        weighbridge.count("s3://models/x.safetensors")


def range_server(files: dict[str, bytes]) -> Any:
    """Return an application that serves files by ranges, with the headers that both services send."""

    def answer(environ: dict[str, Any], start: Any) -> Any:
        data = files.get(environ["PATH_INFO"])
        if data is None:
            start("404 not there", [("Content-Length", "0")])
            return [b""]
        stated = environ.get("HTTP_RANGE") or environ["HTTP_X_MS_RANGE"]
        first, last = (int(text) for text in stated.removeprefix("bytes=").split("-"))
        part = data[first : last + 1]
        headers = {"Content-Length": str(len(part)), "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(data)}"}
        headers |= {"ETag": '"1"', "Last-Modified": "Sat, 01 Nov 2025 00:00:00 GMT"}
        start("206 part", list(headers.items()))
        return [part]

    return answer


@pytest.mark.parametrize(
    ("source", "path", "variables"),
    [
        ("gs://models/org/model.safetensors", "/models/org/model.safetensors", {"STORAGE_EMULATOR_HOST": "{host}"}),
        (
            "az://models/org/model.safetensors",
            "/models/org/model.safetensors",
            {"AZURE_STORAGE_ENDPOINT": "http://{host}", "AZURE_STORAGE_ACCOUNT_NAME": "account"},
        ),
    ],
)
def test_the_other_services(source: str, path: str, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store()
    data = whole({f"layers.{n}.weight": (100, 1000) for n in range(20)})
    server = serving.make_server("127.0.0.1", 0, watch(store, range_server({path: data})), threaded=True, request_handler=quiet())
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        for name, value in variables.items():
            monkeypatch.setenv(name, value.format(host=f"127.0.0.1:{server.server_port}"))
        assert weighbridge.count(source).unique == 2_000_000
        with pytest.raises(ReadError, match=r"not there \(HTTP 404\)"):
            weighbridge.count(source.replace("model.safetensors", "none.safetensors"))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert store.sent <= 128 * 1024
    assert store.signed == {False}


def test_an_azure_container_needs_its_account() -> None:
    with pytest.raises(SourceError, match=r"az://models/x\.safetensors: .*[Aa]ccount"):
        weighbridge.count("az://models/x.safetensors")
