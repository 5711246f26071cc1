"""The table of checkpoint formats: which module reads which file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.errors import ReadError

if TYPE_CHECKING:
    from weighbridge.model import Model


def read_checkpoint(path: Path) -> Model:
    """Read a checkpoint's header."""
    raise ReadError("no reader knows this format", path=str(path))
