"""NumPy's ``.npz``: a zip archive of arrays, of which only the headers are unpacked.

Source: numpy/lib/format.py (versions 1.0 to 3.0); names: google-research/vision_transformer and the like
"""

from __future__ import annotations

import re
import zlib
from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.archive import Member, members, place
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.npy import LONGEST_HEADER, MAGIC, header
from weighbridge.readers.variables import OPTIMIZER_NOTE, TABLE_NOTE, role_of_variable, with_dots

MOST_ARRAYS = 25_000
"""Each has a header of its own to be read, which takes its time."""


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as an archive whose first member is an array.

    >>> sniff(b"PK\\x03\\x04" + bytes(22) + bytes([5, 0, 0, 0]) + b"w.npy")
    True
    """
    length = int.from_bytes(head[26:28], "little")
    return head[:4] == b"PK\x03\x04" and head[30 : 30 + length].endswith(b".npy")


def read(file: BinaryIO) -> Listing:
    """List the arrays of an archive, by their members' names.

    Raises:
        ReadError: A damaged archive, a member that is no array, or one whose bytes do not fit its shape.
    """
    found = members(file)
    if len(found) > MOST_ARRAYS:
        raise ReadError(Text("{count:,} arrays; at most {most_arrays:,} are accepted", count=len(found), most_arrays=MOST_ARRAYS))
    tensors = [_read_header(file, member) for member in found.values()]
    names = {tensor.name for tensor in tensors}
    if len(names) != len(tensors):
        raise ReadError("two arrays have the same name once slashes are written as dots")
    return Listing("npz", tuple(_classify(tensor, names) for tensor in tensors), ordered=False)


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return where each array's bytes begin, how many they are, and their type; packed members are left out."""
    found = {}
    for member in members(file).values():
        tensor = _read_header(file, member)
        if member.method == 0:
            found[tensor.name] = (place(file, member) + member.size - tensor.size_bytes, tensor.size_bytes, tensor.dtype)
    return found


def _classify(tensor: StoredTensor, names: set[str]) -> StoredTensor:
    if re.match(r"(opt_state|optimizer|opt\.state)\b", tensor.name):
        return tensor._replace(role="buffer", note=OPTIMIZER_NOTE)
    if tensor.dtype == "U32" and f"{tensor.name.removesuffix('.weight')}.scales" in names:
        return tensor
    if not tensor.dtype.startswith(("F", "V", "C")):
        return tensor._replace(role="buffer", note=TABLE_NOTE)
    return tensor._replace(role=role_of_variable(tensor.name, tensor.shape, names))


def _read_header(file: BinaryIO, member: Member) -> StoredTensor:
    """Read one array's header and hold it against the member's size."""
    if not member.name.endswith(".npy"):
        raise ReadError(Text("{name!r:.80} in the archive is not an array", name=member.name))
    name = member.name.removesuffix(".npy")
    head = _first_bytes(file, member)
    if head[:6] != MAGIC or len(head) < 12 or head[6] not in (1, 2, 3):
        raise ReadError(Text("{name!r:.80} does not start like an array", name=name))
    width = 2 if head[6] == 1 else 4
    length = int.from_bytes(head[8 : 8 + width], "little")
    text = head[8 + width : 8 + width + length]
    if length > LONGEST_HEADER or len(text) < length:
        raise ReadError(Text("the header of {name!r:.80} has {length:,} bytes, which is impossible", name=name, length=length))
    dtype, item, shape = header(name, text)
    data = member.size - 8 - width - length
    if item and data != prod(shape) * item:
        raise ReadError(
            Text(
                "{name!r:.80} of shape {shape} takes {value:,} bytes; the archive has {data:,}",
                name=name,
                shape=list(shape),
                value=prod(shape) * item,
                data=data,
            )
        )
    return StoredTensor(with_dots(name), dtype, shape, data)


def _first_bytes(file: BinaryIO, member: Member) -> bytes:
    """Return a member's first bytes, unpacked as far as a header can reach."""
    most = LONGEST_HEADER + 12
    file.seek(place(file, member))
    packed = file.read(min(member.packed, most))
    if member.method == 0:
        return packed
    try:
        return zlib.decompressobj(-15).decompress(packed, most)
    except zlib.error as error:
        raise ReadError(Text("{name!r:.80} is damaged: {error!r}", name=member.name, error=str(error))) from None
