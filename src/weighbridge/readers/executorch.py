"""ExecuTorch programs (``.pte``): the constants of a program that are not inside a delegate.

The program is a FlatBuffer: plans with values, of which some are tensors that name a constant by number; the constants' bytes are in the FlatBuffer
or in a segment after it. What a delegate (XNNPACK, Core ML, ...) has taken is in a form of its own: such a program is refused.

Source: pytorch/executorch, schema/program.fbs (``Program``, ``ExecutionPlan``, ``EValue``, ``Tensor``, ``SubsegmentOffsets``), schema/scalar_type.fbs
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.flatbuffer import I32, U8, U32, U64, Buffer, Table
from weighbridge.readers.listing import DEEPEST, MOST_TENSORS, Listing, StoredTensor, unique_names
from weighbridge.readers.text import make_printable
from weighbridge.readers.variables import TABLE_NOTE

TYPES = {
    0: ("U8", 1),
    1: ("I8", 1),
    2: ("I16", 2),
    3: ("I32", 4),
    4: ("I64", 8),
    5: ("F16", 2),
    6: ("F32", 4),
    7: ("F64", 8),
    11: ("BOOL", 1),
    12: ("I8", 1),
    13: ("U8", 1),
    14: ("I32", 4),
    15: ("BF16", 2),
    23: ("F8_E5M2", 1),
    24: ("F8_E4M3", 1),
    25: ("F8_E5M2FNUZ", 1),
    26: ("F8_E4M3FNUZ", 1),
    27: ("U16", 2),
    28: ("U32", 4),
    29: ("U64", 8),
}
"""``ScalarType`` of scalar_type.fbs, by number: our name, and its bytes."""

TENSOR = 5
"""The number of ``Tensor`` in the union of a value's kinds."""

MOST_PLANS = 1_000
MOST_VALUES = 200_000


def sniff(head: bytes) -> bool:
    """Tell whether a file is a FlatBuffer of ExecuTorch: its identifier stands after the first four bytes.

    >>> sniff(bytes([40, 0, 0, 0]) + b"ET12")
    True
    """
    return head[4:6] == b"ET" and head[6:8].isdigit()


def read(file: BinaryIO) -> Listing:
    """List the constants of a program.

    Raises:
        ReadError: Damaged, without constants, with weights in delegates or in other files, or a constant shorter than its shape.
    """
    program = Buffer(file).root()
    plans = program.tables(1, MOST_PLANS, "plans")
    delegates = [table.text(0) for plan in plans for table in plan.tables(7, MOST_VALUES, "delegates")]
    if delegates:
        raise ReadError(
            Text(
                "a program whose weights are in {count:,} delegates ({first}), each in a form of its own: weigh the checkpoint that it was exported from",
                count=len(delegates),
                first=make_printable(delegates[0]),
            )
        )
    sizes = _sizes(program)
    found: list[tuple[int, StoredTensor]] = []
    for plan in plans:
        for value in plan.tables(2, MOST_VALUES, "values"):
            tensor = value.table(1) if value.number(0, U8) == TENSOR else None
            constant = tensor and _constant(tensor, sizes)
            if constant:
                found.append(constant)
    if not found:
        raise ReadError("a program without constants: its weights are in another file (.ptd), or it has none")
    return Listing("executorch", tuple(_tie(found)), notes=(Text("names of weights are not in the file: its constants are numbered"),))


def _tie(found: list[tuple[int, StoredTensor]]) -> Iterator[StoredTensor]:
    """Give each constant a name of its own; of those with the same bytes the largest has them."""
    owners: dict[int, tuple[int, str]] = {}
    names = unique_names([tensor.name for _, tensor in found])
    for name, (number, tensor) in zip(names, found, strict=True):
        if number not in owners or tensor.size_bytes > owners[number][0]:
            owners[number] = (tensor.size_bytes, name)
    for name, (number, tensor) in zip(names, found, strict=True):
        owner = owners[number][1]
        yield tensor._replace(name=name) if owner == name else tensor._replace(name=name, tied_to=owner, size_bytes=0)


def _sizes(program: Table) -> list[int]:
    """Return how many bytes each constant has at most; the first, which stands for none, has none."""
    segment = program.table(5)
    offsets = segment.numbers(1, U64, MOST_TENSORS) if segment else ()
    if segment is None or not offsets:
        return [table.vector(0, 1).length for table in program.tables(2, MOST_TENSORS, "constants")]
    segments = program.tables(4, MOST_TENSORS, "segments")
    number = segment.number(0, U32)
    if number >= len(segments):
        program.buffer.fail(Text("the constants are in segment {number:,} of {count:,}", number=number, count=len(segments)), segment.begin)
    end = segments[number].number(1, U64)
    if end > program.buffer.size or any(one > other for one, other in pairwise((*offsets, end))):
        program.buffer.fail("the constants' places are not in order, or beyond the file's end", segment.begin)
    return [other - one for one, other in pairwise((*offsets, end))]


def _constant(tensor: Table, sizes: list[int]) -> tuple[int, StoredTensor] | None:
    """Return a tensor that is a constant, and the number of its bytes; None if it is computed."""
    number = tensor.number(5, U32)
    extra = tensor.table(9)
    if extra is not None and extra.number(2, U8):
        tensor.buffer.fail("a tensor whose weights are in another file (.ptd), which is not opened: weigh the checkpoint", tensor.begin)
    if not number or tensor.place(6):
        return None
    if number >= len(sizes):
        tensor.buffer.fail(Text("a tensor names constant {number:,} of {count:,}", number=number, count=len(sizes)), tensor.begin)
    kind, shape = tensor.number(0, U8), tensor.numbers(2, I32, DEEPEST)
    if kind not in TYPES or min(shape, default=0) < 0:
        tensor.buffer.fail(
            Text("constant {number:,} is of type {kind} and shape {shape}", number=number, kind=kind, shape=list(shape)), tensor.begin
        )
    dtype, item = TYPES[kind]
    due = prod(shape) * item
    if due > sizes[number]:
        tensor.buffer.fail(
            Text(
                "constant {number:,} of shape {shape} takes {due:,} bytes; the program has {sizes:,}",
                number=number,
                shape=list(shape),
                due=due,
                sizes=sizes[number],
            ),
            tensor.begin,
        )
    learned = dtype.startswith(("F", "BF")) and prod(shape) > 1
    name = (extra.text(1) if extra is not None else "") or f"constant_{number}"
    return number, StoredTensor(name, dtype, shape, due, None if learned else "buffer", note="" if learned else TABLE_NOTE)
