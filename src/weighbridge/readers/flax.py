"""Flax's MessagePack (``flax_model.msgpack``): nested maps whose leaves are arrays, the values passed over.

Source: github.com/msgpack/msgpack, spec.md; google/flax, flax/serialization.py (extension types 1 to 3, chunked arrays)
"""

from __future__ import annotations

from math import prod
from struct import Struct
from typing import BinaryIO, NamedTuple

from weighbridge.core.messages import Text
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.listing import DEEPEST, LONGEST, LONGEST_PATH, Listing, StoredTensor
from weighbridge.readers.variables import OPTIMIZER_NOTE, STATISTICS_NOTE, TABLE_NOTE, optimizer_notes, role_of_variable

DEEPEST_MAP = 64
MOST_VALUES = 300_000
MOST_ARRAYS = 60_000

TYPES = {
    "float32": ("F32", 4),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "float64": ("F64", 8),
    "int8": ("I8", 1),
    "int16": ("I16", 2),
    "int32": ("I32", 4),
    "int64": ("I64", 8),
    "uint8": ("U8", 1),
    "uint16": ("U16", 2),
    "uint32": ("U32", 4),
    "uint64": ("U64", 8),
    "bool": ("BOOL", 1),
    "complex64": ("C64", 8),
    "complex128": ("C128", 16),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
}
"""NumPy's names of types: ours, and their bytes."""

CHUNKED = "__msgpack_chunked_array__"
APART = {"opt_state": OPTIMIZER_NOTE, "optimizer": OPTIMIZER_NOTE, "batch_stats": STATISTICS_NOTE}
"""Branches at the top that are no parameters."""

ARRAY, SCALAR = 1, 3
_U8, _U16, _U32 = Struct(">B"), Struct(">H"), Struct(">I")
_LENGTHS = {
    0xC4: _U8,
    0xC5: _U16,
    0xC6: _U32,
    0xC7: _U8,
    0xC8: _U16,
    0xC9: _U32,
    0xD9: _U8,
    0xDA: _U16,
    0xDB: _U32,
    0xDC: _U16,
    0xDD: _U32,
    0xDE: _U16,
    0xDF: _U32,
}
_NUMBERS = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}


class Token(NamedTuple):
    """One token: a ``map``, ``list``, ``text``, ``bytes``, ``array`` or ``value``.

    Attributes:
        kind: Which of these.
        length: Entries of a map or a list, bytes of the others; for a small whole number, itself.
        tag: The type of an extension.
    """

    kind: str
    length: int
    tag: int = 0


