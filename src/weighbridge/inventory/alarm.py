"""An alarm that ends what takes too long, where the platform and the thread allow one."""

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
    """Let an alarm end what takes too long, where the platform and the thread allow it."""
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
    """End what is inside after *seconds*, where alarms are answered."""
    set_alarm(seconds)
    try:
        yield
    finally:
        set_alarm(0)


def set_alarm(seconds: float) -> None:
    """Ring after *seconds*, in place of any time set before; 0 is never. In another thread nothing would hear it."""
    if hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        signal.setitimer(signal.ITIMER_REAL, seconds)
