"""How fast a census goes: python -m benchmarks.census [--configs N] [--files N] [--headers N] [--peers]

Configs in JSONL at three sizes, configs as files of their own, and safetensors headers of drawn sizes, each by one process, warm, into
Parquet. Beside them, in the same run and on the same files, what others do of it: DuckDB's ``read_json``, ``json.loads`` that counts
nothing, huggingface_hub's reading of a header and ours through one HTTP server, and with ``--peers`` a loop over transformers' meta device (by
``.venv-truth/bin/python``, which ``scripts/truth`` makes). Figures are processor seconds (user and system), so that what else the
machine does matters less, and seconds that went by; peak memory is that of the process that did the work.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import weighbridge
from weighbridge.core.sizes import as_int
from weighbridge.inventory.items import items
from weighbridge.inventory.rows import row_of_checkpoint
from weighbridge.inventory.shards import shards, weigh_shard
from weighbridge.readers.hub import place

TRUTH = Path(os.environ.get("TRUTH_PYTHON") or Path(__file__).parents[1] / ".venv-truth/bin/python")
LOOP = """
import sys, time, json, torch, transformers
from transformers import AutoConfig, AutoModel
transformers.logging.set_verbosity_error()
done = 0
begun = time.process_time()
for line in open(sys.argv[1]):
    raw = json.loads(line)
    try:
        with torch.device("meta"):
            model = AutoModel.from_config(AutoConfig.for_model(**raw))
        sum(parameter.numel() for parameter in model.parameters())
        done += 1
    except Exception as error:
        print(type(error).__name__, file=sys.stderr)
print(done, time.process_time() - begun)
"""


def config(rng: random.Random) -> dict[str, Any]:
    """Draw a config of one of eight types."""
    model_type = rng.choice(["bert", "roberta", "llama", "qwen3", "mixtral", "gemma2", "gpt2", "t5"])
    heads, layers, mlp, vocab = rng.randrange(1, 40), rng.randrange(1, 48), 512 * rng.randrange(1, 9), rng.randrange(100, 99_999)
    if model_type == "gpt2":
        return {"model_type": "gpt2", "n_embd": 64 * heads, "n_head": heads, "n_layer": layers, "vocab_size": vocab}
    if model_type == "t5":
        return {"model_type": "t5", "d_model": 64 * heads, "num_heads": heads, "num_layers": layers, "d_ff": mlp, "vocab_size": vocab}
    sizes = {"hidden_size": 64 * heads, "num_attention_heads": heads, "num_hidden_layers": layers, "intermediate_size": mlp}
    return {"model_type": model_type, **sizes, "vocab_size": vocab, "pad_token_id": 0, "torch_dtype": "bfloat16"}


def write_headers(folder: Path, number: int, rng: random.Random) -> None:
    """Write checkpoints of small BERTs of drawn sizes, their data a hole in the file."""
    for index in range(number):
        sizes = {
            "hidden_size": 64 * rng.randrange(1, 9),
            "num_attention_heads": 1,
            "num_hidden_layers": 2,
            "vocab_size": rng.randrange(9, 9999),
        }
        header: dict[str, Any] = {}
        offset = 0
        for row in weighbridge.model({"model_type": "bert", **sizes}).tensors():
            size = 4 * as_int(row.count)
            header[row.name] = {"dtype": "F32", "shape": list(row.shape), "data_offsets": [offset, offset + size]}
            offset += size
        text = json.dumps(header, separators=(",", ":")).encode()
        with (folder / f"{index}.safetensors").open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + offset)


def weigh(source: str, out: str) -> int:
    """Weigh a source in this process and return its rows."""
    return sum(sum(weigh_shard(shard, out).counts.values()) for shard in shards(items([source]), 60))


def read_json(folder: str) -> int:
    """Let DuckDB read configs, and count nothing."""
    import duckdb

    return len(duckdb.sql(f"select * from read_json('{folder}/*.json')").fetchall())


def load_json(folder: str) -> int:
    """Parse configs, and count nothing."""
    return len([json.loads(path.read_text()) for path in Path(folder).iterdir()])


def ours_over_http(names: list[str]) -> int:
    """Weigh checkpoints of a server by their headers."""
    for name in names:
        row_of_checkpoint(place(f"{os.environ['HF_ENDPOINT']}/org/model/resolve/main/{name}"), name)
    return len(names)


def hub_over_http(names: list[str]) -> int:
    """Read the same headers by huggingface_hub."""
    from huggingface_hub import HfApi

    api = HfApi(endpoint=os.environ["HF_ENDPOINT"])
    for name in names:
        assert api.parse_safetensors_file_metadata("org/model", name).parameter_count
    return len(names)


def rate(label: str, work: Callable[[], int], warm: Callable[[], int] | None = None) -> None:
    """Do work in a process of its own and print its rows in a processor second and in a second, and the memory it took."""
    receive, send = get_context("fork").Pipe(False)
    process = get_context("fork").Process(target=_measure_and_send, args=(work, warm, send))
    process.start()
    rows, spent, gone, peak = receive.recv()
    process.join()
    print(
        f"| {label} | {rows:,} | {spent:,.1f} | {rows / spent:,.0f} | {gone:,.1f} | {rows / gone:,.0f} | {peak:,} |",
        flush=True,
    )


def _measure_and_send(work: Callable[[], int], warm: Callable[[], int] | None, send: Any) -> None:
    if warm is not None:
        warm()
    begun, wall = time.process_time(), time.monotonic()
    rows = work()
    send.send((rows, time.process_time() - begun, time.monotonic() - wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024))


def serve(folder: Path) -> tuple[ThreadingHTTPServer, list[str]]:
    """Serve files by ranges at ``/org/model/resolve/main/NAME``, and note every request."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('Range')}")
            path = folder / self.path.rpartition("/")[2]
            if not path.is_file():  # huggingface_hub looks for its lists first
                self.send_error(404)
                return
            first, _, last = self.headers.get("Range", "bytes=0-99999").removeprefix("bytes=").partition("-")
            size = path.stat().st_size
            with path.open("rb") as file:
                file.seek(int(first))
                data = file.read(min(int(last), size - 1) + 1 - int(first))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{int(first) + len(data) - 1}/{size}")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, seen


