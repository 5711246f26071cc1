"""Zip archives by their central directory: names, sizes and places of the members, without unpacking them.

Source: PKWARE APPNOTE 6.3.10, sections 4.3.12 (central directory), 4.3.14 to 4.3.16 (its end, zip64) and 4.5.3
(zip64 sizes). Written here and not taken from ``zipfile`` since a hostile directory must cost neither time
nor memory, and every length is held against the file before it is believed.
"""

from __future__ import annotations

import struct
import zlib
from typing import BinaryIO, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.text import make_printable

LARGEST_DIRECTORY = 64_000_000
MOST_MEMBERS = 300_000


class Member(NamedTuple):
    """One file in an archive.

    Attributes:
        name: Its path in the archive.
        size: Its bytes.
        packed: The bytes it takes in the archive.
        method: 0 as it is, 8 deflated.
        checksum: CRC-32 of its bytes.
        offset: Where its local header begins.
        limit: Where the archive's members end; no member reaches beyond.
    """

    name: str
    size: int
    packed: int
    method: int
    checksum: int
    offset: int
    limit: int


def members(file: BinaryIO) -> dict[str, Member]:
    """Return the members of an archive by name.

    Raises:
        ReadError: It is no zip archive, or its directory is damaged.
    """
    count, size, start = _end(file)
    if size > LARGEST_DIRECTORY or count > MOST_MEMBERS:
        raise ReadError(Text("an archive with {count:,} members in a directory of {size:,} bytes", count=count, size=size), offset=start)
    file.seek(start)
    directory = file.read(size)
    found: dict[str, Member] = {}
    position = 0
    while position < size:
        member, position = _entry(directory, position, start)
        if member.name in found:
            raise ReadError(Text("the archive holds {shown} twice", shown=make_printable(member.name)))
        found[member.name] = member
    if len(found) != count:
        raise ReadError(
            Text("the archive's directory should name {count:,} members, it names {count2:,}", count=count, count2=len(found)), offset=start
        )
    if sum(member.packed for member in found.values()) > start:
        raise ReadError("the archive's members overlap: together they are larger than the file", offset=start)
    return found


def content(file: BinaryIO, member: Member, limit: int) -> bytes:
    """Return a member's bytes, unpacked; at most *limit* of them.

    Raises:
        ReadError: It is larger, or damaged.
    """
    if member.size > limit:
        raise ReadError(
            Text(
                "{shown} has {size:,} bytes, more than the {limit:,} it can have",
                shown=make_printable(member.name),
                size=member.size,
                limit=limit,
            )
        )
    file.seek(place(file, member))
    packed = file.read(member.packed)
    if member.method == 0:
        data = packed
    else:
        try:
            data = zlib.decompressobj(-15).decompress(packed, member.size + 1)
        except zlib.error as error:
            raise ReadError(Text("{shown} is damaged: {error!r}", shown=make_printable(member.name), error=str(error))) from None
    if len(data) != member.size or zlib.crc32(data) != member.checksum:
        raise ReadError(Text("{shown} is damaged: its bytes do not fit its checksum", shown=make_printable(member.name)))
    return data


def place(file: BinaryIO, member: Member) -> int:
    """Return where a member's bytes begin, by its local header."""
    file.seek(member.offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise ReadError(Text("{shown} is not where the archive's directory says", shown=make_printable(member.name)), offset=member.offset)
    if member.method not in (0, 8):
        raise ReadError(
            Text(
                "{shown} is compressed with method {method}, which is not supported",
                shown=make_printable(member.name),
                method=member.method,
            )
        )
    name, extra = struct.unpack_from("<HH", header, 26)
    begin: int = member.offset + 30 + name + extra
    if begin + member.packed > member.limit:
        raise ReadError(Text("{shown} reaches beyond the archive's members", shown=make_printable(member.name)), offset=begin)
    return begin


def _end(file: BinaryIO) -> tuple[int, int, int]:
    """Return members, bytes and place of the central directory."""
    size = file.seek(0, 2)
    for most in (1_024, 65_557):
        reach = min(size, most)
        file.seek(size - reach)
        tail = file.read(reach)
        at = tail.rfind(b"PK\x05\x06")
        if at >= 0:
            break
    if at < 0 or len(tail) - at < 22:
        raise ReadError("the archive is cut off: it has no directory at its end")
    count, length, start = struct.unpack_from("<HII", tail, at + 10)
    end = size - reach + at
    if at >= 20 and tail[at - 20 : at - 16] == b"PK\x06\x07":
        count, length, start, end = _end64(file, struct.unpack_from("<Q", tail, at - 12)[0], end - 20)
    if start + length != end:
        raise ReadError(
            Text("the archive's directory should end at {end:,} and ends at {value:,}", end=end, value=start + length), offset=end
        )
    return count, length, start


def _end64(file: BinaryIO, at: int, before: int) -> tuple[int, int, int, int]:
    if at > before - 56:
        raise ReadError("the archive's zip64 record is not where it should be", offset=before)
    file.seek(at)
    record = file.read(56)
    if len(record) < 56 or record[:4] != b"PK\x06\x06":
        raise ReadError("the archive's zip64 record is not where it should be", offset=at)
    count, length, start = struct.unpack_from("<QQQ", record, 32)
    return count, length, start, at


def _entry(directory: bytes, at: int, limit: int) -> tuple[Member, int]:
    """Read one entry of the central directory; *limit* is where the directory begins."""
    if len(directory) - at < 46 or directory[at : at + 4] != b"PK\x01\x02":
        raise ReadError("the archive's directory is damaged", offset=limit + at)
    flags, method = struct.unpack_from("<HH", directory, at + 8)
    checksum, packed, size, name_length, extra_length, comment_length = struct.unpack_from("<IIIHHH", directory, at + 16)
    (offset,) = struct.unpack_from("<I", directory, at + 42)
    name_end = at + 46 + name_length
    end = name_end + extra_length + comment_length
    if end > len(directory):
        raise ReadError("the archive's directory is damaged", offset=limit + at)
    try:
        name = directory[at + 46 : name_end].decode("utf-8" if flags & 0x800 else "cp437")
    except UnicodeDecodeError:
        raise ReadError("a name in the archive's directory is not text", offset=limit + at) from None
    size, packed, offset = _zip64_sizes(directory[name_end : name_end + extra_length], (size, packed, offset), limit + at)
    if offset + (packed and packed + 30) > limit:
        raise ReadError(Text("{shown} reaches beyond the archive's members", shown=make_printable(name)), offset=limit + at)
    return Member(name, size, packed, method, checksum, offset, limit), end


def _zip64_sizes(extra: bytes, sizes: tuple[int, int, int], at: int) -> tuple[int, int, int]:
    """Replace sizes of all ones by those of the zip64 field."""
    if 0xFFFFFFFF not in sizes:
        return sizes
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        if kind == 1:
            field = extra[position + 4 : position + 4 + length]
            values = iter(struct.unpack_from(f"<{len(field) // 8}Q", field))
            size, packed, offset = (next(values, -1) if value == 0xFFFFFFFF else value for value in sizes)
            if min(size, packed, offset) >= 0:
                return size, packed, offset
            break
        position += 4 + length
    raise ReadError("the archive's directory lacks a zip64 size", offset=at)
