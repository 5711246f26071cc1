"""Print speed as ratios within one run: ``scripts/bench``, or ``python -m benchmarks`` in any environment with NumPy.

Whole processes are timed in turn, A B A B ..., so that a machine whose speed drifts slows both
alike; the ratio is the median over the pairs. What is not installed is named and left out.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
BERT = {
    "model_type": "bert",
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
BARE = [sys.executable, "-c", "pass"]
WEIGH = [str(Path(sys.executable).with_name("weigh"))]
META = """
import torch, transformers
from transformers.initialization import meta_device_safe_creation_ops
with torch.device("meta"), meta_device_safe_creation_ops(), torch.no_grad():
    model = transformers.BertModel(transformers.BertConfig())
print(sum(p.numel() for p in model.parameters()))
"""
TORCHINFO = """
import torch, torchinfo, transformers
with torch.device("meta"):
    model = transformers.BertForMaskedLM(transformers.BertConfig())
print(torchinfo.summary(model, verbose=0).total_params)
"""


def once(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def against(name: str, command: list[str], other: list[str], pairs: int = 21) -> None:
    once(command), once(other)
    rows = [(once(command), once(other)) for _ in range(pairs)]
    ratio = statistics.median(a / b for a, b in rows)
    ours, theirs = (statistics.median(column) * 1000 for column in zip(*rows, strict=True))
    print(f"{name:<58} {ours:9.1f} ms {theirs:9.1f} ms   ratio {ratio:6.2f}")


def inside(name: str, act: Callable[[], object], number: int) -> None:
    act()
    best = min(_time(act, number) for _ in range(5))
    print(f"{name:<58} {best * 1e6:9.1f} µs")


def _time(act: Callable[[], object], number: int) -> float:
    start = time.perf_counter()
    for _ in range(number):
        act()
    return (time.perf_counter() - start) / number


def processes() -> None:
    print("whole processes: ours, the other, median ratio of the pairs")
    against("weigh bert-base-uncased --json / python -c pass", [*WEIGH, "bert-base-uncased", "--json"], BARE)
    llama = json.dumps({**BERT, "hidden_size": 8192, "num_hidden_layers": 80, "num_attention_heads": 64, "intermediate_size": 28672})
    path = ROOT / ".bench-70b.json"
    path.write_text(llama)
    try:
        against("a config of 70 B / bert-base-uncased, both --json", [*WEIGH, str(path), "--json"], [*WEIGH, "bert-base-uncased", "--json"])
    finally:
        path.unlink()
    for module, name, program in (("transformers", "transformers on meta", META), ("torchinfo", "torchinfo", TORCHINFO)):
        if importlib.util.find_spec("torch") and importlib.util.find_spec(module):
            against(f"weigh bert-base-uncased --json / {name}", [*WEIGH, "bert-base-uncased", "--json"], [sys.executable, "-c", program], 3)
        else:
            print(f"{name}: not installed here, left out (scripts/bench --all makes an environment with it)")


def in_process() -> None:
    import numpy as np

    import weighbridge
    from weighbridge.columns import count

    print("\nin process, best of five")
    inside("count of a BERT config (a dict)", lambda: weighbridge.count(BERT).unique, 2000)
    inside("count of the preset bert-base-uncased", lambda: weighbridge.count("bert-base-uncased").unique, 2000)
    draw = np.random.default_rng(0)
    heads = draw.integers(1, 65, 1_000_000)
    columns = {
        "vocab_size": draw.integers(1000, 250_000, 1_000_000),
        "num_attention_heads": heads,
        "hidden_size": heads * 64,
        "num_hidden_layers": draw.integers(1, 100, 1_000_000),
        "intermediate_size": draw.integers(100, 30_000, 1_000_000),
    }
    inside("a million BERT configs as columns", lambda: count("bert", columns), 1)


if __name__ == "__main__":
    processes()
    in_process()
