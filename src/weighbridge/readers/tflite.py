"""TensorFlow Lite and LiteRT models (``.tflite``): the tensors of every sub-graph that have a buffer of constants.

The model is a FlatBuffer: buffers, and sub-graphs whose tensors name one each. A buffer that stands outside the FlatBuffer (a model of more than
2 GB) is known by its offset and size. Two tensors of one buffer are a tie.

Source: tensorflow/compiler/mlir/lite/schema/schema.fbs (``Model``, ``SubGraph``, ``Tensor``, ``Buffer``, ``TensorType``)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.flatbuffer import I32, U8, U32, U64, Buffer, Table
from weighbridge.readers.listing import DEEPEST, MOST_TENSORS, Listing, StoredTensor, unique_names
from weighbridge.readers.text import make_printable
from weighbridge.readers.variables import TABLE_NOTE

TYPES = (
    ("F32", 32),
    ("F16", 16),
    ("I32", 32),
    ("U8", 8),
    ("I64", 64),
    ("STRING", 0),
    ("BOOL", 8),
    ("I16", 16),
    ("C64", 64),
    ("I8", 8),
    ("F64", 64),
    ("C128", 128),
    ("U64", 64),
    ("RESOURCE", 0),
    ("VARIANT", 0),
    ("U32", 32),
    ("U16", 16),
    ("I4", 4),
    ("BF16", 16),
    ("I2", 2),
    ("U4", 4),
    ("F8_E4M3", 8),
    ("F8_E5M2", 8),
)
"""``TensorType`` of schema.fbs, by number: our name, and its bits; those without are of any length."""

MOST_GRAPHS = 1_000


def sniff(head: bytes) -> bool:
    """Tell whether a file is a FlatBuffer of TensorFlow Lite: its identifier stands after the first four bytes.

    >>> sniff(bytes([28, 0, 0, 0]) + b"TFL3")
    True
    """
    return head[4:8] == b"TFL3"


def read(file: BinaryIO) -> Listing:
    """List the constants of a model: weights, and tables that its operators take.

    Raises:
        ReadError: Damaged, or a tensor whose bytes do not fit its shape.
    """
    model = Buffer(file).root()
    sizes = [_size(table) for table in model.tables(4, MOST_TENSORS, "buffers")]
    graphs = model.tables(2, MOST_GRAPHS, "sub-graphs")
    tensors = [found for graph in graphs for table in graph.tables(0, MOST_TENSORS, "tensors") if (found := _tensor(table, sizes))]
    if len(tensors) > MOST_TENSORS:
        raise ReadError(Text("more than {most:,} constants", most=MOST_TENSORS))
    if not tensors:
        raise ReadError("the model holds no constants")
    names = unique_names([tensor.name for _, tensor in tensors])
    owners: dict[int, str] = {}
    listed = []
    for name, (buffer, tensor) in zip(names, tensors, strict=True):
        owner = owners.setdefault(buffer, name)
        tied = owner if owner != name else None
        listed.append(tensor._replace(name=name, tied_to=tied, size_bytes=0 if tied else tensor.size_bytes))
    return Listing("tflite", tuple(listed), notes=tuple(_notes(listed)))


def _size(table: Table) -> int:
    """Return the bytes of a buffer, within the FlatBuffer or after it."""
    offset, size = table.number(1, U64), table.number(2, U64)
    if offset > 1:
        if offset + size > table.buffer.size:
            table.buffer.fail(
                Text("a buffer of {size:,} bytes at {offset:,} is beyond the file's end", size=size, offset=offset), table.begin
            )
        return size
    return table.vector(0, 1).length


def _tensor(table: Table, sizes: list[int]) -> tuple[int, StoredTensor] | None:
    """Return a tensor and the number of its buffer; None if it has no constant."""
    buffer, number = table.number(2, U32), table.number(1, U8)
    if table.number(10, U32):
        table.buffer.fail("a tensor whose weights are in another file, which is not opened", table.begin)
    if buffer >= len(sizes):
        table.buffer.fail(Text("a tensor names buffer {buffer:,} of {count:,}", buffer=buffer, count=len(sizes)), table.begin)
    if not sizes[buffer]:
        return None
    if number >= len(TYPES):
        table.buffer.fail(Text("a tensor is of type {number}, which the format does not have", number=number), table.begin)
    dtype, bits = TYPES[number]
    shape, name = table.numbers(0, I32, DEEPEST), table.text(3)
    if min(shape, default=0) < 0:
        table.buffer.fail(Text("{name} has the shape {shape}", name=make_printable(name), shape=list(shape)), table.begin)
    sparse = table.table(6) is not None
    due = -(-prod(shape) * bits // 8)
    if bits and not sparse and due != sizes[buffer]:
        table.buffer.fail(
            Text(
                "{name} of shape {shape} takes {due:,} bytes; its buffer has {sizes:,}",
                name=make_printable(name),
                shape=list(shape),
                due=due,
                sizes=sizes[buffer],
            ),
            table.begin,
        )
    scales = table.table(4)
    quantized = scales is not None and scales.vector(2, 4).length > 0
    learned = prod(shape) > 1 and (dtype.startswith(("F", "BF")) or quantized)
    role = None if learned and not quantized else "weight" if learned else "buffer"
    stored = sizes[buffer] * 8 // bits if sparse and bits else None
    return buffer, StoredTensor(name, dtype, shape, sizes[buffer], role, None, stored, "" if learned else TABLE_NOTE)


def _notes(tensors: list[StoredTensor]) -> Iterator[str]:
    whole = [tensor for tensor in tensors if tensor.role == "weight"]
    if whole:
        yield Text("{count:,} tensors are quantized, each with scales of its own in the table of tensors", count=len(whole))
