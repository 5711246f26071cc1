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

SWEEPS = re.compile(r"pytest\.mark\.sweep|^from tests\.shares import .*\bshare\b", re.MULTILINE)
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
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    if config.option.markexpr == "sweep":
        config.args = [str(path) for path in sorted(TESTS.rglob("test_*.py")) if SWEEPS.search(path.read_text("utf-8"))]
        assert config.args
    elif "PYTEST_XDIST_WORKER" in os.environ:
        _begin_elsewhere(config, int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")), int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))


def _begin_elsewhere(config: pytest.Config, worker: int, workers: int) -> None:
    """Let each worker begin to read at another place, and go round: what one has compiled the others find in the cache.

    Reading in step, each of them would compile each file. Afterwards all have their tests in the same order, as they must.
    """
    places = [place for place in (*TESTS.iterdir(), *(TESTS / "unit").iterdir()) if place.name != "unit" and _holds_tests(place)]
    places.sort()
    first = len(places) * worker // workers
    config.args = [*map(str, places[first:] + places[:first]), str(SOURCE)]

    class Sorted:
        @staticmethod
        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
            items.sort(key=lambda item: item.path)

    config.pluginmanager.register(Sorted())


def _holds_tests(place: Path) -> bool:
    return any(place.rglob("*.py")) if place.is_dir() else place.suffix == ".py" and place.name != "conftest.py"


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
