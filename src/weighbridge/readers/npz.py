"""NumPy's ``.npz``: a zip archive of arrays, of which only the headers are unpacked.

Source: numpy/lib/format.py (versions 1.0 to 3.0); names: google-research/vision_transformer and the like
"""

from __future__ import annotations

import ast
import re
import zlib
from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.archive import Member, members, place
from weighbridge.readers.listing import DEEPEST, LONGEST, Listing, Stored
from weighbridge.readers.variables import OPTIMISER_NOTE, TABLE_NOTE, dotted, role_of_variable

MAGIC = b"\x93NUMPY"
MOST_ARRAYS = 25_000
"""Each has a header of its own to be read, which takes its time."""

LONGEST_HEADER = 10_000
"""What NumPy itself reads at most (max_header_size)."""

_TYPE = re.compile(r"[<>|=]?([biufcSUVO])(\d*)")
_NAMES = {"b": "BOOL", "i": "I", "u": "U", "f": "F", "c": "C"}


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
    tensors = [_stored(file, member) for member in found.values()]
    names = {tensor.name for tensor in tensors}
    if len(names) != len(tensors):
        raise ReadError("two arrays have the same name once slashes are written as dots")
    return Listing("npz", tuple(_told(tensor, names) for tensor in tensors), ordered=False)


def _told(tensor: Stored, names: set[str]) -> Stored:
    if re.match(r"(opt_state|optimizer|opt\.state)\b", tensor.name):
        return tensor._replace(role="buffer", note=OPTIMISER_NOTE)
    if not tensor.dtype.startswith(("F", "V", "C")):
        return tensor._replace(role="buffer", note=TABLE_NOTE)
    return tensor._replace(role=role_of_variable(tensor.name, tensor.shape, names))


def _stored(file: BinaryIO, member: Member) -> Stored:
    """Read one array's header and hold it against the member's size."""
    if not member.name.endswith(".npy"):
        raise ReadError(Text("{name!r:.80} in the archive is no array", name=member.name))
    name = member.name.removesuffix(".npy")
    head = _beginning(file, member)
    if head[:6] != MAGIC or len(head) < 12 or head[6] not in (1, 2, 3):
        raise ReadError(Text("{name!r:.80} does not begin as an array does", name=name))
    width = 2 if head[6] == 1 else 4
    length = int.from_bytes(head[8 : 8 + width], "little")
    text = head[8 + width : 8 + width + length]
    if length > LONGEST_HEADER or len(text) < length:
        raise ReadError(Text("the header of {name!r:.80} has {length:,} bytes, which cannot be", name=name, length=length))
    dtype, item, shape = _header(name, text)
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
    return Stored(dotted(name), dtype, shape, data)


def _beginning(file: BinaryIO, member: Member) -> bytes:
    """Return a member's first bytes, unpacked as far as a header can reach."""
    most = LONGEST_HEADER + 12
    file.seek(place(file, member))
    packed = file.read(min(member.packed, most))
    if member.method == 0:
        return packed
    try:
        return zlib.decompressobj(-15).decompress(packed, most)
    except zlib.error as error:
        raise ReadError(Text("{name!r:.80} is damaged: {error}", name=member.name, error=error)) from None


def _header(name: str, text: bytes) -> tuple[str, int, tuple[int, ...]]:
    """Return an array's type, the bytes of one element (0 if they are of any length), and its shape."""
    try:
        found = ast.literal_eval(text.decode("latin-1").strip())
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ReadError(Text("the header of {name!r:.80} is damaged", name=name)) from None
    if not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"} or type(found["fortran_order"]) is not bool:
        raise ReadError(Text("the header of {name!r:.80} is not a type, an order and a shape", name=name))
    kind = _TYPE.fullmatch(found["descr"]) if isinstance(found["descr"], str) else None
    if kind is None:
        raise ReadError(Text("{name!r:.80} is of type {found!r:.80}, a record or unknown", name=name, found=found["descr"]))
    shape = found["shape"]
    if not isinstance(shape, tuple) or len(shape) > DEEPEST or not all(type(size) is int and 0 <= size < LONGEST for size in shape):
        raise ReadError(Text("{name!r:.80} has the shape {shape!r:.80}, which cannot be", name=name, shape=shape))
    dtype, item = _type(name, kind[1], kind[2])
    return dtype, item, shape


def _type(name: str, kind: str, digits: str) -> tuple[str, int]:
    if kind == "O":
        return "OBJECT", 0
    size = int(digits) if 0 < len(digits) < 10 else 0
    if kind in "SU":
        return "STRING", size * (4 if kind == "U" else 1)
    known = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8, 16), "c": (8, 16), "V": (1, 2)}[kind]
    if size not in known:
        raise ReadError(Text("{name!r:.80} is of type {value!r}, which NumPy does not write", name=name, value=kind + digits))
    if kind == "b":
        return "BOOL", 1
    return (f"V{size}" if kind == "V" else f"{_NAMES[kind]}{8 * size}"), size
