"""Hostile requests against the page and its API, in process: none may be answered with a 500 or a traceback.

python -m benchmarks.hostile [HOW MANY, by default 10000] [SEED]
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

CALLS = ("count", "tensors", "formula", "explain", "counts", "reconcile", "audit", "flops", "models", "header", "openapi.json", "nope")
PAGES = ("/", "/model", "/compare", "/explain", "/audit", "/api", "/dropped", "/health", "/metrics", "/static/app.js", "/nope")
METHODS = ("GET",) * 8 + ("POST",) * 8 + ("PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW")
KEYS = (
    "source", "config", "class", "lang", "module", "batch", "seq", "decoder_seq", "number", "text", "names", "filter", "with", "size",
    "slices", "name", "flops", "set.hidden_size", "set.num_hidden_layers", "set.vocab_size", "set.num_attention_heads", "set.a.b.c", "set.",
)  # fmt: skip
FAMILIES = ("bert", "gpt2", "llama", "t5", "deepseek_v3", "mixtral", "albert", "clip", "swin", "falcon", "whisper", "mamba")


class Attack(NamedTuple):
    """One request."""

    method: str
    address: str
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


def attacks(count: int, seed: int = 0) -> Iterator[Attack]:
    """Yield *count* requests; the same for the same seed.

    >>> len(list(attacks(3))) == 3 and list(attacks(3)) == list(attacks(3))
    True
    """
    chance = Random(seed)
    for _ in range(count):
        make = chance.choice((_random_query, _random_query, _random_form, _random_form, _traversing, _bad_encoding, _random_upload))
        yield make(chance)


async def answer(app: Any, attack: Attack) -> tuple[int, str]:
    """Put a request to the application itself, as crooked as it is: a client would straighten its address."""
    path, _, query = attack.address.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": attack.method,
        "scheme": "http",
        "root_path": "",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(b"host", b"127.0.0.1"), *((name.encode(), value.encode()) for name, value in attack.headers)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent: list[dict[str, Any]] = []
    told = [{"type": "http.request", "body": attack.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not told:
            await asyncio.Event().wait()  # the client stays and listens
        return told.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    try:
        await app(scope, receive, send)
    except Exception as error:  # what the application does not catch is what is looked for
        return 500, repr(error)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:]).decode("utf-8", "replace")


def complaint(status: int, text: str) -> str | None:
    """Tell what is wrong with an answer, if anything is."""
    if status >= 500:
        return f"status {status}"
    if "Traceback (most recent call last)" in text or 'File "/' in text:
        return "a traceback"
    return "a file of this machine" if "root:x:0:0" in text or "[build-system]" in text else None


def _address(chance: Random) -> str:
    return f"/api/v1/{chance.choice(CALLS)}" if chance.random() < 0.7 else chance.choice(PAGES)


def _word(chance: Random) -> str:
    """Return something that somebody might put where a word is expected."""
    return chance.choice((
        chance.choice(FAMILIES), "bert-base-uncased", "/etc/passwd", "../../../pyproject.toml", "file:///etc/passwd", "http://127.0.0.1:1/",
        "s3://bucket/key", "-", "..", "", " ", "\0", "a" * chance.randrange(1, 5000), "%00", "' OR 1=1 --", "<script>alert(1)</script>",
        "{{7*7}}", "${jndi:ldap://x}", "\u202e\ufeff", "🏋" * 99, "名" * 500, "\ud7ff", "NaN", "Infinity", "-0", "1e999", "0x10", "1_000",
        "9" * chance.randrange(1, 9000), str(chance.randrange(-(10**9), 10**12)), "true", "null", "[]", "{}", "." * 200, "a.b" * 300,
        "__class__", "BertModel", "zh", "encoder.layer", "1.1亿", "110M", "-110M", "1e400M",
    ))  # fmt: skip


def _deep_json(chance: Random) -> str:
    depth = chance.choice((3, 50, 900, 5000, 100_000))
    return chance.choice(("[" * depth, "[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth))


def _value(chance: Random, depth: int = 0) -> object:
    kind = chance.randrange(9)
    if kind == 0 and depth < 3:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    if kind == 1 and depth < 3:
        return {_word(chance): _value(chance, depth + 1) for _ in range(chance.randrange(4))}
    return (None, True, 1.5, float("nan"), chance.randrange(-5, 10**6), 10 ** chance.randrange(40), -1, _word(chance), _word(chance))[kind]


def _config(chance: Random) -> str:
    config: dict[str, object] = {"model_type": chance.choice(FAMILIES)}
    for key in (
        "hidden_size",
        "num_hidden_layers",
        "n_layer",
        "num_attention_heads",
        "vocab_size",
        "architectures",
        "text_config",
        "layer_types",
    ):
        if chance.random() < 0.4:
            config[key] = _value(chance)
    return _deep_json(chance) if chance.random() < 0.1 else json.dumps(config)


def _random_query(chance: Random) -> Attack:
    pairs = []
    for _ in range(chance.randrange(6)):
        key = chance.choice(KEYS)
        value = _config(chance) if key == "config" else _word(chance)
        pairs.append(f"{quote(key)}={quote(value.encode('utf-8', 'surrogatepass'))}")
    return Attack(chance.choice(METHODS), f"{_address(chance)}?{'&'.join(pairs)}"[:60_000])


def _random_form(chance: Random) -> Attack:
    given = {chance.choice(KEYS): _value(chance) for _ in range(chance.randrange(5))}
    if chance.random() < 0.5:
        given["config"] = _config(chance)
    body = json.dumps(given).encode()
    if chance.random() < 0.3:
        body = chance.choice(
            (_deep_json(chance).encode(), body[: chance.randrange(len(body) + 1)], chance.randbytes(300), b"\xff\xfe" + body, b"")
        )
    kind = chance.choice(
        ("application/json",) * 6
        + ("text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "", "application/json; charset=utf-7")
    )
    return Attack("POST", _address(chance), body, (("content-type", kind),))


def _traversing(chance: Random) -> Attack:
    up = chance.choice(("../", "..%2f", "%2e%2e/", "..\\", "....//", "%252e%252e%252f", "/"))
    return Attack(
        "GET",
        f"{chance.choice(('/static/', '/api/v1/', '/', '/model/'))}{up * chance.randrange(1, 9)}{chance.choice(('etc/passwd', 'pyproject.toml', 'app.py'))}",
    )


def _bad_encoding(chance: Random) -> Attack:
    """Return a request with bad encodings, or a great many or very long parameters."""
    tail = chance.choice((
        "%ff%fe%80", "source=%c3%28", "&&&&===", "a=1&" * 2000, "source=" + "b" * 60_000, "set.=1&set.=2", "%", "%zz", "source=%00", ";;;",
        "source=bert&source=gpt2", "lang=%ed%a0%80", "class[]=1", "set.hidden_size=" + "1" * 5000, "config=" + "%7B" * 9000,
    ))  # fmt: skip
    return Attack(chance.choice(METHODS), f"{_address(chance)}?{tail}")


def _random_upload(chance: Random) -> Attack:
    size = chance.choice((0, 10, 4096, 10**9, 10**18, -1))
    places = chance.choice(("", "0:10", "0:4096", "5:5,5:5", "0:0", "9:999999999999", "a:b", ":", "0:10," * 90))
    head = chance.choice(
        (b"", b"GGUF\x03\0\0\0", b"PK\x03\x04", b"\x89HDF\r\n\x1a\n", (200).to_bytes(8, "little") + b'{"a":', chance.randbytes(64))
    )
    body = head + chance.randbytes(chance.choice((0, 10, 4096)))
    name = chance.choice(("x.safetensors", "x.gguf", "x.bin", "x.h5", "x.onnx", "x.npz", "x"))
    return Attack("POST", f"{chance.choice(('/dropped', '/api/v1/header'))}?size={size}&name={name}&slices={places}", body)


async def run(count: int, seed: int) -> int:
    """Send the requests, and tell how they were answered."""
    from weighbridge.web.app import create

    app = create()
    statuses: Counter[int] = Counter()
    started, slowest = time.perf_counter(), (0.0, "")
    for attack in attacks(count, seed):
        begun = time.perf_counter()
        status, text = await answer(app, attack)
        slowest = max(slowest, (time.perf_counter() - begun, f"{attack.method} {attack.address[:120]} {attack.body[:200]!r}"))
        statuses[status] += 1
        if (found := complaint(status, text)) is not None:
            print(f"{found}: {text[:300]} {attack!r:.3000}")
    seconds = time.perf_counter() - started
    print(
        f"{count:,} hostile requests in {seconds:.0f} s: {dict(sorted(statuses.items()))}; the slowest took {slowest[0]:.2f} s: {slowest[1]}"
    )
    return 1 if any(status >= 500 for status in statuses) else 0


def main() -> int:
    """Read how many, and from which seed."""
    count, seed = (int(word) for word in (sys.argv[1:] + ["10000", "0"][len(sys.argv) - 1 :])[:2])
    return asyncio.run(run(count, seed))


if __name__ == "__main__":
    sys.exit(main())
