"""Tar archives with one checkpoint of torch in them: NVIDIA NeMo's ``.nemo``; read in place, without unpacking.

Headers of 512 bytes, each before its member, whose size is padded to 512. A packed ``.nemo`` (gzip) is refused with the others that are packed.

Source: POSIX.1-2017, pax, "ustar Interchange Format"; NeMo, nemo/core/connectors/save_restore_connector.py (``model_weights.ckpt``)
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers import torch_zip
from weighbridge.readers.keras import Window
from weighbridge.readers.listing import Listing
from weighbridge.readers.text import make_printable

BLOCK = 512
MOST_MEMBERS = 10_000
ENDINGS = (".ckpt", ".pt", ".pth", ".bin")


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as a tar archive does.

    >>> sniff(bytes(257) + b"ustar" + bytes(250))
    True
    """
    return head[257:262] == b"ustar"


def read(file: BinaryIO) -> Listing:
    """List the tensors of the one checkpoint of torch in an archive.

    Raises:
        ReadError: None in it, or several; or it is damaged.
    """
    members = list(_members(file))
    found = [(name, begin, size) for name, begin, size in members if name.endswith(ENDINGS)]
    if not found and any(name.endswith(".distcp") for name, _, _ in members):
        raise ReadError("an archive with a distributed checkpoint: unpack it (tar -xf) and name the directory with .metadata")
    if len(found) != 1:
        raise ReadError(Text("a tar archive with {count:,} checkpoints of torch; unpack it and name what is inside", count=len(found)))
    name, begin, size = found[0]
    try:
        listing = torch_zip.read(io.BufferedReader(Window(file, begin, size)))
    except ReadError as error:
        raise ReadError(Text("in {name}: {error}", name=make_printable(name), error=error)) from None
    return listing._replace(notes=(*listing.notes, Text("read inside an archive: {name}", name=make_printable(name))))


def _members(file: BinaryIO) -> Iterator[tuple[str, int, int]]:
    """Yield the name, the place and the size of every plain file in an archive."""
    end = file.seek(0, 2)
    at = count = 0
    while at + BLOCK <= end:
        file.seek(at)
        header = file.read(BLOCK)
        if header == bytes(BLOCK):
            return
        count += 1
        if count > MOST_MEMBERS or header[257:262] != b"ustar":
            raise ReadError("a tar archive that is damaged, or has too many members", offset=at)
        if _size(header[148:156], at) != sum(header) - sum(header[148:156]) + 8 * 32:
            raise ReadError("a header of the tar archive does not fit its checksum", offset=at)
        size = _size(header[124:136], at)
        if at + BLOCK + size > end:
            raise ReadError("the tar archive is cut off", offset=at)
        if header[156:157] in (b"0", b"\0"):
            yield header[:100].split(b"\0")[0].decode("utf-8", "replace"), at + BLOCK, size
        at += BLOCK + -(-size // BLOCK) * BLOCK


def _size(field: bytes, at: int) -> int:
    """Return a number in a header: octal digits, or, of a member beyond 8 GiB, a whole number of 11 bytes."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:], "big")
    try:
        return int(field.strip(b" \0") or b"0", 8)
    except ValueError:
        raise ReadError("a number in the tar archive is not a number", offset=at) from None
