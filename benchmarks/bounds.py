"""Time and memory (on Linux) that the readers take on files made to take as much as they can, each in a process of its own.

python -m benchmarks.bounds                  # all of them
python -m benchmarks.bounds torch onnx       # those whose names begin so
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.unit.readers.extremes import BYTES, CASES, SECONDS

READ = """
import re, sys, time
from pathlib import Path
from weighbridge.core.errors import ReadError
from weighbridge.readers import read_listing
begun = time.process_time()
try:
    found = f"{len(read_listing(Path(sys.argv[1])).tensors):,} tensors"
except ReadError as error:
    found = "refused: " + str(error).removeprefix(sys.argv[1] + ": ")
held = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(time.process_time() - begun, int(held) * 1024, found, sep="\\t")
"""


def measure(path: Path) -> tuple[float, int, str]:
    """Read a file in a fresh process: processor seconds, most memory held in bytes, and what came out."""
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    seconds, held, found = done.stdout.rstrip("\n").split("\t")
    return float(seconds), int(held), found


def main() -> None:
    """Print one line for each file; a mark where a bound is passed."""
    for name, (ending, write) in CASES.items():
        if len(sys.argv) > 1 and not name.lower().startswith(tuple(word.lower() for word in sys.argv[1:])):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"file{ending}"
            write(path)
            seconds, held, found = measure(path)
        mark = "!" if seconds > SECONDS or held > BYTES else " "
        print(f"{mark} {name:<42}{seconds:7.2f} s {held / 1e6:7.0f} MB   {found[:110]}", flush=True)


if __name__ == "__main__":
    main()
