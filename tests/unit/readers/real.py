"""Real checkpoints out of installed packages; a test that needs one skips where it is absent."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest


def packaged_file(package: str, pattern: str) -> Path:
    """Return the file that matches *pattern* in an installed package, which is not imported."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        pytest.skip(f"the package {package} is not installed")
    found = [path for place in spec.submodule_search_locations for path in sorted(Path(place).glob(pattern))]
    assert found, f"{package} holds no {pattern}"
    return found[0]
