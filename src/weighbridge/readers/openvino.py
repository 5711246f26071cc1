"""OpenVINO's intermediate representation: ``model.xml``, whose constants say their type, shape and place in ``model.bin``.

The XML is read by expat, without document types, so nothing in it expands. OpenVINO stores equal constants once: they are ties here.

Source: openvino, docs "OpenVINO IR format" (``Const``: ``element_type``, ``shape``, ``offset``, ``size``); src/core/src/type/element_type.cpp;
nncf, weight compression (``zero_point``, ``scale``)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import DEEPEST, LONGEST, LONGEST_PATH, MOST_TENSORS, Listing, StoredTensor, unique_names
from weighbridge.readers.text import make_printable
from weighbridge.readers.variables import TABLE_NOTE

LARGEST = 128_000_000
CHUNK = 1 << 18
LARGEST_TAG = 1 << 20
"""Bytes of a tag with its attributes."""

DEEPEST_ELEMENT = 1_000
MOST_ELEMENTS = 2_000_000
SCALE = "scale of packed weights"

TYPES = {
    "f64": ("F64", 64),
    "f32": ("F32", 32),
    "f16": ("F16", 16),
    "bf16": ("BF16", 16),
    "f8e4m3": ("F8_E4M3", 8),
    "f8e5m2": ("F8_E5M2", 8),
    "f8e8m0": ("F8_E8M0", 8),
    "f4e2m1": ("F4", 4),
    "nf4": ("NF4", 4),
    "i64": ("I64", 64),
    "i32": ("I32", 32),
    "i16": ("I16", 16),
    "i8": ("I8", 8),
    "i4": ("I4", 4),
    "u64": ("U64", 64),
    "u32": ("U32", 32),
    "u16": ("U16", 16),
    "u8": ("U8", 8),
    "u6": ("U6", 6),
    "u4": ("U4", 4),
    "u3": ("U3", 3),
    "u2": ("U2", 2),
    "u1": ("U1", 1),
    "boolean": ("BOOL", 8),
    "string": ("STRING", 0),
}
"""Names of element types: ours, and their bits."""

PACKED = ("I8", "U8", "I4", "U4", "NF4", "F4", "U6", "U3", "U2")
"""Types in which compressed weights are kept."""

_START = re.compile(rb"\s*(<\?xml[^>]*\?>)?\s*<net[\s>]")
_SCALES = re.compile(r".*(zero_point|scale)(_\d+)?(/.*)?")


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as a network of OpenVINO does.

    >>> sniff(b'<?xml version="1.0"?><net name="Model0" version="11">')
    True
    """
    return _START.match(head) is not None


def read(file: BinaryIO) -> Listing:
    """List the constants of a network: its weights, and the tables that its operators take.

    Raises:
        ReadError: Damaged XML, or a constant whose size does not fit its shape.
    """
    size = file.seek(0, 2)
    if size > LARGEST:
        raise ReadError(Text("a network of {size:,} bytes; at most {largest:,} are accepted", size=size, largest=LARGEST))
    file.seek(0)
    constants = _Constants()
    fed = 0
    try:
        while piece := file.read(CHUNK):
            constants.parser.Parse(piece, False)
            fed += len(piece)
            if fed - max(constants.parser.CurrentByteIndex, 0) > LARGEST_TAG + CHUNK:
                raise ReadError(Text("a tag of more than {most:,} bytes", most=LARGEST_TAG))
        constants.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise ReadError(Text("the XML is damaged: {error!r}", error=str(error)), offset=constants.parser.ErrorByteIndex) from None
    except (LookupError, ValueError) as error:  # the encoding that it states is none, or none of single bytes
        if isinstance(error, ReadError):
            raise
        raise ReadError(Text("the XML is damaged: {error!r}", error=str(error))) from None
    if not constants.found:
        raise ReadError("the network holds no constants")
    names = unique_names([tensor.name for _, tensor in constants.found])
    owners: dict[tuple[int, int], str] = {}
    tensors = []
    for name, (place, tensor) in zip(names, constants.found, strict=True):
        owner = owners.setdefault(place, name) if tensor.size_bytes else name
        tied = owner if owner != name else None
        tensors.append(tensor._replace(name=name, tied_to=tied, size_bytes=0 if tied else tensor.size_bytes))
    end = max(begin + length for (begin, length), _ in constants.found)
    equal = [tensor for tensor in tensors if tensor.tied_to and tensor.role != "buffer"]
    notes = [Text("{count:,} constants are equal to others, stored once and counted once", count=len(equal))] if equal else []
    return Listing("openvino", tuple(tensors), {"end": end}, tuple(notes))