def transformers_loop(lines: Path) -> None:
    """Print what a loop over transformers on the meta device takes, without its imports."""
    done = subprocess.run([str(TRUTH), "-c", LOOP, str(lines)], capture_output=True, text=True, check=False)
    rows, spent = done.stdout.split() or ("0", "1")
    print(f"| a loop over transformers, meta device | {rows} | {float(spent):,.1f} | {int(rows) / float(spent):,.0f} | | | |", flush=True)


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("configs", 100_000), ("files", 10_000), ("headers", 5_000)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--peers", action="store_true", help="a loop over transformers as well")
    asked = parser.parse_args()
    rng = random.Random(20261122)
    print("| what | rows | processor s | rows a processor s | s | rows a s | peak MB |\n|---|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for inner in ("out", "files", "some", "headers"):
            (folder / inner).mkdir()
        out = str(folder / "out")
        few = folder / "few.jsonl"
        few.write_text("".join(json.dumps(config(rng)) + "\n" for _ in range(2_000)))
        warm = partial(weigh, str(few), out)
        for share in (4, 2, 1):
            lines = folder / f"{share}.jsonl"
            with lines.open("w") as file:
                file.writelines(json.dumps(config(rng)) + "\n" for _ in range(asked.configs // share))
            rate("configs in JSONL", partial(weigh, str(lines), out), warm)
            lines.unlink()
        for number in range(asked.files):
            path = folder / "files" / f"{number}_config.json"
            path.write_text(json.dumps(config(rng)))
            if number < 10_000:
                os.link(path, folder / "some" / path.name)
        rate("configs in files", partial(weigh, str(folder / "files"), out), warm)
        rate("configs in files, ten thousand of them", partial(weigh, str(folder / "some"), out), warm)
        rate("DuckDB `read_json`, the same ten thousand", partial(read_json, str(folder / "some")))
        rate("`json.loads`, the same ten thousand", partial(load_json, str(folder / "some")))
        write_headers(folder / "headers", asked.headers, rng)
        rate("safetensors headers", partial(weigh, str(folder / "headers"), out), partial(weigh, str(folder / "headers"), out))
        if asked.peers:
            short = folder / "short.jsonl"
            short.write_text("".join(few.read_text().splitlines(keepends=True)[:100]))
            rate("configs in JSONL, the hundred that transformers gets", partial(weigh, str(short), out), warm)
            transformers_loop(short)
            _over_http(folder / "headers", min(asked.headers, 300))
    sys.stdout.flush()


def _over_http(folder: Path, number: int) -> None:
    server, seen = serve(folder)
    os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
    names = [f"{index}.safetensors" for index in range(number)]
    for label, work in (("headers over HTTP", ours_over_http), ("headers over HTTP, huggingface_hub", hub_over_http)):
        seen.clear()
        rate(label, partial(work, names))
        print(f"{label}: {len(seen)} requests for {number} files", file=sys.stderr, flush=True)
    server.shutdown()


if __name__ == "__main__":
    main()
