"""Sliding-window attention: fields for the window and for the layers that have it. They change no tensor, but bound the cache."""

from __future__ import annotations

from weighbridge.config.fields import Config, Field, optional
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def window(key: str = "sliding_window", default: int | None = 4096) -> Field:
    """Declare how many keys a query can see, where attention is limited."""
    return optional("window", key, default, "W", "attention window")


def windowed_layers(rule: Callable[[Config], int | None] | None = None) -> Field:
    """Declare in how many layers attention is limited: where ``layer_types`` does not say it, *rule* does."""
    return Field("windowed", "layer_types", rule, "sequence", read=_limited_layers, report_default=False)


def all_but_every(period: int) -> Field:
    """Declare that attention is limited in all layers but every *period*-th, or as the config's own :func:`pattern` says."""

    def count_window_layers(c: Config) -> int:
        every = period if c.pattern is None else c.pattern
        return int(c.layers) - int(c.layers) // every if type(every) is int and every > 0 else 0

    return windowed_layers(count_window_layers)


def pattern(default: int) -> Field:
    """Declare the older key for how many layers there are to one without a window."""
    return Field("pattern", "sliding_window_pattern", default, "choice", report_default=False)


def _limited_layers(kinds: Any) -> int | None:
    """Return in how many layers of a list attention is limited; what *rule* says is their number already."""
    return sum("full" not in kind for kind in kinds) if isinstance(kinds, (list, tuple)) else kinds
