"""A checkpoint of which the browser sends only the slices that the readers ask for, never the weights."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from weighbridge.api.model import Model, model
from weighbridge.core.errors import ReadError, UsageError, WeighbridgeError
from weighbridge.core.messages import Text


class Slice(NamedTuple):
    """Bytes of a file and their offset."""

    at: int
    data: bytes


class Cut(io.RawIOBase):
    """A file of known size of which some slices are here; reading outside them is an error that tells what is wanted.

    >>> Cut((Slice(0, b"abc"),), 1000).read(2)
    b'ab'
    """

    chunk = 512
    """No reader fetches more than it needs by more than this: what lies behind a header are weights."""

    def __init__(self, slices: tuple[Slice, ...], size: int) -> None:
        self._slices = slices
        self._size = size
        self._at = 0
        self.wanted: tuple[int, int] | None = None

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
        """Read from a slice that is here."""
        end = self._size if size < 0 else min(self._at + size, self._size)
        if end <= self._at:
            return b""
        here = next((piece for piece in self._slices if piece.at <= self._at and end <= piece.at + len(piece.data)), None)
        if here is None:
            self.wanted = self.wanted or (self._at, end - self._at)
            raise ReadError("more of the header is needed than was sent", offset=self._at)
        data = here.data[self._at - here.at : end - here.at]
        self._at = end
        return data

    def readinto(self, buffer: Any, /) -> int:
        """Read into a buffer, as h5py does."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


class HeaderResult(NamedTuple):
    """A model, or the offset and length of the slice that is still wanted."""

    model: Model | None
    wanted: tuple[int, int] | None = None


def slices(body: bytes, places: str, size: int) -> tuple[Slice, ...]:
    """Take a body apart into the slices it is made of.

    Args:
        body: The slices, one after the other.
        places: Where each begins and how long it is: ``0:8,4096:512``; the empty string for one that begins at 0.
        size: Of the whole file.

    Raises:
        UsageError: The places do not fit the body or the file.

    >>> slices(b"abc", "0:1,7:2", 10)
    (Slice(at=0, data=b'a'), Slice(at=7, data=b'bc'))
    """
    found, taken = [], 0
    for place in (places or f"0:{len(body)}").split(",")[:64]:
        at, _, length = place.partition(":")
        if not all(number.isascii() and number.isdecimal() and len(number) <= 18 for number in (at, length)):
            raise UsageError("slices: expected pairs such as 0:8,4096:512")
        found.append(Slice(int(at), body[taken : taken + int(length)]))
        taken += int(length)
        if int(at) + int(length) > size:
            raise UsageError(Text("slices: {place} does not lie in a file of {size:,} bytes", place=place, size=size))
    if taken != len(body):
        raise UsageError(Text("slices: {taken:,} bytes are announced, {count:,} were sent", taken=taken, count=len(body)))
    return tuple(found)


def header_model(found: tuple[Slice, ...], size: int, name: str) -> HeaderResult:
    """Weigh the checkpoint of which *found* is here and whose size is *size* bytes.

    Raises:
        ReadError: It is damaged, or of a format that no reader knows.
    """
    from typing import BinaryIO, cast

    from weighbridge.readers import as_model, list_open
    from weighbridge.readers.packing import unpack

    file = Cut(found, size)
    try:
        return HeaderResult(model(as_model(unpack(list_open(cast(BinaryIO, file), name), None), name or "dropped file")))
    except Exception as error:  # what other libraries make of a slice that is missing, or of noise, is theirs to choose
        if file.wanted is not None:
            return HeaderResult(None, file.wanted)
        raise error if isinstance(error, WeighbridgeError) else ReadError("it is damaged") from error
