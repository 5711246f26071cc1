"""Every hostile case put to every command, by one process for each core; what goes wrong is printed, and the exit code says whether anything did.

python -m tests.hostile.sweep [--seed 0] [--families 20000] [--minutes N]

The cases come in an order of the seed's, so that a sweep that is stopped after some minutes has met some of every kind.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from random import Random
from typing import Any

from tests.hostile import checkpoints, configs, families
from tests.hostile.commands import CONFIG_COMMANDS, FILE_COMMANDS, fill, form_of
from tests.hostile.judge import fault, parameters_of, weigh
from tests.unit.safetensors_file import write as write_tensors

MEMORY = 4 << 30
"""Bytes that a case may take."""


def try_case(case: Any, commands: tuple[str, ...]) -> list[str]:
    """Put a case to commands; return what is wrong."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tensors(folder / "honest.safetensors", {"embeddings.word_embeddings.weight": (16, 8)})
        (folder / "article.md").write_text("BERT has 110M parameters; 3 × 4 = 13.")
        inside = folder / "case"
        inside.mkdir()
        source = checkpoints.write(case, inside) if isinstance(case, checkpoints.HostileFile) else configs.write(case, inside)
        places = {"file": folder / "honest.safetensors", "article": folder / "article.md", "folder": inside, "source": source}
        wrong = []
        for command in commands:
            found = weigh(fill(command, **places), 10, case.data)
            said = fault(found, form_of(command))
            if said is None and command == "count {source} --json" and isinstance(case.expected, int):
                number = parameters_of(found, "stored" if isinstance(case, checkpoints.HostileFile) else "unique")
                said = None if number == case.expected else f"{number} in place of {case.expected}"
            if said is not None:
                wrong.append(f"{command} | {case.name} | {said}")
        return wrong


def cases(seed: int, many: int) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield every case with the commands that take it."""
    for config in configs.hostile_configs():
        yield config, CONFIG_COMMANDS
    for file in checkpoints.hostile_files():
        yield file, FILE_COMMANDS
    for config in families.hostile_families(many, seed):
        yield config, CONFIG_COMMANDS[:1]


def limit_memory() -> None:
    """Take no more memory than a case may."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> int:
    """Sweep, and tell what was found."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--families", type=int, default=20_000)
    asked.add_argument("--minutes", type=float, default=float("inf"))
    options = asked.parse_args()
    every = list(cases(options.seed, options.families))
    Random(options.seed).shuffle(every)
    met, answers, wrong = sweep(every, time.monotonic() + 60 * options.minutes)
    print(f"{met:,} of {len(every):,} cases, {answers:,} answers, {wrong} of them wrong")
    return 1 if wrong else 0


def sweep(every: list[tuple[Any, tuple[str, ...]]], until: float) -> tuple[int, int, int]:
    """Put cases to their commands until it is late; return how many were met, their answers, and how many of these are wrong."""
    met = answers = wrong = 0
    left = iter(every)
    running: dict[Future[list[str]], int] = {}
    with ProcessPoolExecutor(os.cpu_count(), initializer=limit_memory) as pool:
        while True:
            while len(running) < 8 and time.monotonic() < until and (case := next(left, None)) is not None:
                running[pool.submit(try_case, *case)] = len(case[1])
            if not running:
                return met, answers, wrong
            for done in wait(running, return_when=FIRST_COMPLETED).done:
                met, answers = met + 1, answers + running.pop(done)
                for line in done.result():
                    wrong += 1
                    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
