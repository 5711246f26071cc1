"""Live PyTorch modules, duck-typed: names, shapes and ties, with ties found by identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbridge.model import Model


def read_module(module: Any) -> Model:
    """Read a live module's parameters and persistent buffers."""
    raise NotImplementedError
