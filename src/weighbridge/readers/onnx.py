"""ONNX: the protocol buffer is walked, never loaded; the numbers in it are passed over.

Initializers and Constant nodes are listed, those of sub-graphs and functions too. The graph tells what
they are: what a quantized operator takes as scale or zero point is no parameter, nor are whole numbers
that no quantized operator takes as weights (shapes, axes, indices). Every input of every node must come from
somewhere, so that an initializer that is lost or renamed shows.

Source: onnx 1.23, onnx/onnx.proto and docs/ExternalData.md; com.microsoft operators: onnxruntime, docs/ContribOperators.md
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import BinaryIO, NamedTuple

from weighbridge.core.messages import Text, mark
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.listing import DEEPEST, LONGEST, LONGEST_PATH, MOST_TENSORS, Listing, StoredTensor
from weighbridge.readers.onnx_roles import MODULES, Use, module_of, with_role
from weighbridge.readers.protobuf import Budget, Field, fields, numbers, require_bytes, text

TYPES = {
    1: ("F32", 32),
    2: ("U8", 8),
    3: ("I8", 8),
    4: ("U16", 16),
    5: ("I16", 16),
    6: ("I32", 32),
    7: ("I64", 64),
    8: ("STRING", 0),
    9: ("BOOL", 8),
    10: ("F16", 16),
    11: ("F64", 64),
    12: ("U32", 32),
    13: ("U64", 64),
    14: ("C64", 64),
    15: ("C128", 128),
    16: ("BF16", 16),
    17: ("F8_E4M3", 8),
    18: ("F8_E4M3FNUZ", 8),
    19: ("F8_E5M2", 8),
    20: ("F8_E5M2FNUZ", 8),
    21: ("U4", 4),
    22: ("I4", 4),
    23: ("F4", 4),
    24: ("F8_E8M0", 8),
    25: ("U2", 2),
    26: ("I2", 2),
}
"""Number of each element type, TensorProto.DataType: our name, and its bits in raw data."""

MODEL = frozenset((*range(1, 9), 14, 20, 25, 26))
GRAPH = frozenset((1, 2, 5, *range(10, 17)))
NODE = frozenset(range(1, 11))
ATTRIBUTE = frozenset((*range(1, 12), 13, 14, 15, 20, 21, 22, 23))
TENSOR = frozenset((*range(1, 15), 16))
FUNCTION = frozenset((1, *range(4, 15)))
DEEPEST_GRAPH = 32
NUMBERED = "onnx::"
"""How names begin that torch's exporter made up."""


class Node(NamedTuple):
    """An operator: what it is, what it takes and gives, its whole-number attributes, and its own name."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    numbers: dict[str, int]
    name: str = ""


class Scope:
    """What a graph defines; names are looked up in the enclosing graphs too."""

    def __init__(self, prefix: str, outer: Scope | None) -> None:
        self.prefix = prefix
        self.outer = outer
        self.depth: int = outer.depth + 1 if outer else 0
        self.tensors: dict[str, StoredTensor] = {}
        self.made: set[str] = set()
        self.nodes: list[tuple[Node, int]] = []
        self.taken: list[tuple[str, int]] = []
        self.inner: list[Scope] = []


class _Walk(NamedTuple):
    """The state of a walk: position, bytes left to read, shared data, and the owner of each matrix."""

    cursor: Cursor
    budget: Budget
    places: dict[tuple[str, int, int], str]
    files: set[str]
    modules: dict[str, str]


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as ONNX does: a version from 3 up, then the producer, another text, or the graph.

    >>> sniff(b"\\x08\\x08\\x12\\x07pytorch")
    True
    """
    return len(head) > 3 and head[0] == 8 and 3 <= head[1] < 64 and head[2] in (0x12, 0x1A, 0x22, 0x28, 0x32, 0x3A, 0x42, 0x72)


def read(file: BinaryIO) -> Listing:
    """List the initializers and constants of an ONNX model, external data included, which need not be there.

    Raises:
        ReadError: Not ONNX, damaged, or a node takes what nothing gives.
    """
    cursor = Cursor(file, 4096)
    walk = _Walk(cursor, Budget(), {}, set(), {})
    scopes: list[Scope] = []
    metadata: dict[str, object] = {}
    for field in fields(cursor, cursor.size, walk.budget, MODEL):
        if field.number == 7:
            if any(not scope.prefix for scope in scopes):
                cursor.fail("a second graph", field.start)
            scopes.append(_graph(walk, field, Scope("", None)))
        elif field.number == 25:
            scopes.append(_function(walk, field, len(scopes)))
        elif field.number == 20:
            cursor.fail("the model carries its training (training_info), which is not read; export it for inference", field.start)
        elif field.number == 1:
            metadata["ir_version"] = field.value
        elif field.number in (2, 3):
            metadata["producer_name" if field.number == 2 else "producer_version"] = text(cursor, field, "producer")
    if not any(not scope.prefix for scope in scopes):
        cursor.fail("it holds no graph", cursor.size)
    tensors = _list_tensors(walk, scopes)
    if walk.modules:
        metadata[MODULES] = walk.modules
    if walk.files:
        metadata["external_data"] = tuple(sorted(walk.files))
    return Listing("onnx", tuple(tensors), metadata, tuple(_notes(walk, tensors)))


