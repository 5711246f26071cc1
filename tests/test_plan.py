"""The plan of the house in docs/internals.md is drawn from the imports as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_plan_is_that_of_the_imports() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "scripts" / "plan"), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_room_stands_in_the_table() -> None:
    page = (ROOT / "docs" / "internals.md").read_text("utf-8")
    rooms = [path.parent.name for path in (ROOT / "src" / "weighbridge").glob("*/__init__.py")]
    assert rooms
    assert all(f"| `{name}` |" in page for name in rooms)