def check_values(path: Path, listing: Listing) -> None:
    """Hold the file of values beside a network against what its constants say.

    Raises:
        ReadError: It is missing or too short.
    """
    values, end = path.with_suffix(".bin"), listing.metadata["end"]
    size = values.stat().st_size if values.is_file() else -1
    if size < 0:
        raise ReadError(Text("{name} is missing, which holds part of the tensors", name=make_printable(values.name)), path=str(path))
    if isinstance(end, int) and size < end:
        raise ReadError(
            Text("{name} has {size:,} bytes, its chunks reach to {end:,}", name=make_printable(values.name), size=size, end=end),
            path=str(path),
        )


class _Constants:
    """What is kept while the XML goes by: the constants, and the names of the layers around them."""

    def __init__(self) -> None:
        self.found: list[tuple[tuple[int, int], StoredTensor]] = []
        self.layers: list[tuple[str, bool]] = []
        self.left, self.depth = MOST_ELEMENTS, 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.begin
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse

    def begin(self, element: str, attributes: Mapping[str, str]) -> None:
        """Take an element's begin: a layer, or the data of a constant."""
        self.left -= 1
        self.depth += 1
        if self.left < 0 or self.depth > DEEPEST_ELEMENT:
            raise ReadError(Text("more than {most:,} elements, or nested too deep", most=MOST_ELEMENTS))
        if element == "layer":
            self.layers.append((attributes.get("name", ""), attributes.get("type") == "Const"))
        elif element == "data" and self.layers and self.layers[-1][1]:
            name = ".".join(layer for layer, _ in self.layers)
            if len(self.found) >= MOST_TENSORS or len(name) > LONGEST_PATH:
                raise ReadError(Text("more than {most_tensors:,} constants, or a name without end", most_tensors=MOST_TENSORS))
            self.found.append(_constant(name, attributes))

    def end(self, element: str) -> None:
        """Take an element's end."""
        self.depth -= 1
        if element == "layer" and self.layers:
            self.layers.pop()

    def refuse(self, *_: Any) -> None:
        """Refuse a document type: it may hold what expands without end, and no network has one."""
        raise ReadError("the XML declares a document type, which no network of OpenVINO does")


def _constant(name: str, stated: Mapping[str, str]) -> tuple[tuple[int, int], StoredTensor]:
    """Return a constant, and where its bytes lie."""
    kind = stated.get("element_type", "").lower()
    if kind not in TYPES:
        raise ReadError(Text("{name} is of the type {kind!r:.40}, which is not known", name=make_printable(name), kind=kind))
    dtype, bits = TYPES[kind]
    shape = tuple(_number(name, size) for size in stated.get("shape", "").replace(" ", "").split(",") if size)
    begin, length = _number(name, stated.get("offset", "")), _number(name, stated.get("size", ""))
    due = -(-prod(shape) * bits // 8)
    if len(shape) > DEEPEST or (bits and due != length):
        raise ReadError(
            Text(
                "{name} of shape {shape!r:.80} takes {due:,} bytes; it has {length:,}",
                name=make_printable(name),
                shape=list(shape),
                due=due,
                length=length,
            )
        )
    learned = prod(shape) > 1 and not _SCALES.fullmatch(name) and (dtype.startswith(("F", "BF")) or (dtype in PACKED and len(shape) > 1))
    role = ("weight" if dtype in PACKED else None) if learned else "buffer"
    note = "" if learned else SCALE if _SCALES.fullmatch(name) and prod(shape) > 1 else TABLE_NOTE
    return (begin, length), StoredTensor(name, dtype, shape, length, role, note=note)


def _number(name: str, word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 20) or int(word) >= LONGEST:
        raise ReadError(Text("{name} has {word!r:.40} where a whole number is due", name=make_printable(name), word=word))
    return int(word)
