"""CTranslate2's ``model.bin``: a specification's name, then every variable with its name, shape, type and bytes, which are passed over.

A version (4 bytes), the name of the specification, its revision, the number of variables; each variable is a text (2 bytes of length, with
its closing zero), a rank (1 byte), sizes (4 bytes each), a type (1 byte), a length (4 bytes), and bytes. Aliases follow: a variable whose values are
equal to another's is stored once.

Source: OpenNMT/CTranslate2, python/ctranslate2/specs/model_spec.py (``_serialize``); include/ctranslate2/types.h (``DataType``)
"""

from __future__ import annotations

import re
from collections import Counter
from math import prod
from struct import Struct
from typing import BinaryIO

from weighbridge.core.messages import Text
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.listing import MOST_TENSORS, Listing, StoredTensor
from weighbridge.readers.variables import TABLE_NOTE

VERSIONS = (4, 5, 6)
"""Of the binary format; the table of variables is the same in all."""

TYPES = (("F32", 4), ("I8", 1), ("I16", 2), ("I32", 4), ("F16", 2), ("BF16", 2))
"""``DataType``, by number: our name, and its bytes."""

SETTING = "a setting, no weight"
SCALE = "scale of packed weights"
DEEPEST = 8

_BYTE, _SHORT, _WORD = Struct("<B"), Struct("<H"), Struct("<I")
_START = re.compile(rb"[\x01-\x0f]\0\0\0[\x05-\x7f]\0[A-Za-z0-9]+Spec\0", re.S)
_SCALES = re.compile(r".*_(scale|zero)")


def sniff(head: bytes) -> bool:
    """Tell whether a file begins with a version and the name of a specification.

    >>> sniff(bytes([6, 0, 0, 0, 16, 0]) + b"TransformerSpec" + bytes(1))
    True
    """
    return _START.match(head) is not None


def read(file: BinaryIO) -> Listing:
    """List the variables of a model.

    Raises:
        ReadError: Damaged, cut off, of another version, or a variable whose bytes do not fit its shape.
    """
    cursor = Cursor(file)
    version = cursor.number(_WORD, "version")
    if version not in VERSIONS:
        cursor.fail(
            Text(
                "version {version} of CTranslate2's models; 4 to 6 are read: convert it again, or weigh the one it was made from",
                version=version,
            ),
            0,
        )
    spec, revision = _text(cursor), cursor.number(_WORD, "revision")
    count = cursor.number(_WORD, "number of variables")
    if count > MOST_TENSORS:
        cursor.fail(Text("{count:,} variables; at most {most_tensors:,} are accepted", count=count, most_tensors=MOST_TENSORS))
    found: dict[str, StoredTensor] = {}
    for _ in range(count):
        _keep(found, _variable(cursor), cursor)
    for _ in range(cursor.number(_WORD, "number of aliases")):
        name, owner = _text(cursor), _text(cursor)
        if owner not in found or len(found) >= MOST_TENSORS:
            cursor.fail(Text("{name!r:.80} is called equal to {owner!r:.80}, which is not in the file", name=name, owner=owner))
        _keep(found, found[owner]._replace(name=name, tied_to=owner, size_bytes=0), cursor)
    if cursor.at != cursor.size:
        cursor.fail(Text("{number:,} bytes follow the last variable", number=cursor.size - cursor.at))
    tensors = tuple(_classify(tensor, found) for tensor in found.values())
    if len({tensor.name for tensor in tensors}) < len(tensors):  # names that differ by a dot in place of a slash are written alike
        name = next(name for name, many in Counter(tensor.name for tensor in tensors).items() if many > 1)
        cursor.fail(Text("{name!r:.80} occurs twice", name=name))
    equal = [tensor for tensor in tensors if tensor.tied_to and tensor.role != "buffer"]
    notes = [Text("{count:,} arrays are equal to others, stored once and counted once", count=len(equal))] if equal else []
    return Listing("ctranslate2", tensors, {"spec": spec, "revision": revision}, tuple(notes))


def _text(cursor: Cursor) -> str:
    return cursor.text(cursor.number(_SHORT, "length of a name"), "name").rstrip("\0")


def _keep(found: dict[str, StoredTensor], tensor: StoredTensor, cursor: Cursor) -> None:
    if tensor.name in found:
        cursor.fail(Text("{name!r:.80} occurs twice", name=tensor.name))
    found[tensor.name] = tensor


def _variable(cursor: Cursor) -> StoredTensor:
    """Read the head of a variable and pass over its bytes."""
    name, rank = _text(cursor), cursor.number(_BYTE, "rank")
    if rank > DEEPEST:
        cursor.fail(Text("{name!r:.80} has {rank} dimensions; at most {deepest} are accepted", name=name, rank=rank, deepest=DEEPEST))
    shape = tuple(cursor.number(_WORD, "size") for _ in range(rank))
    kind, length = cursor.number(_BYTE, "type"), cursor.number(_WORD, "length")
    if kind >= len(TYPES):
        cursor.fail(Text("{name!r:.80} is of type {kind}, which the format does not have", name=name, kind=kind))
    dtype, item = TYPES[kind]
    if length != prod(shape) * item:
        cursor.fail(
            Text(
                "{name!r:.80} of shape {shape} takes {number:,} bytes; the file gives it {length:,}",
                name=name,
                shape=list(shape),
                number=prod(shape) * item,
                length=length,
            )
        )
    cursor.skip(length, "variable")
    return StoredTensor(name, dtype, shape, length)


def _classify(tensor: StoredTensor, found: dict[str, StoredTensor]) -> StoredTensor:
    """Tell settings and scales from weights, and write names with dots."""
    role, note = None, ""
    if _SCALES.fullmatch(tensor.name):
        role, note = "buffer", SCALE
    elif f"{tensor.name}_scale" in found:
        role = "embedding" if "embeddings" in tensor.name else "weight"
    elif not tensor.shape:
        role, note = "buffer", SETTING
    elif not tensor.dtype.startswith(("F", "BF")):
        role, note = "buffer", TABLE_NOTE
    tied = tensor.tied_to.replace("/", ".") if tensor.tied_to else None
    return tensor._replace(name=tensor.name.replace("/", "."), role=role, note=note, tied_to=tied)
