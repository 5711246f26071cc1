"""Options of the test suite."""

from __future__ import annotations

import gc
import os
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

collect_ignore_glob = ["conftest.py", "*/conftest.py"]
"""They hold no doctests, and two modules of one name cannot be collected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites the golden files."""
    parser.addoption("--refresh-golden", action="store_true", help="write the golden files anew; read the diff before you commit it")


def pytest_configure(config: pytest.Config) -> None:
    """Read only the files that hold sweeps where nothing else is asked for: to read all of them takes a worker ten seconds."""
    if config.option.markexpr == "sweep" and config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        config.args = [str(path) for path in sorted(TESTS.rglob("test_*.py")) if "pytest.mark.sweep" in path.read_text("utf-8")]
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


BY_TYPE = ("test_blueprint_laws.py", "test_truth.py")
"""Files whose tests of one model type share what they draw or read."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of one type together: they come to one worker then, and what they share is made once."""
    first: dict[Path, int] = {}
    for index, item in enumerate(items):
        first.setdefault(item.path, index)
    items.sort(key=lambda item: (first[item.path], _model_type(item)))


def _model_type(item: pytest.Item) -> str:
    given = getattr(item, "callspec", None)
    return str(given.params.get("model_type", "")) if given is not None and item.path.name in BY_TYPE else ""
