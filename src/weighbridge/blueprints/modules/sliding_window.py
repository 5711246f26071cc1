"""Sliding-window attention: fields for the window and for the layers that have it. They change no tensor, but bound the cache."""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.config.fields import Config, Field, optional
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def window(key: str = "sliding_window", default: int | None = 4096) -> Field:
    """Declare how many keys a query can see, where attention is limited."""
    return optional("window", key, default, "W", "attention window")


def windowed_layers(rule: Callable[[Config], int | None] | None = None) -> Field:
    """Declare in how many layers attention is limited: where ``layer_types`` does not say it, *rule* does."""
    return Field("windowed", "layer_types", rule, "choice", read=_limited_layers, report_default=False)


def all_but_every(period: int) -> Field:
    """Declare that attention is limited in all layers but every *period*-th."""
    return windowed_layers(lambda c: int(c.layers) - int(c.layers) // period)


def _limited_layers(kinds: Any) -> int | None:
    return sum("full" not in kind for kind in kinds) if isinstance(kinds, (list, tuple)) else kinds
