"""Options of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the flag that rewrites the golden files."""
    parser.addoption("--refresh-golden", action="store_true", help="write the golden files anew; read the diff before you commit it")
