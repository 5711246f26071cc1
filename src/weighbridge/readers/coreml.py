"""Core ML models: ``.mlmodel`` and, in a folder with a manifest, ``.mlpackage``.

A model is one message of protocol buffers. In an ML program the weights are constants whose type tells shape and element; their values are in
``weights/weight.bin``. In a neural network each layer has its weights within it, as a run of numbers: how many they are is certain, and their shape is not told.
A pipeline holds models. Other kinds (trees, support vectors, ...) are refused by name.

Source: apple/coremltools 9.0, mlmodel/format/Model.proto, MIL.proto, NeuralNetwork.proto (``WeightParams``)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import BinaryIO, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.files import is_path_below, read_whole
from weighbridge.core.messages import Text
from weighbridge.readers import coreml_layers
from weighbridge.readers.cursor import Cursor
from weighbridge.readers.formats import read_file
from weighbridge.readers.listing import DEEPEST, LONGEST, MOST_TENSORS, Listing, StoredTensor, unique_names
from weighbridge.readers.protobuf import BYTES, VARINT, Budget, Field, fields, text
from weighbridge.readers.text import make_printable, parse_object
from weighbridge.readers.variables import TABLE_NOTE

TYPES = {
    1: ("BOOL", 8),
    2: ("STRING", 0),
    10: ("F16", 16),
    11: ("F32", 32),
    12: ("F64", 64),
    13: ("BF16", 16),
    21: ("I8", 8),
    22: ("I16", 16),
    23: ("I32", 32),
    24: ("I64", 64),
    25: ("I4", 4),
    31: ("U8", 8),
    32: ("U16", 16),
    33: ("U32", 32),
    34: ("U64", 64),
    35: ("U4", 4),
    36: ("U2", 2),
    37: ("U1", 1),
    38: ("U6", 6),
    39: ("U3", 3),
    40: ("F8_E4M3", 8),
    41: ("F8_E5M2", 8),
}
"""``DataType`` of MIL.proto, by number: our name, and its bits."""

NETWORKS = (303, 403, 500)
PIPELINES = {200: True, 201: True, 202: False}
"""Fields of ``Model`` that are pipelines, and whether the pipeline is a field of that."""

PROGRAM = 502
_KINDS = range(200, 4000)
DEEPEST_BLOCK = 20
BLOB_HEAD = 64
"""Bytes before each constant in a file of values."""

MANIFEST = "Manifest.json"
LARGEST_MANIFEST = 1 << 20


class _Walk(NamedTuple):
    """The state of a walk: position in the file, bytes left to read, tensors found, and how long each file of values must be."""

    cursor: Cursor
    budget: Budget
    found: list[StoredTensor]
    ends: dict[str, int]


def sniff(head: bytes) -> bool:
    """Return False: the first bytes are those of a SavedModel's graph too, so the file's suffix decides.

    >>> sniff(bytes([8, 1, 18]))
    False
    """
    return False


def read(file: BinaryIO) -> Listing:
    """List the weights of a model.

    Raises:
        ReadError: Damaged, or of a kind that has no tensors.
    """
    cursor = Cursor(file)
    walk = _Walk(cursor, Budget(), [], {})
    _model(walk, cursor.size, "", 0)
    if not walk.found:
        raise ReadError("the model holds no weights")
    if len(walk.found) > MOST_TENSORS:
        raise ReadError(Text("more than {most_tensors:,} weights", most_tensors=MOST_TENSORS))
    names = unique_names([tensor.name for tensor in walk.found])
    tensors = tuple(tensor._replace(name=name) for name, tensor in zip(names, walk.found, strict=True))
    flat = any(tensor.note == coreml_layers.FLAT for tensor in tensors)
    return Listing(
        "coreml",
        tensors,
        dict(walk.ends),
        notes=(Text("a neural network's file gives the number of values of a weight, not its shape"),) if flat else (),
    )


def package(folder: Path) -> Path | None:
    """Return the model within an ``.mlpackage``, or None if the directory is none."""
    manifest = folder / MANIFEST
    if not (folder.name.endswith(".mlpackage") and manifest.is_file()):
        return None
    stated = parse_object(read_whole(manifest, LARGEST_MANIFEST), "the manifest")
    entries, root = stated.get("itemInfoEntries"), stated.get("rootModelIdentifier")
    entry = entries.get(root) if isinstance(entries, dict) and isinstance(root, str) else None
    path = entry.get("path") if isinstance(entry, dict) else None
    if not isinstance(path, str) or not is_path_below(path):
        raise ReadError("the manifest names no model within the package", path=str(manifest))
    return folder / "Data" / path


def list_package(model: Path) -> Listing:
    """List the model of a package; its values must be there and reach as far as the model says."""
    listing = read_file(model)
    for name, end in sorted({(str(key), value) for key, value in listing.metadata.items()}):
        weights = model.parent / "weights" / name
        size = weights.stat().st_size if weights.is_file() else -1
        if size < 0:
            raise ReadError(Text("{name} is missing, which holds part of the tensors", name=make_printable(name)), path=str(model))
        if isinstance(end, int) and end > size:
            raise ReadError(
                Text("{name} has {size:,} bytes, its chunks reach to {end:,}", name=make_printable(name), size=size, end=end),
                path=str(model),
            )
    return listing


def _fields_within(walk: _Walk, field: Field) -> Iterator[Field]:
    """Yield the fields of a message within another."""
    if field.wire != BYTES:
        walk.cursor.fail("a message that is written as a number", field.start)
    walk.cursor.at = field.start
    return fields(walk.cursor, field.end, walk.budget)


def _model(walk: _Walk, end: int, prefix: str, depth: int) -> None:
    """Read one model by its kind: a program, a network, or a pipeline of models."""
    if depth > DEEPEST_BLOCK:
        walk.cursor.fail("models nested too deep")
    kinds = [field for field in fields(walk.cursor, end, walk.budget) if field.number in _KINDS]
    for field in kinds:
        if field.number == PROGRAM:
            _program(walk, field, prefix)
        elif field.number in NETWORKS:
            coreml_layers.network(walk.cursor, walk.budget, field, prefix, walk.found)
        elif field.number in PIPELINES:
            _pipeline(walk, field, prefix, depth)
        elif field.number not in coreml_layers.WITHOUT_WEIGHTS:
            kind = coreml_layers.KINDS.get(field.number, f"kind {field.number}")
            walk.cursor.fail(
                Text("a model of the kind {kind}, which has no tensors to count: weigh the model that it was converted from", kind=kind),
                field.start,
            )


def _pipeline(walk: _Walk, field: Field, prefix: str, depth: int) -> None:
    number = 0
    inner = list(_fields_within(walk, field))
    if PIPELINES[field.number]:
        inner = [one for outer in inner if outer.number == 1 for one in list(_fields_within(walk, outer))]
    for model in inner:
        if model.number == 1:
            walk.cursor.at = model.start
            _model(walk, model.end, f"{prefix}model_{number}.", depth + 1)
            number += 1


def _program(walk: _Walk, program: Field, prefix: str) -> None:
    """Walk the functions of an ML program, and in each the block that it is made for."""
    for function in [field for field in _fields_within(walk, program) if field.number == 2]:
        for body in [field for field in _fields_within(walk, function) if field.number == 2]:
            for entry in [field for field in _fields_within(walk, body) if field.number == 3]:
                for block in [field for field in _fields_within(walk, entry) if field.number == 2]:
                    _block(walk, block, prefix, 0)


def _block(walk: _Walk, block: Field, prefix: str, depth: int) -> None:
    if depth > DEEPEST_BLOCK:
        walk.cursor.fail("blocks nested too deep", block.start)
    for operation in [field for field in _fields_within(walk, block) if field.number == 3]:
        _operation(walk, operation, prefix, depth)


def _operation(walk: _Walk, operation: Field, prefix: str, depth: int) -> None:
    """Keep the output of an operation that is a constant, or one that unpacks constants."""
    parts = list(_fields_within(walk, operation))
    kind = next((text(walk.cursor, part, "operation") for part in parts if part.number == 1), "")
    if kind == "const" or kind.startswith("constexpr_"):
        for output in [part for part in parts if part.number == 3]:
            _constant(walk, output, prefix, unpacked=kind != "const")
        for part in parts:
            if part.number == 5:
                _keep_end(walk, part)
    for block in [part for part in parts if part.number == 4]:
        _block(walk, block, prefix, depth + 1)


def _keep_end(walk: _Walk, entry: Field) -> None:
    """Keep how far a file of values must reach for an attribute that lies in one."""
    for value in [field for field in _fields_within(walk, entry) if field.number == 2]:
        for place in [field for field in _fields_within(walk, value) if field.number == 5]:
            parts = list(_fields_within(walk, place))
            name = next((text(walk.cursor, part, "name of a file") for part in parts if part.number == 1), "").rpartition("/")[2]
            offset = next((part.value for part in parts if part.number == 2), 0)
            walk.ends[name] = max(walk.ends.get(name, 0), offset + BLOB_HEAD)


def _constant(walk: _Walk, output: Field, prefix: str, *, unpacked: bool) -> None:
    parts = list(_fields_within(walk, output))
    name = next((text(walk.cursor, part, "name") for part in parts if part.number == 1), "")
    types = [one for part in parts if part.number == 2 for one in list(_fields_within(walk, part)) if one.number == 1]
    if not types:
        return
    dtype, bits, shape = _tensor_type(walk, types[0], name)
    learned = prod(shape) > 1 and (unpacked or dtype.startswith(("F", "BF")))
    note = "" if learned else TABLE_NOTE
    size = -(-prod(shape) * bits // 8)
    walk.found.append(StoredTensor(prefix + name, dtype, shape, size, ("weight" if unpacked else None) if learned else "buffer", note=note))


def _tensor_type(walk: _Walk, field: Field, name: str) -> tuple[str, int, tuple[int, ...]]:
    """Read a ``TensorType`` of a constant: its element type and its shape, which must be of whole numbers."""
    kind = 0
    shape: list[int] = []
    for part in list(_fields_within(walk, field)):
        if part.number == 1 and part.wire == VARINT:
            kind = part.value
        elif part.number == 3:
            constants = [one for one in list(_fields_within(walk, part)) if one.number == 1]
            sizes = [
                one.value
                for constant in constants
                for one in list(_fields_within(walk, constant))
                if one.number == 1 and one.wire == VARINT
            ]
            if not constants or len(shape) >= DEEPEST or not all(size < LONGEST for size in sizes):
                walk.cursor.fail(Text("the constant {name} has no shape of whole numbers", name=make_printable(name)), part.start)
            shape.append(sizes[0] if sizes else 0)
    if kind not in TYPES:
        walk.cursor.fail(
            Text("the constant {name} is of type {kind}, which the format does not have", name=make_printable(name), kind=kind), field.start
        )
    return *TYPES[kind], tuple(shape)