def _notes(walk: _Walk, tensors: list[StoredTensor]) -> Iterator[str]:
    if walk.files:
        yield Text("the weights lie in {files}, which is not opened", files=", ".join(sorted(walk.files)[:5]))
    constants = sum(tensor.role == "buffer" for tensor in tensors)
    if constants:
        yield Text("{count:,} constants of the graph (shapes, indices, scales, zero points) are not parameters", count=constants)


def _list_tensors(walk: _Walk, scopes: list[Scope]) -> list[StoredTensor]:
    """Check that all inputs come from somewhere, and say what each tensor is by what takes it."""
    tensors: list[StoredTensor] = []
    waiting = list(scopes)
    uses: dict[str, list[Use]] = {}
    while waiting:
        scope = waiting.pop(0)
        waiting += scope.inner
        tensors += scope.tensors.values()
        for name, at in scope.taken:
            _owner(walk, scope, name, at)
        for node, at in scope.nodes:
            for position, name in enumerate(node.inputs):
                owner = _owner(walk, scope, name, at) if name else None
                if owner is not None and name in owner.tensors:
                    uses.setdefault(owner.tensors[name].name, []).append(Use(node.kind, position, node.numbers, node.name))
    if len(tensors) > MOST_TENSORS:
        walk.cursor.fail(Text("more than {most_tensors:,} tensors", most_tensors=MOST_TENSORS))
    full = {tensor.name for tensor in tensors}
    if len(full) != len(tensors):
        walk.cursor.fail("two tensors of one name in one graph")
    walk.modules.update((name, module) for name in full if name.startswith(NUMBERED) and (module := module_of(uses.get(name, []))))
    return [with_role(tensor, uses.get(tensor.name, []), full) for tensor in tensors]


def _owner(walk: _Walk, scope: Scope, name: str, at: int) -> Scope:
    """Return the graph, this one or one around it, that gives a name."""
    place: Scope | None = scope
    while place is not None:
        if name in place.tensors or name in place.made:
            return place
        place = place.outer
    raise walk.cursor.error(Text("{name!r:.80} is taken by a node or given out, and nothing makes it", name=name), at)


def _graph(walk: _Walk, field: Field, scope: Scope) -> Scope:
    """Read a ``GraphProto``: its initializers are kept, its nodes tell what these are used for."""
    cursor = walk.cursor
    require_bytes(cursor, field, "graph")
    if scope.depth > DEEPEST_GRAPH:
        cursor.fail(Text("graphs nested more than {deepest_graph} deep", deepest_graph=DEEPEST_GRAPH), field.start)
    cursor.at = field.start
    for inner in fields(cursor, field.end, walk.budget, GRAPH):
        if inner.number == 1:
            _node(walk, inner, scope)
        elif inner.number == 5:
            name, tensor = _tensor(walk, inner, scope.prefix)
            _keep(walk, scope, name, tensor, inner)
        elif inner.number == 15:
            name, tensor = _read_sparse_tensor(walk, inner, scope.prefix)
            _keep(walk, scope, name, tensor, inner)
        elif inner.number in (11, 12):
            name = _value_name(walk, inner)
            if inner.number == 11:
                scope.made.add(name)
            else:
                scope.taken.append((name, inner.start))
    return scope


def _function(walk: _Walk, field: Field, number: int) -> Scope:
    """Walk a function's body, whose nodes may hold constants; they are stored once, however often it is called."""
    cursor = walk.cursor
    require_bytes(cursor, field, "function")
    scope = Scope(f"function.{number}.", None)
    cursor.at = field.start
    for inner in fields(cursor, field.end, walk.budget, FUNCTION):
        if inner.number == 4:
            scope.made.add(text(cursor, inner, "name"))
        elif inner.number == 5:
            scope.taken.append((text(cursor, inner, "name"), inner.start))
        elif inner.number == 7:
            _node(walk, inner, scope)
    return scope


