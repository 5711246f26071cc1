"""Commands on checkpoints of very many tensors: seconds and memory of each.

python -m benchmarks.names [TENSORS, by default 100000]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.unit.safetensors_file import write

CONFIG = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 100,
}
COMMANDS = (
    "count {f}", "tensors {f} --csv", "verify {d}", "diff {f} {f}", "diff {f} {d}/other/changed.safetensors", "compare {f} {d}/other/changed.safetensors",
    "report {f} -o {d}/report.html", "report {f} -o {d}/report.xlsx", "counts {f}", "reconcile 1234567 {f}", "audit {d}/notes.md --model {f}",
    "explain {f}", "quiz {f}", "memory {f}", "parallel {f} --tp 2", "fits {f} --gib 24", "adapters {f} {d}/adapter", "census {d} -o {d}/census.parquet",
)  # fmt: skip
"""Every command that takes a file; the others (formula, flops, cache, solve ...) refuse one without a config once it is read."""
ADAPTER = {"peft_type": "LORA", "r": 8, "target_modules": "all-linear"}


KINDS = ("equal", "unlike", "bare", "heads", "mixed", "deep", "experts")
NOTES = "It has 409,600,000 parameters; 12M in total, of which 5% are embeddings. BERT has 110M.\n"


def shapes(kind: str, count: int) -> dict[str, tuple[int, ...]]:
    """Return the tensors of a checkpoint: equal layers, modules all unlike, bare names, output heads, equal beside unlike
    siblings, modules deep in each other, or layers of 512 experts.

    >>> [len(shapes(kind, 8)) for kind in KINDS]
    [8, 8, 8, 8, 8, 8, 8]
    """
    if kind == "equal":
        return {f"model.layers.{i // 8}.{'qkvoabcd'[i % 8]}.weight": (64, 64) for i in range(count)}
    if kind == "unlike":
        return {f"m{i}.w{i}.weight": (i % 997 + 1, 3) for i in range(count)}
    if kind == "bare":
        return {f"t{i}": (i + 1,) for i in range(count)}
    if kind == "heads":
        return {f"m{i}.lm_head.weight": (i % 50 + 2, 3) for i in range(count)}
    if kind == "deep":
        return {
            f"{'.'.join(f'b{i >> 3 * k & 7}' for k in range(6))}.m.block.{i % 3}.inner.layer{i}.weight": (i % 7 + 1, 4)
            for i in range(count)
        }
    if kind == "experts":
        return {
            f"model.layers.{i // 1536}.mlp.experts.{i % 1536 // 3}.{('gate', 'up', 'down')[i % 3]}_proj.weight": (64, 32)
            if i % 3 < 2
            else (32, 64)
            for i in range(count)
        }
    half = count // 2
    equal: dict[str, tuple[int, ...]] = {f"layers.{i}.w.weight": (4, 4) for i in range(half)}
    return equal | {f"layers.{half + i}.w{i}.weight": (4, i % 89 + 1) for i in range(half)}


def change_tensors(tensors: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
    """Return tensors a third of which have another shape, and a third another name.

    >>> change_tensors({"a": (1,), "b": (2,), "c": (3,)})
    {'a': (2,), 'b_': (2,), 'c': (3,)}
    """
    return {
        f"{name}_" if number % 3 == 1 else name: (shape[0] + 1, *shape[1:]) if number % 3 == 0 else shape
        for number, (name, shape) in enumerate(tensors.items())
    }


def write_files(folder: Path, kind: str, count: int) -> None:
    """Write what the commands read: a checkpoint with its config, a changed one, an adapter, a text."""
    for inside in ("other", "adapter"):
        (folder / inside).mkdir()
    write(folder / "model.safetensors", shapes(kind, count))
    write(folder / "other" / "changed.safetensors", change_tensors(shapes(kind, count)))
    (folder / "adapter" / "adapter_config.json").write_text(json.dumps(ADAPTER))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "notes.md").write_text(NOTES)


def main() -> int:
    """Make the files, run the commands, print what each took."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            write_files(Path(folder), kind, count)
            for command in COMMANDS:
                words = command.format(f=f"{folder}/model.safetensors", d=folder).split()
                begun = time.perf_counter()
                process = subprocess.Popen([sys.executable, "-m", "weighbridge.cli", *words], stdout=subprocess.DEVNULL)
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                seconds = time.perf_counter() - begun
                print(
                    f"{kind:7} {command.split()[0]:8} {seconds:6.1f} s  cpu {used.ru_utime:5.1f} s  {used.ru_maxrss // 1024:4} MB",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
