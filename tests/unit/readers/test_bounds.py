"""Files that ask for much are read or refused within bounds of memory and time, each in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.bounds import measure
from tests.unit.readers.extremes import BYTES, CASES, SECONDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the memory a process held is read from /proc")
SLOW = 3
"""How much slower than the machine of the figures in docs/formats.md the one that tests may be."""


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_a_file_that_asks_for_much(name: str, tmp_path: Path) -> None:
    ending, write = CASES[name]
    if name.startswith("Keras"):
        pytest.importorskip("h5py")
    path = tmp_path / f"file{ending}"
    write(path)
    seconds, held, found = measure(path)
    path.unlink()
    assert held < BYTES, found
    assert seconds < SLOW * SECONDS, found
    assert "tensors" in found or "refused" in found