def _keep(walk: _Walk, scope: Scope, name: str, tensor: StoredTensor, field: Field) -> None:
    if not name or name in scope.tensors:
        walk.cursor.fail(Text("the tensor {name!r:.80} occurs twice", name=name) if name else mark("a tensor without a name"), field.start)
    scope.tensors[name] = tensor


def _value_name(walk: _Walk, field: Field) -> str:
    require_bytes(walk.cursor, field, "value")
    walk.cursor.at = field.start
    for inner in fields(walk.cursor, field.end, walk.budget):
        if inner.number == 1:
            return text(walk.cursor, inner, "name")
    return ""


def _node(walk: _Walk, field: Field, scope: Scope) -> None:
    """Read a ``NodeProto``: its operator, what goes in and comes out, and the whole numbers among its attributes."""
    cursor = walk.cursor
    require_bytes(cursor, field, "node")
    inputs: list[str] = []
    outputs: list[str] = []
    kind = name = ""
    attributes: list[Field] = []
    cursor.at = field.start
    for inner in fields(cursor, field.end, walk.budget, NODE):
        if inner.number in (1, 2):
            (inputs if inner.number == 1 else outputs).append(text(cursor, inner, "name"))
        elif inner.number == 3:
            name = text(cursor, inner, "name")
        elif inner.number == 4:
            kind = text(cursor, inner, "operator")
        elif inner.number == 5:
            attributes.append(inner)
    ints: dict[str, int] = {}
    for attribute in attributes:
        _attribute(walk, attribute, scope, outputs[0] if outputs and kind == "Constant" else "", ints)
    scope.made.update(outputs)
    scope.nodes.append((Node(kind, tuple(inputs), tuple(outputs), ints, name), field.start))


def _attribute(walk: _Walk, field: Field, scope: Scope, constant: str, ints: dict[str, int]) -> None:
    """Look into an attribute for whole numbers, graphs and, in a Constant node, its tensor."""
    cursor = walk.cursor
    require_bytes(cursor, field, "attribute")
    cursor.at = field.start
    name = ""
    for inner in fields(cursor, field.end, walk.budget, ATTRIBUTE):
        if inner.number == 1:
            name = text(cursor, inner, "name")
        elif inner.number == 3:
            ints[name] = inner.value
        elif inner.number in (5, 22) and constant:
            _, tensor = (_tensor if inner.number == 5 else _read_sparse_tensor)(walk, inner, scope.prefix)
            _keep(walk, scope, constant, tensor._replace(name=scope.prefix + constant, note="a constant"), inner)
        elif inner.number in (6, 11):
            nested = Scope(f"{scope.prefix}{name}.{len(scope.inner)}.", scope)
            if len(nested.prefix) > LONGEST_PATH:
                cursor.fail(
                    Text(
                        "a name of {count:,} letters, the longest accepted is {longest_path:,}",
                        count=len(nested.prefix),
                        longest_path=LONGEST_PATH,
                    ),
                    field.start,
                )
            scope.inner.append(nested)
            _graph(walk, inner, nested)


def _read_sparse_tensor(walk: _Walk, field: Field, prefix: str) -> tuple[str, StoredTensor]:
    """Read a sparse tensor: its shape is that of the whole, its elements are those that are stored."""
    cursor = walk.cursor
    require_bytes(cursor, field, "sparse tensor")
    cursor.at = field.start
    shape: list[int] = []
    parts: dict[int, tuple[str, StoredTensor]] = {}
    for inner in fields(cursor, field.end, walk.budget, frozenset((1, 2, 3))):
        if inner.number == 3:
            shape += numbers(cursor, inner, "size")
        else:
            parts[inner.number] = _tensor(walk, inner, prefix)
    if 1 not in parts or not all(0 <= size < LONGEST for size in shape) or len(shape) > DEEPEST:
        cursor.fail("a sparse tensor without values or with an impossible shape", field.start)
    name, values = parts[1]
    return name, values._replace(
        shape=tuple(shape),
        elements=sum(prod(part.shape) for _, part in parts.values()),
        size_bytes=sum(part.size_bytes for _, part in parts.values()),
    )


