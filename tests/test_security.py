"""The page on security names a test for each bound, and each of them is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [line for line in (ROOT / "docs" / "security.md").read_text("utf-8").splitlines() if line.startswith("| ")][2:]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip()[:50])
def test_each_bound_has_its_test(row: str) -> None:
    what, bound, tests = (cell.strip() for cell in row.strip("|").split("|"))
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", tests)
    assert what
    assert bound
    assert named, "no test"
    for file, name in named:
        functions = {node.name for node in ast.parse((ROOT / file).read_text("utf-8")).body if isinstance(node, ast.FunctionDef)}
        assert any(found.startswith("test_") for found in functions), file
        assert not name or name in functions, f"{file}::{name}"


def test_the_page_has_the_bounds() -> None:
    assert len(ROWS) > 20
