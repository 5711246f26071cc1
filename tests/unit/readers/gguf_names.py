"""The gguf library's table of names for an architecture, as it is in a fresh process."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest


def name_map(number: int, layers: int) -> Any:
    """Return the table; the library writes an architecture's own names into the table of all, from which the next one would take them."""
    gguf: Any = pytest.importorskip("gguf")
    kind = gguf.TensorNameMap
    with patch.object(kind, "block_mappings_cfg", dict(kind.block_mappings_cfg)):
        return gguf.get_tensor_name_map(number, layers)
