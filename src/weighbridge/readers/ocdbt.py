"""OCDBT databases, in which Orbax and tensorstore keep arrays: a manifest, a B+tree of keys, and values within it or in data files.

A manifest and every node is a magic number, a length, a version, a compression, a body and a checksum. The body of a node has a table of data files, keys that share
their beginnings, and for each the place of a child or of a value. Only the metadata of arrays is read (``.zarray``, ``zarr.json``), never their chunks.

Source: google/tensorstore, tensorstore/kvstore/ocdbt/index.rst ("Storage format"), format/config_codec.cc (``manifest_kind``)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from struct import Struct
from typing import NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.files import is_path_below, open_file
from weighbridge.core.messages import Text
from weighbridge.readers.text import make_printable

MANIFEST = "manifest.ocdbt"
MANIFEST_MAGIC, NODE_MAGIC = 0x0CDB3A2A, 0x0CDB20DE
ENDINGS = (b".zarray", b"zarr.json")

LARGEST_NODE = 16_000_000
MOST_READ = 64_000_000
"""Bytes of nodes, unpacked, that are read of one database."""

MOST_KEYS = 300_000
LARGEST_VALUE = 1 << 20
_MAGIC, _LENGTH, _CHECKSUM = Struct(">I"), Struct("<Q"), Struct("<I")


class _Place(NamedTuple):
    """Where a node or a value lies: the file, seen from the database's folder, the part of its name that its children share, the bytes."""

    path: str
    base: str
    offset: int
    length: int


class _Body:
    """An unpacked body, read from its begin to its end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, length: int) -> bytes:
        found = self.data[self.at : self.at + length]
        if len(found) != length:
            raise ReadError("a node of the OCDBT database is cut off")
        self.at += length
        return found

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
            if shift > 63:
                raise ReadError("a number in the OCDBT database has more than 64 bits")

    def varints(self, count: int) -> list[int]:
        if count > len(self.data):
            raise ReadError("a node of the OCDBT database is cut off")
        return [self.varint() for _ in range(count)]

    def texts(self, count: int, *, between: Callable[[], object] = lambda: None) -> list[bytes]:
        """Read texts that share their beginnings: lengths shared, lengths of their own, what stands *between*, and the texts' ends."""
        shared, own = [0, *self.varints(max(count - 1, 0))], self.varints(count)
        between()
        found: list[bytes] = []
        for common, length in zip(shared, own, strict=False):
            before = found[-1] if found else b""
            if common > len(before):
                raise ReadError("a key of the OCDBT database shares more than there is")
            found.append(before[:common] + self.take(length))
        return found

    def files(self, transitive: str) -> list[tuple[str, str]]:
        """Read the table of data files: the path of each, and the part of it that its children share."""
        count = self.varint()
        bases: list[int] = []
        paths = self.texts(count, between=lambda: bases.extend(self.varints(count)))
        words = [path.decode("utf-8", "replace") for path in paths]
        return [(transitive + word, transitive + word[:base]) for word, base in zip(words, bases, strict=True)]


