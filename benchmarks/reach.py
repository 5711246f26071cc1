"""Which tests run which line of some rooms, and how long each takes (``python -m benchmarks.reach core config -o reach.json``).

Runs of mutants read it: a mutant is then held against the very tests that run its line, wherever they stand.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import defaultdict
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).parents[1]
ELSE = "auditing blueprints designs exercises inventory readers truth verification web"
TESTS = ("tests/unit", "tests/golden", "tests/property")
ELSEWHERE = (
    "test_blueprint_laws",
    "test_every_family",
    "test_sentences",
    "test_hostile_names",
    "test_presets",
    "test_header_damage",
    "test_torch_damage",
    "test_columns",
    "test_frames",
    "test_audit",
    "test_api",
    "test_neighbours",
    "test_platform",
    *(f"unit/{room}" for room in ELSE.split()),
)
"""Tests of other rooms, and laws over every architecture: left out, since no mutant can wait for them; and interruptions, which find coverage's lock held."""


class Clock:
    """Adds up what each test takes."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test's set-up, call or tear-down."""
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def reach(rooms: list[str], workers: int = 2) -> dict[str, object]:
    """Run the tests; return them with their seconds, and for every line of the rooms the indices of those that ran it."""
    sources = [str(ROOT / "src" / "weighbridge" / room) for room in rooms]
    with tempfile.TemporaryDirectory() as folder:
        rc, data = Path(folder) / "rc", Path(folder) / "lines"
        rc.write_text(f"[run]\nbranch = false\ndata_file = {data}\nsource =\n    " + "\n    ".join(sources) + "\n", "utf-8")
        clock = Clock()
        ignored = [f"--ignore-glob=*{name}*" for name in ELSEWHERE]
        options = ["-q", "--cov", f"--cov-config={rc}", "--cov-context=test", "--cov-report=", "-p", "no:cacheprovider", "-n", str(workers)]
        pytest.main([*options, *ignored, *TESTS, *sources], plugins=[clock])
        return _as_table(coverage.CoverageData(str(data)), {test: each for test, each in clock.seconds.items() if test not in clock.failed})


def _as_table(data: coverage.CoverageData, seconds: dict[str, float]) -> dict[str, object]:
    data.read()
    tests = sorted(seconds)
    numbers = {test: number for number, test in enumerate(tests)}
    lines = {}
    for path in sorted(data.measured_files()):
        reached = {
            line: sorted({numbers[test] for context in contexts if (test := context.rpartition("|")[0]) in numbers})
            for line, contexts in data.contexts_by_lineno(path).items()
        }
        lines[str(Path(path).relative_to(ROOT))] = reached
    return {"tests": [(test, round(seconds[test], 3)) for test in tests], "lines": lines}


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="+", help="rooms under src/weighbridge")
    parser.add_argument("-o", "--output", type=Path, default=Path("reach.json"))
    parser.add_argument("--workers", type=int, default=2, help="processes; 0 is this one alone")
    args = parser.parse_args()
    output = args.output.resolve()
    os.chdir(ROOT)
    os.environ.setdefault("WEIGHBRIDGE_EXAMPLES", "15")
    output.write_text(json.dumps(reach(args.rooms, args.workers)), "utf-8")


if __name__ == "__main__":
    main()
