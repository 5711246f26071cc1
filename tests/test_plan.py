"""The plan of the house in docs/internals.md is drawn from the imports as they are."""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]


def script() -> ModuleType:
    """Load ``scripts/plan``."""
    loader = SourceFileLoader("plan_script", str(ROOT / "scripts" / "plan"))
    spec = importlib.util.spec_from_loader("plan_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_the_plan_is_that_of_the_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["plan", "--check"])
    assert script().main() == 0


def test_every_room_stands_in_the_table() -> None:
    page = (ROOT / "docs" / "internals.md").read_text("utf-8")
    rooms = [path.parent.name for path in (ROOT / "src" / "weighbridge").glob("*/__init__.py")]
    assert rooms
    assert all(f"| `{name}` |" in page for name in rooms)
