"""Feed damaged headers to the readers, by the million: each is read consistently or refused, nothing else, and quickly.

    python -m benchmarks.damage gguf onnx --inputs 1000000

The seeds are those of the readers' tests. What comes out for 1,000,000 inputs each stands in docs/formats.md.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from typing import NamedTuple

from tests.unit.readers.hostile import mutations, read_bytes
from weighbridge.core.errors import ReadError

READERS = ("gguf", "onnx", "tensorflow", "flax", "npz")


class Outcome(NamedTuple):
    """How many inputs were read and refused, and the slowest of them in seconds."""

    read: int
    refused: int
    slowest: float


def damage(reader: str, inputs: int, seed: int) -> Outcome:
    """Read *inputs* damaged copies of the reader's seed; what is no :class:`ReadError` comes out of here."""
    module = import_module(f"weighbridge.readers.{reader}")
    tests = import_module(f"tests.unit.readers.test_{reader}")
    refused, slowest = 0, 0.0
    for case in mutations(tests.SMALL, inputs, seed):
        begun = time.perf_counter()
        try:
            tests.assert_consistent(read_bytes(module.read, case))
        except ReadError:
            refused += 1
        slowest = max(slowest, time.perf_counter() - begun)
    return Outcome(inputs - refused, refused, slowest)


def main() -> None:
    """Print one line for each reader."""
    parser = argparse.ArgumentParser(description="Damaged headers, by the million.")
    parser.add_argument("readers", nargs="*", default=READERS, choices=[*READERS, []])
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    for reader in asked.readers:
        outcome = damage(reader, asked.inputs, asked.seed)
        print(f"{reader:12}{outcome.read:>12,} read{outcome.refused:>12,} refused   slowest {outcome.slowest:.3f} s", flush=True)


if __name__ == "__main__":
    main()
