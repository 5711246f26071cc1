"""The safetensors format, read strictly: an 8-byte length, a JSON header, and the tensors without a gap.

Source: huggingface/safetensors, README.md#format and safetensors/src/tensor.rs (0.8.0), whose checks are all here.
Only the header is read. The format says everything twice (offsets against shape and type, the last
offset against the file's size), and both are held against each other, so that damage shows.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any, BinaryIO, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text, mark
from weighbridge.readers.listing import DEEPEST, LONGEST, MOST_TENSORS, Listing, StoredTensor
from weighbridge.readers.text import make_printable, parse_object, shorten_texts

LARGEST_HEADER = 100_000_000
"""Bytes: ``MAX_HEADER_SIZE`` in tensor.rs."""

MOST_VALUES = 500_000
"""Commas and brackets that a header may have beside those of its tensors. Counted before parsing, whose time and memory grow with them."""

LARGEST_TEXT = 16_000_000
"""Bytes of a header that is parsed as it is. From a longer one, long strings are cut out first; if the rest is still longer than this it must be
ASCII, since Python takes four times the memory for other text."""

MOST_ESCAPES = 8_000_000
"""Backslashes that a long header may have: the time of finding where its strings end grows with them."""

LARGEST_TABLE = 32_000_000
"""Bytes that may remain of a long header without its long strings: :data:`MOST_TENSORS` tensors need no more."""

BITS = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}
"""Bits per element of each type: ``Dtype::bitsize`` in tensor.rs."""


class Entry(NamedTuple):
    """One tensor as the JSON header describes it, not yet checked."""

    dtype: object
    shape: object
    offsets: object


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like safetensors: a length the format allows, then a brace.

    >>> sniff(bytes([2, 0, 0, 0, 0, 0, 0, 0]) + b"{}")
    True
    """
    return len(head) > 8 and head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= LARGEST_HEADER


