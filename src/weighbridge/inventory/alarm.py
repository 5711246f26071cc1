"""A timeout by signal, where the platform and the thread allow one."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TooSlowError(Exception):
    """An item took longer than it may."""


def _ring(*_: object) -> None:
    raise TooSlowError


@contextmanager
def answering_alarms() -> Iterator[None]:
    """Allow timeouts by signal inside the block, where the platform and the thread support them."""
    try:
        before = signal.signal(signal.SIGALRM, _ring)
    except (AttributeError, ValueError):  # no such signal here, or not the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGALRM, before)


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Interrupt the block after *seconds*, where timeouts are allowed."""
    set_alarm(seconds)
    try:
        yield
    finally:
        set_alarm(0)


def set_alarm(seconds: float) -> None:
    """Set the timer to *seconds*, replacing an earlier one; 0 clears it. Only the main thread receives the signal."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, seconds)
