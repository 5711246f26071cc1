"""Damage for readers: every truncation, and thousands of mutations, from a fixed seed."""

from __future__ import annotations

import io
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pytest

from weighbridge.core.errors import ReadError

Read = Callable[[BinaryIO], Any]
EXTREMES = (b"\xff", b"\x00", b"\x7f", b"\x80", b"\xff" * 4, b"\xff" * 8, b"\xff" * 7 + b"\x7f", b"\x00\x00\x00\x80", b"\x00" * 8)


def read_bytes(read: Read, data: bytes) -> Any:
    """Read *data* as a file of its own."""
    return read(io.BytesIO(data))


def mutations(data: bytes, number: int, seed: int = 0) -> Iterator[bytes]:
    """Yield *number* damaged copies of *data*."""
    chance = random.Random(seed)
    for _ in range(number):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            at = chance.randrange(len(damaged) + 1)
            match chance.randrange(5):
                case 0 if at < len(damaged):
                    damaged[at] ^= 1 << chance.randrange(8)
                case 1:
                    damaged[at : at + 1] = chance.randbytes(1)
                case 2:
                    extreme = chance.choice(EXTREMES)
                    damaged[at : at + len(extreme)] = extreme
                case 3:
                    del damaged[at : at + chance.randrange(1, 17)]
                case _:
                    start = chance.randrange(len(data))
                    damaged[at:at] = data[start : start + chance.randrange(1, 33)]
        yield bytes(damaged)


def assert_robust(read: Read, data: bytes, *, check: Callable[[Any], None], number: int = 3000, truncations: bool = True) -> int:
    """Read damaged copies: each gives a listing that passes *check*, or a ReadError. Returns how many were refused."""
    cases = list(mutations(data, number))
    if truncations:
        cases += [data[:length] for length in range(len(data))]
    refused = 0
    for case in cases:
        try:
            result = read_bytes(read, case)
        except ReadError:
            refused += 1
        else:
            check(result)
    assert refused > len(cases) // 50
    return refused


def assert_refused(read: Read, data: bytes, message: str) -> None:
    """Assert that *data* is refused with *message*, within 2 s and 200 MB."""
    tracemalloc.start()
    begun = time.monotonic()
    with pytest.raises(ReadError) as caught:
        read_bytes(read, data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(caught.value) == message
    assert time.monotonic() - begun < 2
    assert peak < 200_000_000