def read(file: BinaryIO) -> Listing:
    """List the tensors of a safetensors file by its header; the tensors themselves are not read.

    Raises:
        ReadError: The header is damaged, or does not agree with itself or with the size of the file.

    >>> from io import BytesIO
    >>> header = b'{"w":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'
    >>> read(BytesIO(len(header).to_bytes(8, "little") + header + bytes(48))).tensors[0].shape
    (3, 4)
    """
    size = file.seek(0, 2)
    file.seek(0)
    start = file.read(8)
    if len(start) < 8:
        raise ReadError(
            Text("{count} bytes are too short for safetensors, which begins with a length of 8 bytes", count=len(start)), offset=0
        )
    length = int.from_bytes(start, "little")
    if length > LARGEST_HEADER:
        raise ReadError(
            Text(
                "a header of {length:,} bytes is above the format's limit of {largest_header:,}",
                length=length,
                largest_header=LARGEST_HEADER,
            ),
            offset=0,
        )
    if length > size - 8:
        raise ReadError(
            Text(
                "the header should have {length:,} bytes, the file has {value:,} after the length; it is cut off",
                length=length,
                value=size - 8,
            ),
            offset=8,
        )
    return parse(file.read(length), size - 8 - length)


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return where each tensor's bytes begin, how many they are, and their type.

    >>> from io import BytesIO
    >>> header = b'{"w":{"dtype":"F32","shape":[3,4],"data_offsets":[0,48]}}'
    >>> extents(BytesIO(len(header).to_bytes(8, "little") + header + bytes(48)))
    {'w': (65, 48, 'F32')}
    """
    listing = read(file)
    file.seek(0)
    at = 8 + int.from_bytes(file.read(8), "little")
    found = {}
    for tensor in listing.tensors:  # in the order of their bytes, without a gap: parse has checked it
        found[tensor.name] = (at, tensor.size_bytes, tensor.dtype)
        at += tensor.size_bytes
    return found


def parse(header: bytes, room: int) -> Listing:
    """List the tensors that a header names, given the bytes that follow it.

    Args:
        header: The JSON text.
        room: Bytes of the file after the header.

    Raises:
        ReadError: The header is damaged, or its tensors do not fill these bytes exactly.
    """
    length, most = len(header), _most_values(header)
    if length > LARGEST_TEXT:
        header = _without_long_texts(header, most)
    usual = _read_usual_form(header)
    if usual is None:
        # Errors name the byte, unless some of the text was cut out.
        base = 8 if len(header) == length else None
        entries = parse_object(header, "the header", base=base, entry=_entry, most=most)
        metadata = _metadata(entries.pop("__metadata__", None))
        placed = sorted(_check_entry(name, entry) for name, entry in entries.items())
    else:
        placed, metadata = usual
    _check_places(placed, room, 8 + length)
    # Not in the model's order: who writes such a file sorts its tensors.
    return Listing("safetensors", tuple(tensor for _, _, tensor in placed), metadata, ordered=False)


def _most_values(header: bytes) -> int:
    """Return how many commas and brackets a header of so many tensors may have; refuse one that has more, before it is parsed."""
    if not header.startswith(b"{"):
        raise ReadError("the header must begin with a brace", offset=8)
    tensors = header.count(b'"data_offsets"')
    if tensors > MOST_TENSORS:
        raise ReadError(Text("the header names more than {most_tensors:,} tensors", most_tensors=MOST_TENSORS), offset=8)
    most = MOST_VALUES + 16 * tensors
    if sum(map(header.count, (b",", b"[", b"{"))) > most:
        raise ReadError(Text("a header of {length:,} bytes that says almost nothing about tensors", length=len(header)), offset=8)
    return most


def _check_places(placed: list[tuple[int, int, StoredTensor]], room: int, start: int) -> None:
    """Refuse tensors that overlap or leave a hole, and a file that is cut off or holds more; *start* is where its tensors begin."""
    end = 0
    for begin, stop, tensor in placed:
        if begin != end:
            kind = "overlap" if begin < end else "leave a hole"
            raise ReadError(
                Text(
                    "{name}: its bytes begin at {begin:,} where {end:,} is due; tensors must not {kind}",
                    name=tensor.name,
                    begin=begin,
                    end=end,
                    kind=kind,
                )
            )
        end = stop
    if end != room:
        what = mark("is cut off") if room < end else mark("has bytes that no tensor owns")
        raise ReadError(
            Text("the tensors take {end:,} bytes and {room:,} follow the header; the file {what}", end=end, room=room, what=what),
            offset=start,
        )


_NATURAL = r"(?:0|[1-9]\d{0,17})"
_TENSOR = re.compile(
    rf'"([^"\\\x00-\x1f\ud800-\udfff]+)": ?\{{"dtype": ?"(\w+)", ?"shape": ?\[((?:{_NATURAL}(?:, ?{_NATURAL})*)?)\], ?'
    rf'"data_offsets": ?\[({_NATURAL}), ?({_NATURAL})\]\}}',
    re.A,
)
"""One tensor as the safetensors library and ``json.dumps`` write it: keys in this order, no escapes, no blanks or single ones."""
_BEGIN = re.compile(r'\{(?:"__metadata__": ?(\{[^{}]*\}), ?)?')


def _read_usual_form(header: bytes) -> tuple[list[tuple[int, int, StoredTensor]], dict[str, str]] | None:
    """Return begin, end and tensor for each entry of a header in the usual form, and the metadata, several times as fast as a JSON parser.

    None for a header in any other form, or with any fault: the slow way then says what is wrong.
    """
    try:
        begin, *pieces = _TENSOR.split(header.decode())  # six for each tensor: its five groups, and what stands between it and the next
    except UnicodeDecodeError:
        return None
    opening, names = _BEGIN.fullmatch(begin), pieces[::6]
    if opening is None or not pieces or pieces[-1].rstrip(" ") != "}" or not {", ", ","}.issuperset(pieces[5:-1:6]):
        return None
    if len(set(names)) != len(names) or "__metadata__" in names:
        return None
    placed = []
    known: dict[tuple[str, str], tuple[tuple[int, ...], int]] = {}  # shapes, and their bits: of a hundred thousand tensors few differ
    for name, dtype, sizes, first, last in zip(names, pieces[1::6], pieces[2::6], pieces[3::6], pieces[4::6], strict=True):
        found = known.get((sizes, dtype))
        if found is None:
            shape = tuple(map(int, sizes.split(","))) if sizes else ()
            if dtype not in BITS or len(shape) > DEEPEST:
                return None
            found = known[sizes, dtype] = shape, prod(shape) * BITS[dtype]
        start, end = int(first), int(last)
        if found[1] != 8 * (end - start):
            return None
        # The fields of a StoredTensor, in order; what the format does not say is None.
        tensor = (name, dtype, found[0], end - start, None, None, None, "")
        placed.append((start, end, _make(StoredTensor, tensor)))
    placed.sort()
    return placed, _metadata(parse_object((opening[1] or "{}").encode(), "the header", base=None))


_make = tuple.__new__
"""What a named tuple's constructor ends in: a large file has a hundred thousand tensors."""


