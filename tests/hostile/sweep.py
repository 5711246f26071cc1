"""Every hostile case put to every command, by one process for each core; what goes wrong is printed, and the exit code says whether anything did.

python -m tests.hostile.sweep [SEED, by default 0] [FAMILIES, by default 20000]
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.hostile import checkpoints, configs, families
from tests.hostile.commands import CONFIG_COMMANDS, FILE_COMMANDS, filled, form_of
from tests.hostile.judge import counted, fault, weigh
from tests.unit.safetensors_file import write as write_tensors

MEMORY = 4 << 30
"""Bytes that a case may take."""


def tried(case: Any, commands: tuple[str, ...]) -> list[str]:
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
            found = weigh(filled(command, **places), 10, case.data)
            said = fault(found, form_of(command))
            if said is None and command == "count {source} --json" and isinstance(case.expected, int):
                number = counted(found, "stored" if isinstance(case, checkpoints.HostileFile) else "unique")
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


def bound() -> None:
    """Take no more memory than a case may."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> int:
    """Sweep, and tell what was found."""
    seed, many = (int(word) for word in (sys.argv[1:] + ["0", "20000"][len(sys.argv) - 1 :])[:2])
    wrong = 0
    with ProcessPoolExecutor(os.cpu_count(), initializer=bound) as pool:
        waiting = [pool.submit(tried, case, commands) for case, commands in cases(seed, many)]
        for done in waiting:
            for line in done.result():
                wrong += 1
                print(line, flush=True)
    print(f"{len(waiting):,} cases, {wrong} of their answers wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