def _tensor(walk: _Walk, field: Field, prefix: str) -> tuple[str, StoredTensor]:
    """Read a ``TensorProto`` up to its data: its name, type and shape, and where its bytes lie."""
    cursor = walk.cursor
    require_bytes(cursor, field, "tensor")
    cursor.at = field.start
    shape: list[int] = []
    name, kind, outside = "", 0, False
    data: list[Field] = []
    external: dict[str, str] = {}
    for inner in fields(cursor, field.end, walk.budget, TENSOR):
        if inner.number == 1:
            shape += numbers(cursor, inner, "size", DEEPEST)
        elif inner.number == 2:
            kind = inner.value
        elif inner.number == 3:
            cursor.fail("a tensor in segments, which is not read", inner.start)
        elif inner.number in (4, 5, 6, 7, 9, 10, 11):
            data.append(inner)
        elif inner.number == 8:
            name = text(cursor, inner, "name")
        elif inner.number == 13:
            external |= _entry(walk, inner)
        elif inner.number == 14:
            outside = inner.value == 1
    if kind not in TYPES:
        cursor.fail(Text("{name!r:.80} is of type {kind:,}, which ONNX does not define", name=name, kind=kind), field.start)
    if len(shape) > DEEPEST or not all(size < LONGEST for size in shape) or prod(shape) >= LONGEST:
        cursor.fail(Text("{name!r:.80} has the shape {shape!r:.100}, which cannot be", name=name, shape=shape), field.start)
    dtype, bits = TYPES[kind]
    size_bytes = -(-prod(shape) * bits // 8)
    tied = _check_external(walk, name, prefix, external, size_bytes) if outside else None
    if not outside:
        _check_count(walk, name, prod(shape), kind, data)
    return name, StoredTensor(prefix + name, dtype, tuple(shape), 0 if tied else size_bytes, tied_to=tied)


def _entry(walk: _Walk, field: Field) -> dict[str, str]:
    require_bytes(walk.cursor, field, "entry")
    walk.cursor.at = field.start
    found = {inner.number: text(walk.cursor, inner, "entry") for inner in fields(walk.cursor, field.end, walk.budget)}
    return {found.get(1, ""): found.get(2, "")}


def _check_external(walk: _Walk, name: str, prefix: str, entries: dict[str, str], size_bytes: int) -> str | None:
    """Check where a tensor's numbers lie in another file; two tensors at one place are one, and the second is tied."""
    location, offset, length = entries.get("location", ""), entries.get("offset", "0"), entries.get("length", str(size_bytes))
    if not location or not (offset + length).isdecimal() or not (offset + length).isascii() or len(offset + length) > 40:
        walk.cursor.fail(Text("{name!r:.80} lies in another file, and its place there is not told", name=name))
    if int(length) != size_bytes:
        walk.cursor.fail(
            Text(
                "{name!r:.80} takes {size_bytes:,} bytes; {length:,} are given to it in {location!r:.80}",
                name=name,
                size_bytes=size_bytes,
                length=int(length),
                location=location,
            )
        )
    walk.files.add(location)
    place = (location, int(offset), int(length))
    first = walk.places.setdefault(place, prefix + name)
    return first if first != prefix + name and size_bytes else None


def _check_count(walk: _Walk, name: str, count: int, kind: int, data: list[Field]) -> None:
    """Check that the message holds as many numbers as the shape says."""
    cursor = walk.cursor
    dtype, bits = TYPES[kind]
    raw = [field for field in data if field.number == 9]
    if raw and (len(data) > 1 or dtype == "STRING"):
        cursor.fail(Text("{name!r:.80} holds its numbers twice, or texts as raw data", name=name))
    if raw:
        found, due, unit = raw[0].end - raw[0].start, -(-count * bits // 8), "bytes"
    else:
        found, unit = sum(_count(walk, field) for field in data), "numbers"
        due = _entries(dtype, bits, count)
    if found != due:
        cursor.fail(
            Text(
                "{name!r:.80} of {count:,} elements of type {dtype} needs {due:,} {unit}; it holds {found:,}",
                name=name,
                count=count,
                dtype=dtype,
                due=due,
                unit=unit,
                found=found,
            )
        )


def _entries(dtype: str, bits: int, count: int) -> int:
    """Return how many entries of a typed field hold *count* elements (onnx.proto, at float_data and int32_data)."""
    if dtype.startswith("C"):
        return 2 * count
    return -(-count * bits // 8) if bits in (2, 4) else count


def _count(walk: _Walk, field: Field) -> int:
    """Count the entries of a repeated field, packed or not."""
    if field.wire != 2 or field.number == 6:
        return 1
    length = field.end - field.start
    width = {4: 4, 10: 8}.get(field.number)
    if width:
        if length % width:
            walk.cursor.fail("numbers that are cut off", field.start)
        return length // width
    walk.cursor.at = field.start
    count = 0
    while walk.cursor.at < field.end:
        piece = walk.cursor.take(min(field.end - walk.cursor.at, 1 << 16))
        count += len(piece.translate(None, _CONTINUED))
    return count


_CONTINUED = bytes(range(128, 256))
"""Bytes of a number that another byte follows."""