def _without_long_texts(header: bytes, most: int) -> bytes:
    """Return a long header without its long strings; refuse one that would still be too much to parse."""
    length, escapes = len(header), header.count(b"\\")
    if escapes <= MOST_ESCAPES and header.count(b'"') - header.count(b'\\"') <= 4 * most:
        header = shorten_texts(header, "the header", 8)
        if len(header) <= LARGEST_TEXT or (len(header) <= LARGEST_TABLE and header.isascii()):
            return header
    raise ReadError(Text("a header of {length:,} bytes that says almost nothing about tensors", length=length), offset=8)


def _entry(values: dict[str, Any]) -> dict[str, Any] | Entry:
    """Turn a JSON object that describes a tensor into an :class:`Entry`, which takes less memory; leave others as they are."""
    if "data_offsets" in values and "dtype" in values and "shape" in values:
        return Entry(values["dtype"], _tuple(values["shape"]), _tuple(values["data_offsets"]))
    return values


def _tuple(value: object) -> object:
    """Return a list as a tuple, which takes less memory, and None for anything else."""
    return tuple(value) if type(value) is list else None


def _metadata(found: object) -> dict[str, str]:
    """Check and return the metadata; MLX writes ``null`` where it has none, which the safetensors library accepts."""
    if found is None:
        return {}
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise ReadError("__metadata__ must be an object whose values are strings")
    return found


def _check_entry(name: str, entry: object) -> tuple[int, int, StoredTensor]:
    """Return begin, end and tensor of one entry, after checking its dtype, its shape, and that these need as many bytes as there are."""
    if not isinstance(entry, Entry):
        raise ReadError(Text("{shown}: expected an object with dtype, shape and data_offsets", shown=make_printable(name)))
    if not isinstance(entry.dtype, str) or entry.dtype not in BITS:
        raise ReadError(Text("{shown}: the format has no dtype {dtype!r:.40}", shown=make_printable(name), dtype=entry.dtype))
    shape = _naturals(name, "shape", entry.shape)
    offsets = _naturals(name, "data_offsets", entry.offsets)
    if len(shape) > DEEPEST:
        raise ReadError(Text("{shown}: a tensor of {count:,} dimensions", shown=make_printable(name), count=len(shape)))
    if len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ReadError(
            Text(
                "{shown}: data_offsets must be a begin and an end, found {offsets!r:.60}", shown=make_printable(name), offsets=list(offsets)
            )
        )
    bits = prod(shape) * BITS[entry.dtype]
    begin, end = offsets
    if bits != 8 * (end - begin):
        need = f"{bits // 8:,} bytes" if bits % 8 == 0 else f"{bits:,} bits, which are no whole bytes"
        raise ReadError(
            Text(
                "{shown}: {dtype} {shape!r:.80} takes {need}; its offsets hold {value:,} bytes",
                shown=make_printable(name),
                dtype=entry.dtype,
                shape=list(shape),
                need=need,
                value=end - begin,
            )
        )
    if not name.isascii() and any("\ud800" <= letter <= "\udfff" for letter in name):
        raise ReadError(Text("{shown}: the name is not text", shown=make_printable(name)))
    return begin, end, StoredTensor(name, entry.dtype, shape, end - begin)


def _naturals(name: str, what: str, values: object) -> tuple[int, ...]:
    """Return *values* if they are integers that fit 63 bits."""
    if not isinstance(values, tuple) or not all(type(value) is int and 0 <= value < LONGEST for value in values):
        raise ReadError(Text("{shown}: {what} must be a list of whole numbers from 0 up to 2^63", shown=make_printable(name), what=what))
    return values
