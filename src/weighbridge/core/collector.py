"""Work that makes many objects and no cycles: Python looks for cycles when it is done."""

from __future__ import annotations

import gc
from _thread import allocate_lock

_lock = allocate_lock()
_under_way: list[bool] = []
"""For each stretch of work under way, in any thread, whether Python looked for cycles before the first of them began."""


class CollectorPaused:
    """A stretch of work without Python's collector: what it makes is kept, and would be looked through again and again.

    Where several overlap, the collector works again when the last of them ends.

    >>> with CollectorPaused():
    ...     gc.isenabled()
    False
    """

    def __enter__(self) -> None:
        with _lock:
            _under_way.append(_under_way[0] if _under_way else gc.isenabled())
            gc.disable()

    def __exit__(self, *_: object) -> None:
        with _lock:
            if _under_way.pop() and not _under_way:
                gc.enable()
