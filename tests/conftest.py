"""Options of the test suite."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# What a machine under load takes says nothing about what is tested.
EXAMPLES = int(os.environ.get("WEIGHBRIDGE_EXAMPLES", "100"))
"""What Hypothesis draws for a law; fewer in runs of mutants."""

settings.register_profile("weighbridge", max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("weighbridge")

for name in ("COLUMNS", "LC_ALL", "LC_MESSAGES", "LANG"):
    os.environ.pop(name, None)  # what a program prints hangs on these; the tests set their own

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src"

SWEEPS = re.compile(r"pytest\.mark\.sweep|^from tests\.shares import", re.MULTILINE)
"""What a file has in it that holds sweeps."""

collect_ignore_glob = ["conftest.py", "*/conftest.py"]
"""They hold no doctests, and two modules of one name cannot be collected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites the golden files."""
    parser.addoption("--refresh-golden", action="store_true", help="write the golden files anew; read the diff before you commit it")


class Documented:
    """Of the package's modules collect those alone whose docstrings have examples: hundreds have none, and would be imported for nothing."""

    @staticmethod
    def pytest_ignore_collect(collection_path: Path) -> bool | None:
        """Leave out a module of the package without an example; a hook of this file would be asked about tests alone."""
        if collection_path.suffix != ".py" or SOURCE not in collection_path.parents:
            return None
        return True if b">>> " not in collection_path.read_bytes() else None


def pytest_configure(config: pytest.Config) -> None:
    """Read only the files that hold sweeps, or a share of one, where nothing else is asked for: to read all of them takes a worker ten seconds."""
    config.pluginmanager.register(Documented())
    if config.option.markexpr == "sweep" and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args = [str(path) for path in sorted(TESTS.rglob("test_*.py")) if SWEEPS.search(path.read_text("utf-8"))]
        assert config.args


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the files that hold nothing but sweeps (``pytestmark``) where these are left out."""
    if config.option.markexpr != "not sweep" or not collection_path.name.startswith("test_") or collection_path.suffix != ".py":
        return None
    return True if "\npytestmark = pytest.mark.sweep\n" in collection_path.read_text("utf-8") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the garbage collector what lives as long as the run: tens of thousands of tests, which it would walk again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
