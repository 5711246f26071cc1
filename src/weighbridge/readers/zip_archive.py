"""A zip archive with one safetensors file in it, as downloads come, or with a program of ``torch.export``: read in place, without unpacking."""

from __future__ import annotations

import io
import zlib
from typing import Any, BinaryIO, cast

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers import archive, safetensors, torch_export, torch_zip
from weighbridge.readers.keras import Window
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.text import make_printable

EXPORTED = ("serialized_state_dict.pt", "serialized_constants.pt")
"""Members of a program of ``torch.export`` before torch 2.8 that are files of torch."""


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like a zip archive; formats that are zips themselves are asked first.

    >>> sniff(bytes([0x50, 0x4B, 3, 4]))
    True
    """
    return head[:4] == b"PK\x03\x04"


def read(file: BinaryIO) -> Listing:
    """List the tensors of the one safetensors file in an archive.

    Raises:
        ReadError: None in it, or several; or it is damaged.
    """
    found = archive.members(file)
    members = [member for name, member in found.items() if name.endswith(".safetensors")]
    if not members and any(name.endswith("/data.pkl") for name in found):
        return torch_zip.read(file)
    exported = [member for name, member in found.items() if name in EXPORTED]
    if exported and not members:
        return _inner_torch(file, exported)
    if not members:
        raise ReadError("an archive without a safetensors file; unpack it and name what is in it")
    if len(members) > 1:
        raise ReadError(Text("an archive with {count} safetensors files; unpack it and name the directory", count=len(members)))
    inner = cast(BinaryIO, _Member(file, members[0]))
    listing = safetensors.read(inner)
    return listing._replace(notes=(*listing.notes, Text("read inside an archive: {name}", name=make_printable(members[0].name))))


def _inner_torch(file: BinaryIO, exported: list[archive.Member]) -> Listing:
    """List the weights of a program that ``torch.export.save`` wrote before torch 2.8, and its constants as buffers."""
    tensors: list[StoredTensor] = []
    for member in exported:
        if member.method:
            raise ReadError(Text("{name} is packed within the archive; unpack it and name what is in it", name=member.name))
        listing = torch_zip.read(io.BufferedReader(Window(file, archive.place(file, member), member.size)))
        constants = "constants" in member.name
        tensors += [one._replace(role="buffer", note=torch_export.NOTE) if constants else one for one in listing.tensors]
    return Listing("torch export", tuple(tensors))


class _Member(io.RawIOBase):
    """The beginning of a member as a file: stored or deflated, of its full size, unpacked only as far as it is read."""

    def __init__(self, file: BinaryIO, member: archive.Member) -> None:
        self.file, self.member = file, member
        self.begin = archive.place(file, member)
        self.position = 0

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move."""
        self.position = offset + (0 if whence == 0 else self.position if whence == 1 else self.member.size)
        return self.position

    def read(self, size: int = -1) -> Any:
        """Return the next bytes."""
        end = self.member.size if size < 0 else min(self.position + size, self.member.size)
        if self.member.method == 0:
            self.file.seek(self.begin + self.position)
            data: bytes | bytearray = self.file.read(max(0, end - self.position))
        else:
            data = self._inflate(end)
        self.position += len(data)
        return data

    def _inflate(self, end: int) -> bytearray:
        """Unpack from the beginning, and keep what lies between the position and *end*, in one piece of memory of that size."""
        if end > safetensors.LARGEST_HEADER + 8:
            raise ReadError("a header above the format's limit")
        self.file.seek(self.begin)
        kept, at, packed_left, machine = bytearray(max(0, end - self.position)), 0, self.member.packed, zlib.decompressobj(-15)
        while at < end and packed_left > 0 and (packed := self.file.read(min(1 << 16, packed_left))):
            packed_left -= len(packed)
            while packed and at < end:
                piece = _unpack(machine, packed, min(end - at, 1 << 20))
                wanted = piece[max(0, self.position - at) :]
                begin = max(0, at - self.position)
                kept[begin : begin + len(wanted)] = wanted
                at += len(piece)
                packed = machine.unconsumed_tail
        del kept[max(0, at - self.position) :]
        return kept


def _unpack(machine: zlib._Decompress, packed: bytes, most: int) -> bytes:
    try:
        return machine.decompress(packed, most)
    except zlib.error as error:
        raise ReadError(Text("the archive is damaged: {error!r}", error=str(error))) from None
