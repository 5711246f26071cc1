"""FlatBuffers, read field by field in place: a root offset, tables with their tables of fields, vectors, texts.

Every offset is held against the file before it is followed, and how many reads a file may ask for is bounded.

Source: flatbuffers.dev/internals ("Format components": tables, vtables, vectors, strings)
"""

from __future__ import annotations

from struct import Struct
from typing import BinaryIO, NamedTuple, NoReturn

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text

U8, U16, I32, U32, U64 = Struct("<B"), Struct("<H"), Struct("<i"), Struct("<I"), Struct("<Q")
PAGE = 1 << 13
MOST_PAGES = 512
MOST_READS = 1_500_000
"""Fields that are looked at in one file, about two seconds' worth."""


class Buffer:
    """A file of FlatBuffers; a few pages of it are kept."""

    __slots__ = ("_file", "_left", "_pages", "size")

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._pages: dict[int, bytes] = {}
        self._left = MOST_READS
        self.size = file.seek(0, 2)

    def take(self, at: int, length: int) -> bytes:
        """Read bytes at a place."""
        if at < 0 or length < 0 or at + length > self.size:
            self.fail(Text("{length:,} bytes at {at:,} are beyond the file's end", length=length, at=at), min(max(at, 0), self.size))
        self._left -= 1
        if self._left < 0:
            self.fail(Text("more than {most_reads:,} fields", most_reads=MOST_READS), at)
        page, start = divmod(at, PAGE)
        data = self._page(page)[start : start + length]
        while len(data) < length:
            page += 1
            data += self._page(page)[: length - len(data)]
        return data

    def number(self, layout: Struct, at: int) -> int:
        """Read one whole number."""
        found: int = layout.unpack(self.take(at, layout.size))[0]
        return found

    def fail(self, message: str, at: int) -> NoReturn:
        """Raise an error about a place."""
        raise ReadError(message, offset=at)

    def root(self) -> Table:
        """Return the table that the file begins with."""
        return self.table(0)

    def table(self, at: int) -> Table:
        """Follow the offset at a place to a table."""
        begin = at + self.number(U32, at)
        fields = begin - self.number(I32, begin)
        size = self.number(U16, fields)
        if size < 4 or size % 2:
            self.fail("a table of fields with a size that cannot be", fields)
        return Table(self, begin, fields, size)

    def _page(self, number: int) -> bytes:
        found = self._pages.get(number)
        if found is None:
            if len(self._pages) >= MOST_PAGES:
                self._pages.clear()
            self._file.seek(number * PAGE)
            found = self._pages[number] = self._file.read(PAGE)
            if not found:
                self.fail("the file ends before its stated size", number * PAGE)
        return found


class Vector(NamedTuple):
    """Elements in a row: where they begin, and how many they are."""

    begin: int
    length: int


class Table(NamedTuple):
    """A table: the file, where it begins, where its table of fields is and how large that is. Fields are asked for by their number."""

    buffer: Buffer
    begin: int
    fields: int
    size: int

    def place(self, number: int) -> int:
        """Return where a field stands, or 0 if the table does not have it."""
        entry = 4 + 2 * number
        offset = self.buffer.number(U16, self.fields + entry) if entry < self.size else 0
        return self.begin + offset if offset else 0

    def number(self, field: int, layout: Struct, default: int = 0) -> int:
        """Return a field that is a whole number."""
        at = self.place(field)
        return self.buffer.number(layout, at) if at else default

    def table(self, field: int) -> Table | None:
        """Return a field that is a table."""
        at = self.place(field)
        return self.buffer.table(at) if at else None

    def vector(self, field: int, item: int) -> Vector:
        """Return a field that is a vector of elements of *item* bytes; an empty one if the table does not have it."""
        at = self.place(field)
        if not at:
            return Vector(0, 0)
        begin = at + self.buffer.number(U32, at)
        length = self.buffer.number(U32, begin)
        if begin + 4 + length * item > self.buffer.size:
            self.buffer.fail(Text("a vector of {length:,} elements is beyond the file's end", length=length), begin)
        return Vector(begin + 4, length)

    def tables(self, field: int, most: int, what: str) -> list[Table]:
        """Return a field that is a vector of tables."""
        found = self.vector(field, 4)
        if found.length > most:
            self.buffer.fail(
                Text("{length:,} {what}; at most {most:,} are accepted", length=found.length, what=Text(what), most=most), found.begin
            )
        return [self.buffer.table(found.begin + 4 * number) for number in range(found.length)]

    def numbers(self, field: int, layout: Struct, most: int) -> tuple[int, ...]:
        """Return a field that is a vector of whole numbers."""
        found = self.vector(field, layout.size)
        if found.length > most:
            self.buffer.fail(Text("{length:,} numbers; at most {most:,} are accepted", length=found.length, most=most), found.begin)
        return tuple(self.buffer.number(layout, found.begin + layout.size * number) for number in range(found.length))

    def text(self, field: int, most: int = 1 << 13) -> str:
        """Return a field that is a text; empty if the table does not have it."""
        found = self.vector(field, 1)
        if found.length > most:
            self.buffer.fail(Text("a text of {length:,} bytes; at most {most:,} are accepted", length=found.length, most=most), found.begin)
        try:
            return self.buffer.take(found.begin, found.length).decode("utf-8")
        except UnicodeDecodeError:
            self.buffer.fail("a text that is not UTF-8", found.begin)
