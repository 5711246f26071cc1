"""A checkpoint of which only the header is here: the browser cuts it out of the dropped file and sends no weights."""

from __future__ import annotations

import io

from weighbridge.errors import ReadError
from weighbridge.model import Model


class Cut(io.RawIOBase):
    """The first bytes of a file whose whole size is known; reading behind them is an error, not an end.

    >>> Cut(b"abc", 1000).read(2)
    b'ab'
    """

    def __init__(self, head: bytes, size: int) -> None:
        self._head = head
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def seekable(self) -> bool:
        """Tell that it can seek."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Move to a byte of the whole file."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def tell(self) -> int:
        """Return the byte at which it stands."""
        return self._at

    def read(self, size: int = -1, /) -> bytes:
        """Read from the part that is here."""
        end = self._size if size < 0 else min(self._at + size, self._size)
        piece = self._head[self._at : end]
        if not piece and end > self._at:
            raise ReadError("the header is longer than the part that was sent", offset=len(self._head))
        self._at += len(piece)
        return piece


def header_model(head: bytes, size: int, name: str) -> Model:
    """Weigh the checkpoint whose first bytes are *head* and whose size is *size* bytes."""
    from typing import BinaryIO, cast

    from weighbridge.readers import as_model, list_open

    if size < len(head):
        raise ReadError(f"the file is said to hold {size:,} bytes, but {len(head):,} were sent")
    return as_model(list_open(cast(BinaryIO, Cut(head, size)), name), name or "dropped file")