class _Array(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    size_bytes: int
    begin: int = -1


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as Flax's do: a map that is not empty, with a short text as its first key.

    >>> sniff(b"\\x82\\xa6params\\x81")
    True
    """
    start = {0xDE: 3, 0xDF: 5}.get(head[0], 1 if 0x81 <= head[0] <= 0x8F else 0) if head else 0
    if not start or len(head) < start + 2:
        return False
    first = head[start]
    length = first - 0xA0 if 0xA1 <= first <= 0xBF else 0
    key = head[start + 1 : start + 1 + length]
    return len(key) == length > 0 and key.isascii() and key.decode("ascii").replace("_", "a").replace("-", "a").isalnum()


def read(file: BinaryIO) -> Listing:
    """List the arrays of a Flax file, by the paths to them.

    Raises:
        ReadError: No MessagePack of nested maps, damaged, or an array whose bytes do not fit its shape.
    """
    return _listing(_arrays(file))


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return where each array's bytes begin, how many they are, and their type; those in chunks are left out."""
    found = _arrays(file)
    names = (tensor.name for tensor in _listing(found).tensors)
    return {name: (one.begin, one.size_bytes, one.dtype) for name, one in zip(names, found.values(), strict=True) if one.begin >= 0}


def _arrays(file: BinaryIO) -> dict[str, _Array]:
    """Return the arrays of a file by their paths."""
    cursor = Cursor(file, 4096)
    found: dict[str, _Array] = {}
    top = _token(cursor)
    if top.kind != "map":
        cursor.fail("it does not begin with a map", 0)
    _map(cursor, top.length, "", found, [MOST_VALUES])
    if cursor.at != cursor.size:
        cursor.fail(Text("{number:,} bytes follow the map", number=cursor.size - cursor.at))
    return found


def _listing(found: dict[str, _Array]) -> Listing:
    """Tell parameters from statistics of norms, the optimizer's arrays and tables, by their names and types."""
    tensors = []
    for path, array in found.items():
        top, _, rest = path.partition(".")
        name = rest if top == "params" and rest and rest not in found else path
        role, note = role_of_variable(path, array.shape, found), ""
        if top in APART:
            role, note = "buffer", APART[top]
        elif not array.dtype.startswith(("F", "BF", "C")):
            role, note = "buffer", TABLE_NOTE
        tensors.append(StoredTensor(name, array.dtype, array.shape, array.size_bytes, role, note=note))
    return Listing("flax", tuple(tensors), {}, optimizer_notes(tensors))


def _token(cursor: Cursor) -> Token:
    """Read what stands at this place, up to its content."""
    at = cursor.at
    first = cursor.take(1, "value")[0]
    if first < 0x80 or first >= 0xE0:
        return Token("value", first if first < 0x80 else first - 256)
    if first < 0xC0:
        base, kind = next((base, kind) for base, kind in ((0xA0, "text"), (0x90, "list"), (0x80, "map")) if first >= base)
        return Token(kind, first - base)
    if 0xD4 <= first <= 0xD8:
        return Token("array", 1 << (first - 0xD4), cursor.take(1)[0])
    if first in (0xC0, 0xC2, 0xC3):
        return Token("value", first == 0xC3)
    if first in _NUMBERS:
        raw = cursor.take(_NUMBERS[first], "number")
        return Token("value", int.from_bytes(raw, "big") if 0xCC <= first <= 0xCF else -1)
    if first not in _LENGTHS:
        cursor.fail("a byte that begins nothing in MessagePack", at)
    length = cursor.number(_LENGTHS[first], "length")
    if 0xC7 <= first <= 0xC9:
        return Token("array", length, cursor.take(1)[0])
    kind = "bytes" if first <= 0xC6 else "text" if first <= 0xDB else "list" if first <= 0xDD else "map"
    return Token(kind, length)


def _map(cursor: Cursor, length: int, path: str, found: dict[str, _Array], left: list[int], depth: int = 0) -> None:
    """Walk a map of *length* entries; what is an array goes into *found* under its path."""
    if len(path) > LONGEST_PATH:
        cursor.fail(
            Text("a name of {count:,} letters, the longest accepted is {longest_path:,}", count=len(path), longest_path=LONGEST_PATH)
        )
    if depth > DEEPEST_MAP:
        cursor.fail(Text("maps nested more than {deepest_map} deep", deepest_map=DEEPEST_MAP))
    keys: set[str] = set()
    for _ in range(length):
        at = cursor.at
        token = _token(cursor)
        if token.kind != "text":
            cursor.fail(Text("a key that is a {kind}, expected a text", kind=token.kind), at)
        key = cursor.text(token.length, "key", 1 << 12)
        if key in keys:
            cursor.fail(Text("the key {key!r:.80} occurs twice in one map", key=key), at)
        keys.add(key)
        if key == CHUNKED:
            _read_chunks(cursor, path, found, length)
            return
        _value(cursor, f"{path}.{key}" if path else key, found, left, depth)


def _value(cursor: Cursor, path: str, found: dict[str, _Array], left: list[int], depth: int) -> None:
    """Read one value of a MessagePack text and all below it; arrays go to *found* by their paths."""
    left[0] -= 1
    if left[0] < 0 or len(found) > MOST_ARRAYS:
        cursor.fail(Text("more than {most_values:,} values or {most_arrays:,} arrays", most_values=MOST_VALUES, most_arrays=MOST_ARRAYS))
    token = _token(cursor)
    if token.kind == "map":
        _map(cursor, token.length, path, found, left, depth + 1)
    elif token.kind == "list":
        if depth > DEEPEST_MAP:
            cursor.fail(Text("lists nested more than {deepest_map} deep", deepest_map=DEEPEST_MAP))
        for number in range(token.length):
            _value(cursor, f"{path}.{number}", found, left, depth + 1)
    elif token.kind == "array" and token.tag in (ARRAY, SCALAR):
        if path in found:
            cursor.fail(Text("two arrays are called {path!r:.80}", path=path))
        found[path] = _array(cursor, token.length, path)
    elif token.kind != "value":
        cursor.skip(token.length, token.kind)


def _array(cursor: Cursor, length: int, path: str) -> _Array:
    """Read an array's shape and type, and pass over its values."""
    end = cursor.at + length
    if end > cursor.size:
        cursor.fail(
            Text(
                "the file ends inside the array {path!r:.80}: {length:,} bytes wanted, {number:,} left",
                path=path,
                length=length,
                number=cursor.size - cursor.at,
            )
        )
    outer, sizes = _token(cursor), _token(cursor)
    if (outer.kind, outer.length) != ("list", 3) or sizes.kind != "list" or sizes.length > DEEPEST:
        cursor.fail(Text("the array {path!r:.80} is not a shape, a type and bytes", path=path))
    tokens = [_token(cursor) for _ in range(sizes.length)]
    shape = tuple(token.length for token in tokens)
    if not all(token.kind == "value" and 0 <= token.length < LONGEST for token in tokens):
        cursor.fail(Text("the array {path!r:.80} has a shape that cannot be", path=path))
    name = _token(cursor)
    dtype = cursor.text(name.length, "type", 32) if name.kind == "text" else ""
    if dtype not in TYPES:
        cursor.fail(Text("the array {path!r:.80} is of type {dtype!r}, which is not known", path=path, dtype=dtype))
    data = _token(cursor)
    due = prod(shape) * TYPES[dtype][1]
    if data.kind != "bytes" or data.length != due or cursor.at + due != end:
        cursor.fail(
            Text(
                "the array {path!r:.80} of shape {shape} and type {dtype} takes {due:,} bytes; it has {length:,}",
                path=path,
                shape=list(shape),
                dtype=dtype,
                due=due,
                length=data.length,
            )
        )
    begin = cursor.at
    cursor.skip(due, "array")
    return _Array(TYPES[dtype][0], shape, due, begin)


def _read_chunks(cursor: Cursor, path: str, found: dict[str, _Array], length: int) -> None:
    """Read an array of more than a gigabyte, which is written in flat pieces: its mark, its shape, its chunks."""
    at = cursor.at
    mark = _token(cursor)
    parts: dict[str, _Array] = {}
    sizes: list[Token] = []
    for key in ("shape", "chunks"):
        token = _token(cursor)
        inner = (token.kind == "text" and cursor.text(token.length, "key") == key) and _token(cursor)
        if not inner or inner.kind != "map" or mark.length != 1 or length != 3:
            cursor.fail(Text("the array {path!r:.80} in chunks is not a mark, a shape and chunks", path=path), at)
        for number in range(inner.length):
            name = _token(cursor)
            if name.kind != "text" or cursor.text(name.length, "key") != str(number):
                cursor.fail(Text("the array {path!r:.80} lacks its number {number}", path=path, number=number), at)
            item = _token(cursor)
            if key == "shape" and item.kind == "value" and 0 <= item.length < LONGEST and number < DEEPEST:
                sizes.append(item)
            elif key == "chunks" and item.kind == "array" and item.tag == ARRAY:
                parts[str(number)] = _array(cursor, item.length, path)
            else:
                cursor.fail(Text("the array {path!r:.80} in chunks is damaged", path=path), at)
    shape = tuple(size.length for size in sizes)
    types = {part.dtype for part in parts.values()}
    if len(types) != 1 or sum(prod(part.shape) for part in parts.values()) != prod(shape):
        cursor.fail(Text("the chunks of {path!r:.80} do not make up its shape {shape}", path=path, shape=list(shape)), at)
    found[path] = _Array(types.pop(), shape, sum(part.size_bytes for part in parts.values()))
