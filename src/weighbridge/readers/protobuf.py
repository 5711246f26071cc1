"""Messages in the wire format of protocol buffers: walked field by field, payloads skipped.

Source: protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from weighbridge.core.messages import Text
from weighbridge.readers.cursor import Cursor

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MOST_FIELDS = 350_000
"""A file with more is refused: no graph comes near, and a hostile one must not take minutes."""


class Field(NamedTuple):
    """One field: its number, how it is written, its value if it is a number, and where its bytes are."""

    number: int
    wire: int
    value: int
    start: int
    end: int


class Budget:
    """How many fields may still be read from a file."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = MOST_FIELDS


def fields(cursor: Cursor, end: int, budget: Budget, known: frozenset[int] | None = None) -> Iterator[Field]:
    """Yield the fields from where *cursor* stands to *end*; it may be moved between two of them.

    Args:
        known: The numbers that the message defines; any other is refused, since what it hides would not be counted.
    """
    while cursor.at < end:
        budget.left -= 1
        if budget.left < 0:
            cursor.fail(Text("more than {most_fields:,} fields", most_fields=MOST_FIELDS))
        at = cursor.at
        tag = cursor.varint()
        number, wire = tag >> 3, tag & 7
        if not number or (known is not None and number not in known):
            cursor.fail(Text("field {number:,} is not one of this message, or of a later version of the format", number=number), at)
        value = 0
        start = cursor.at
        if wire == VARINT:
            value = cursor.varint()
            stop = cursor.at
        elif wire == BYTES:
            length = cursor.varint()
            start = cursor.at
            stop = start + length
        elif wire in (FIXED64, FIXED32):
            stop = start + (8 if wire == FIXED64 else 4)
        else:
            cursor.fail(Text("{wire} is no way to write a field", wire=wire), at)
        if stop > end:
            cursor.fail(
                Text("field {number:,} ends at {stop:,}, beyond its message, which ends at {end:,}", number=number, stop=stop, end=end), at
            )
        yield Field(number, wire, value, start, stop)
        cursor.at = stop


def text(cursor: Cursor, field: Field, what: str, limit: int = 1 << 12) -> str:
    """Read a field as UTF-8."""
    require_bytes(cursor, field, what)
    cursor.at = field.start
    return cursor.text(field.end - field.start, what, limit)


def require_bytes(cursor: Cursor, field: Field, what: str) -> None:
    """Insist that a field has bytes: a text, a message, or packed numbers."""
    if field.wire != BYTES:
        cursor.fail(Text("a {what} is written as a number", what=Text(what)), field.start)


def numbers(cursor: Cursor, field: Field, what: str, limit: int = 64) -> list[int]:
    """Read a repeated whole number, packed or not, at most *limit* of them."""
    if field.wire == VARINT:
        return [field.value]
    require_bytes(cursor, field, what)
    cursor.at = field.start
    found: list[int] = []
    while cursor.at < field.end:
        if len(found) == limit:
            cursor.fail(Text("more than {limit} {what}s", limit=limit, what=Text(what)), field.start)
        found.append(cursor.varint())
    if cursor.at != field.end:
        cursor.fail(Text("the last {what} runs beyond its field", what=Text(what)), field.start)
    return found
