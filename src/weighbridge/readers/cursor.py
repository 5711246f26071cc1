"""A bounded place in a file: every read is checked against the file's size before it is made.

All binary readers walk with it. What it is asked for never decides what is allocated: a length
beyond the end of the file is an error before a byte is read, and skipping costs nothing.
"""

from __future__ import annotations

from struct import Struct
from typing import BinaryIO, NoReturn, final

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text, mark, phrase

CHUNK = 1 << 16
"""Bytes fetched at a time; over a network this is what a header costs beyond its own length."""


PLACES = (
    mark("array"),
    mark("attribute"),
    mark("bits"),
    mark("buffers"),
    mark("constants"),
    mark("delegates"),
    mark("entry"),
    mark("function"),
    mark("graph"),
    mark("header"),
    mark("key"),
    mark("layer"),
    mark("length"),
    mark("length of a key"),
    mark("length of a name"),
    mark("length of a text"),
    mark("length of an array"),
    mark("line"),
    mark("magic number"),
    mark("name"),
    mark("name of a file"),
    mark("node"),
    mark("number"),
    mark("number of aliases"),
    mark("number of dimensions"),
    mark("number of tensors and keys"),
    mark("number of variables"),
    mark("operation"),
    mark("operator"),
    mark("padding"),
    mark("plans"),
    mark("producer"),
    mark("rank"),
    mark("revision"),
    mark("segments"),
    mark("shape"),
    mark("size"),
    mark("sparse tensor"),
    mark("sub-graphs"),
    mark("tensor"),
    mark("tensor's name"),
    mark("tensors"),
    mark("text"),
    mark("type"),
    mark("value"),
    mark("values"),
    mark("variable"),
    mark("version"),
)
"""What a reader says that it was in the middle of; each is a sentence of the catalogue."""


@final
class Cursor:
    """A position in an open file.

    Attributes:
        at: The byte that is read next.
        size: The file's size, or the end of the part that may be read.
    """

    __slots__ = ("_base", "_buffer", "_chunk", "_file", "at", "size")

    def __init__(self, file: BinaryIO, chunk: int = CHUNK) -> None:
        self._file = file
        # A file that comes piece by piece may say how little it wants to be asked for.
        self._chunk = getattr(file, "chunk", chunk)
        self._buffer = b""
        self._base = 0
        self.at = 0
        self.size = file.seek(0, 2)

    def take(self, length: int, what: str = "value") -> bytes:
        """Read *length* bytes and move past them; *what* names them in the error."""
        start = self.at - self._base
        if start >= 0 and start + length <= len(self._buffer):
            self.at += length
            return self._buffer[start : start + length]
        if length > self.size - self.at:
            self._fail_short(length, what)
        self._fill(length, what)
        self.at += length
        return self._buffer[:length]

    def unpack(self, layout: Struct, what: str = "value") -> tuple[int, ...]:
        """Read the whole numbers of a fixed layout."""
        return layout.unpack(self.take(layout.size, what))

    def number(self, layout: Struct, what: str = "value") -> int:
        """Read the one whole number of a fixed layout."""
        result: int = layout.unpack(self.take(layout.size, what))[0]
        return result

    def varint(self) -> int:
        """Read a whole number of 1 to 10 bytes, 7 bits in each, as protocol buffers write them."""
        start = self.at - self._base
        if 0 <= start < len(self._buffer) and self._buffer[start] < 128:
            self.at += 1
            return self._buffer[start]
        if start < 0 or start + 10 > len(self._buffer):
            self._fill(min(10, max(self.size - self.at, 0)), "number")
            start = 0
        value = shift = 0
        for byte in self._buffer[start : start + 10]:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                self.at += shift // 7
                return value & (1 << 64) - 1
        raise self.error("the file ends inside a number" if shift < 70 else "a number of more than 64 bits")

    def skip(self, length: int, what: str = "value") -> None:
        """Move past *length* bytes without reading them."""
        if length > self.size - self.at:
            self._fail_short(length, what)
        self.at += length

    def text(self, length: int, what: str, limit: int = 1 << 16) -> str:
        """Read *length* bytes of UTF-8, at most *limit*."""
        if length > limit:
            self.fail(
                Text("a {what} of {length:,} bytes, the longest accepted is {limit:,}", what=phrase(what), length=length, limit=limit)
            )
        try:
            return self.take(length, what).decode("utf-8")
        except UnicodeDecodeError:
            self.fail(Text("a {what} that is not UTF-8", what=phrase(what)))

    def error(self, message: str, offset: int | None = None) -> ReadError:
        """Return a :class:`ReadError` about this place, or another one."""
        return ReadError(message, offset=self.at if offset is None else offset)

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise a :class:`ReadError` about this place, or another one."""
        raise self.error(message, offset)

    def _fail_short(self, length: int, what: str) -> NoReturn:
        left = max(self.size - self.at, 0)
        self.fail(
            Text("the file ends inside the {what}: {length:,} bytes wanted, {left:,} left", what=phrase(what), length=length, left=left)
        )

    def _fill(self, length: int, what: str) -> None:
        try:
            self._file.seek(self.at)
            self._buffer = self._file.read(min(max(length, self._chunk), self.size - self.at))
        except OSError as error:
            self.fail(Text("cannot be read: {strerror}", strerror=error.strerror))
        self._base = self.at
        if len(self._buffer) < length:
            self.fail(Text("the file ends inside the {what}, before its stated size of {size:,} bytes", what=phrase(what), size=self.size))
