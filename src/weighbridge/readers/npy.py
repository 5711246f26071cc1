"""NumPy's ``.npy``, one array or several in a row, as Equinox writes the leaves of a model (``.eqx``, after a line of JSON or none).

An array is a magic number, a version, the length of a header, the header (a Python literal: type, order, shape), and its bytes. An array of
objects is a pickle instead of bytes, which is read, never run.

Source: numpy/lib/format.py (versions 1.0 to 3.0); equinox/_serialisation.py (``tree_serialise_leaves``, ``default_serialise_filter_spec``)
"""

from __future__ import annotations

import ast
import re
from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.listing import DEEPEST, LONGEST, Listing, StoredTensor
from weighbridge.readers.plain_pickle import read_at
from weighbridge.readers.variables import TABLE_NOTE

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 10_000
"""What NumPy itself reads at most (max_header_size)."""

MOST_ARRAYS = 25_000
LONGEST_LINE = 1 << 20
"""Bytes of the line of JSON that may stand before the arrays."""

_TYPE = re.compile(r"[<>|=]?([biufcSUVO])(\d*)")
_LONG = re.compile(r"([(, ]\d{1,20})L(?=[,)])")
"""A whole number as Python 2 writes it."""

_NAMES = {"b": "BOOL", "i": "I", "u": "U", "f": "F", "c": "C"}


def sniff(head: bytes) -> bool:
    """Tell whether a file begins with an array, or with a line of JSON and an array.

    >>> sniff(MAGIC + bytes(8)), sniff(b'{"width": 4}' + bytes([10]) + MAGIC)
    (True, True)
    """
    return head.startswith(MAGIC) or (head[:1] == b"{" and head.partition(b"\n")[2].startswith(MAGIC))


def read(file: BinaryIO) -> Listing:
    """List the arrays of a file, one after the other; nothing in it tells their names.

    Raises:
        ReadError: It is damaged or cut off, or holds what is no array.
    """
    cursor = Cursor(file)
    if cursor.take(min(1, cursor.size)) == b"{":
        _past_line(cursor)
    else:
        cursor.at = 0
    tensors: list[StoredTensor] = []
    while cursor.at < cursor.size:
        if len(tensors) == MOST_ARRAYS:
            cursor.fail(Text("more than {most_arrays:,} arrays", most_arrays=MOST_ARRAYS))
        name = f"array_{len(tensors)}"
        begin = cursor.take(8, "array")
        if begin[:6] != MAGIC or begin[6] not in (1, 2, 3):
            cursor.fail("what stands here does not begin as an array does", cursor.at - 8)
        length = int.from_bytes(cursor.take(2 if begin[6] == 1 else 4), "little")
        dtype, item, shape = header(name, cursor.take(length, "header") if length <= LONGEST_HEADER else b"")
        if dtype == "OBJECT" and not tensors:
            return read_at(file, cursor.at)
        count = prod(shape)
        if not item and count:
            cursor.fail(Text("{name} holds Python objects among other arrays", name=name))
        size = count * item
        cursor.skip(size, Text("array {name} of shape {shape}", name=name, shape=list(shape)))
        learned = dtype.startswith(("F", "V", "C")) and not (dtype == "F64" and not shape)
        tensors.append(StoredTensor(name, dtype, shape, size, None if learned else "buffer", note="" if learned else TABLE_NOTE))
    if len(tensors) == 1:
        tensors = [tensors[0]._replace(name="array", role=tensors[0].role or "weight")]
    note = Text("{count:,} arrays in a row, whose names are not in the file", count=len(tensors))
    return Listing("npy", tuple(tensors), notes=(note,) if len(tensors) > 1 else ())


def _past_line(cursor: Cursor) -> None:
    """Pass over the line of JSON in which a program keeps how to build its model."""
    cursor.at = 0
    while cursor.at < min(cursor.size, LONGEST_LINE):
        piece = cursor.take(min(1 << 12, cursor.size - cursor.at), "line")
        if b"\n" in piece:
            cursor.at += piece.index(b"\n") + 1 - len(piece)
            return
    cursor.fail("no arrays follow the first line", 0)


def header(name: str, text: bytes) -> tuple[str, int, tuple[int, ...]]:
    """Return an array's type, the bytes of one element (0 if they are of any length), and its shape.

    >>> header("w", b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }")
    ('F32', 4, (3, 4))
    >>> header("w", b"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4L), }")  # as NumPy under Python 2 wrote it
    ('F32', 4, (3, 4))
    """
    try:
        found = ast.literal_eval(_LONG.sub(r"\1", text.decode("latin-1").strip()))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        raise ReadError(Text("the header of {name!r:.80} is damaged", name=name)) from None
    if not isinstance(found, dict) or set(found) != {"descr", "fortran_order", "shape"} or type(found["fortran_order"]) is not bool:
        raise ReadError(Text("the header of {name!r:.80} is not a type, an order and a shape", name=name))
    kind = _TYPE.fullmatch(found["descr"]) if isinstance(found["descr"], str) else None
    if kind is None:
        raise ReadError(Text("{name!r:.80} is of type {found!r:.80}, a record or unknown", name=name, found=found["descr"]))
    shape = found["shape"]
    if not isinstance(shape, tuple) or len(shape) > DEEPEST or not all(type(size) is int and 0 <= size < LONGEST for size in shape):
        raise ReadError(Text("{name!r:.80} has the shape {shape!r:.80}, which is impossible", name=name, shape=shape))
    dtype, item = _type(name, kind[1], kind[2])
    return dtype, item, shape


def _type(name: str, kind: str, digits: str) -> tuple[str, int]:
    """Return a NumPy type under the names of safetensors, and the bytes of an element."""
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
