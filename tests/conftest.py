"""Options of the test suite."""

from __future__ import annotations

import pytest

collect_ignore_glob = ["conftest.py", "*/conftest.py"]
"""They hold no doctests, and two modules of one name cannot be collected."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites the golden files."""
    parser.addoption("--refresh-golden", action="store_true", help="write the golden files anew; read the diff before you commit it")
