"""Messages between the server and its workers: a JSON head and a body of bytes, each prefixed with its length."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

LENGTHS = struct.Struct(">IQ")
"""How long a message's head and body are."""


def pack(head: dict[str, Any], body: bytes) -> bytes:
    """Return a message: its lengths, its head, its body.

    >>> pack({}, b"body")
    b'\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x04{}body'
    """
    text = json.dumps(head).encode()
    return LENGTHS.pack(len(text), len(body)) + text + body


def receive(file: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    """Read a message; None at the end."""
    start = file.read(LENGTHS.size)
    if len(start) < LENGTHS.size:
        return None
    head, body = LENGTHS.unpack(start)
    return json.loads(file.read(head)), file.read(body)
