"""How fast a census goes: python -m benchmarks.census [CONFIGS] [HEADERS]

Configs in one JSONL file at three sizes, configs as files of their own, and safetensors headers, each on one core, warm; beside them, in
the same run, what DuckDB's ``read_json`` takes to read the same files, and a plain loop over ``json.loads`` that counts nothing.
Figures are processor seconds, so that what else the machine does matters less.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import weighbridge
from weighbridge.designs.costs import whole
from weighbridge.inventory.items import items
from weighbridge.inventory.shards import shards, weigh_shard


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


def write_headers(folder: Path, number: int) -> None:
    """Write checkpoints of BERT-tiny's layout, their data a hole in the file."""
    header, offset = {}, 0
    for row in weighbridge.model("bert-tiny").tensors():
        size = 4 * whole(row.count)
        header[row.name] = {"dtype": "F32", "shape": list(row.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    for index in range(number):
        with (folder / f"{index}.safetensors").open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.truncate(8 + len(text) + offset)


def weigh(source: Path, out: Path) -> int:
    """Weigh a source in this process and return its rows."""
    return sum(sum(weigh_shard(shard, str(out)).counts.values()) for shard in shards(items([str(source)]), 60))


def rate(label: str, work: Callable[[], int]) -> None:
    """Print the rows that *work* does in a processor second."""
    begun, wall = time.process_time(), time.monotonic()
    rows = work()
    spent, gone = time.process_time() - begun, time.monotonic() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{label:<42} {rows:>9,} rows {rows / spent:>9,.0f} a processor second {rows / gone:>9,.0f} a second, peak {peak} MB", flush=True)


def main() -> None:
    """Run all of it."""
    import duckdb

    configs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    headers = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000
    rng = random.Random(20261122)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for inner in ("out", "files", "headers"):
            (folder / inner).mkdir()
        for share in (4, 2, 1):
            lines = folder / f"{share}.jsonl"
            lines.write_text("".join(json.dumps(config(rng)) + "\n" for _ in range(configs // share)))
        weigh(folder / "4.jsonl", folder / "out")
        for share in (4, 2, 1):
            rate("configs, JSONL", lambda share=share: weigh(folder / f"{share}.jsonl", folder / "out"))  # type: ignore[misc]
        for number in range(configs // 10):
            (folder / "files" / f"{number}_config.json").write_text(json.dumps(config(rng)))
        rate("configs, files", lambda: weigh(folder / "files", folder / "out"))
        rate("  DuckDB read_json, the same files", lambda: len(duckdb.sql(f"select * from read_json('{folder}/files/*.json')").fetchall()))
        rate("  json.loads alone, the same files", lambda: len([json.loads(path.read_text()) for path in (folder / "files").iterdir()]))
        write_headers(folder / "headers", headers)
        rate("safetensors headers", lambda: weigh(folder / "headers", folder / "out"))


if __name__ == "__main__":
    main()