def metadata_of(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the metadata of every array in the database of a folder, by its key.

    Raises:
        ReadError: Damaged, larger than is accepted, or packed by Zstandard where nothing is installed that unpacks it.
    """
    try:
        yield from _Database(folder).metadata()
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror or error), path=str(folder)) from None
    except ReadError as error:
        raise error.at(str(folder)) from None


class _Database:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read, self.keys = 0, 0

    def metadata(self) -> Iterator[tuple[str, bytes]]:
        """Walk the tree of the latest version."""
        size = (self.folder / MANIFEST).stat().st_size
        pending = [(b"", self.root(self.unpack(_Place(MANIFEST, "", 0, size), MANIFEST_MAGIC)))]
        while pending:
            prefix, place = pending.pop()
            if place is None:
                continue
            body = self.unpack(place, NODE_MAGIC)
            height, files, count = body.take(1)[0], body.files(place.base), body.varint()
            self.keys += count
            if self.keys > MOST_KEYS:
                raise ReadError(Text("an OCDBT database of more than {most:,} keys", most=MOST_KEYS))
            if height:
                pending += [(prefix + key, child) for key, child in reversed(self.children(body, files, count))]
            else:
                yield from self.values(body, files, count, prefix)

    def root(self, body: _Body) -> _Place | None:
        """Return the root of the latest version that a manifest names; None of an empty database."""
        body.take(16)
        if body.varint():
            raise ReadError("an OCDBT database with numbered manifests, which is not supported")
        body.varints(2)
        body.take(1)
        if body.varint():
            body.take(4)
        files, count = body.files(""), body.varint()
        body.varints(count)
        body.take(count)
        columns = [body.varints(count) for _ in range(3)]
        if not count:
            return None
        file, offset, length = (column[-1] for column in columns)
        return _Place(*_choose(files, file), offset, length) if length else None

    def children(self, body: _Body, files: list[tuple[str, str]], count: int) -> list[tuple[bytes, _Place]]:
        """Return the children of a node, each with what all keys below it begin with."""
        shared: list[int] = []
        keys = body.texts(count, between=lambda: shared.extend(body.varints(count)))
        columns = [body.varints(count) for _ in range(3)]
        places = (_Place(*_choose(files, file), offset, length) for file, offset, length in zip(*columns, strict=True))
        return [(key[:common], place) for key, common, place in zip(keys, shared, places, strict=True)]

    def values(self, body: _Body, files: list[tuple[str, str]], count: int, prefix: bytes) -> Iterator[tuple[str, bytes]]:
        """Yield the metadata among the values of a leaf: those within it, and those in data files."""
        keys, lengths, kinds = body.texts(count), body.varints(count), body.varints(count)
        outside = sum(kind == 1 for kind in kinds)
        places = iter(list(zip(body.varints(outside), body.varints(outside), strict=True)))
        begins = accumulate((length if kind == 0 else 0 for length, kind in zip(lengths, kinds, strict=True)), initial=body.at)
        for key, length, kind, begin in zip(keys, lengths, kinds, begins, strict=False):
            file, offset = next(places) if kind == 1 else (0, 0)
            if not key.endswith(ENDINGS):
                continue
            if length > LARGEST_VALUE or kind > 1:
                raise ReadError("the metadata of an array in the OCDBT database is damaged")
            within = body.data[begin : begin + length]
            data = self.read_at(_Place(*_choose(files, file), offset, length)) if kind == 1 else within
            yield (prefix + key).decode("utf-8", "replace"), data

    def read_at(self, place: _Place) -> bytes:
        """Read the bytes at a place, in a file of the database and no other."""
        if not is_path_below(place.path):
            raise ReadError(Text("the OCDBT database names {name!r}, which is no file of it", name=make_printable(place.path)))
        self.read += place.length
        if place.length > LARGEST_NODE or self.read > MOST_READ:
            raise ReadError(Text("an OCDBT database of more than {most:,} bytes of nodes", most=MOST_READ))
        path = self.folder / place.path
        if not path.is_file():
            raise ReadError(Text("{name} is missing, which holds part of the tensors", name=make_printable(place.path)))
        with open_file(path) as file:
            file.seek(min(place.offset, file.seek(0, 2)))  # a place of 64 bits may be more than a file can be asked for
            found = file.read(place.length)
        if len(found) != place.length:
            raise ReadError(Text("{name} ends before what the OCDBT database says is in it", name=make_printable(place.path)))
        return found

    def unpack(self, place: _Place, magic: int) -> _Body:
        """Read a manifest or a node, check what stands around its body, and unpack that."""
        data = self.read_at(place)
        if len(data) < 18 or _MAGIC.unpack_from(data)[0] != magic or _LENGTH.unpack_from(data, 4)[0] != len(data):
            raise ReadError(Text("{name} is not a node of an OCDBT database", name=make_printable(place.path)))
        head = _Body(data[12:-4])
        version, packed = head.varint(), head.varint()
        if version or packed > 1:
            raise ReadError(Text("an OCDBT database of version {version}, compression {packed}", version=version, packed=packed))
        body = head.data[head.at :]
        if packed:
            body = _inflate(body)
            self.read += len(body)
        return _Body(body)


def _choose(files: list[tuple[str, str]], number: int) -> tuple[str, str]:
    if number >= len(files):
        raise ReadError("a node of the OCDBT database names a file that is not in its table")
    return files[number]


def _inflate(data: bytes) -> bytes:
    """Unpack what Zstandard packed, up to the most that a node can have."""
    try:
        import pyarrow
    except ImportError:
        raise ReadError("an OCDBT database packed by Zstandard, which needs pyarrow: pip install weighbridge[bulk]") from None
    try:
        with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
            found: bytes = stream.read(LARGEST_NODE + 1)
    except (OSError, pyarrow.ArrowException) as error:
        raise ReadError(Text("a node of the OCDBT database is damaged: {error:.100}", error=str(error))) from None
    if len(found) > LARGEST_NODE:
        raise ReadError("a node of the OCDBT database is larger than is accepted")
    return found
