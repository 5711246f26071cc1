"""Every truncation and every mutation of a header reads to a consistent listing or raises ReadError, nothing else."""

from __future__ import annotations

import json
import random
from io import BytesIO
from math import prod

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.core.tree import flatten
from weighbridge.readers import as_model, list_open
from weighbridge.readers.safetensors import BITS


def sample() -> bytes:
    """Return a small file with several types, metadata and repeated layers."""
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, dtype, shape in (
        ("embed.weight", "F32", [30, 8]),
        ("layers.0.w.weight", "BF16", [8, 8]),
        ("layers.1.w.weight", "BF16", [8, 8]),
        ("norm.weight", "F16", [8]),
        ("norm.bias", "F16", [8]),
        ("position_ids", "I64", [1, 4]),
        ("s", "F8_E4M3", []),
    ):
        size = prod(shape) * BITS[dtype] // 8
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    header = json.dumps(entries, separators=(",", ":")).encode()
    return len(header).to_bytes(8, "little") + header + bytes(end)


SAMPLE = sample()
HEADER = 8 + int.from_bytes(SAMPLE[:8], "little")


def assert_consistent_or_refused(content: bytes) -> bool:
    """Read; what lists must account for every byte behind the header. Returns whether it listed."""
    try:
        listing = list_open(BytesIO(content), "model.safetensors")
        model = as_model(listing, "model.safetensors")
    except ReadError:
        return False
    room = len(content) - 8 - int.from_bytes(content[:8], "little")
    assert sum(prod(tensor.shape) * BITS[tensor.dtype] for tensor in listing.tensors) == 8 * room
    counts = tally_of(model)
    assert counts.unique + counts.buffers == listing.stored == counts.stored
    assert sorted(row.name for row in flatten(model.tree)) == sorted(tensor.name for tensor in listing.tensors)
    return True


def test_the_sample_lists() -> None:
    assert assert_consistent_or_refused(SAMPLE)


def test_every_truncation() -> None:
    for length in range(len(SAMPLE)):
        assert not assert_consistent_or_refused(SAMPLE[:length])


@pytest.mark.parametrize("seed", range(4))
def test_mutations(seed: int) -> None:
    """5,000 mutations each: bytes changed, inserted, deleted, runs repeated, digits exchanged."""
    chance = random.Random(seed)
    listed = 0
    for _ in range(5_000):
        content = bytearray(SAMPLE)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            at = chance.randrange(HEADER)
            match chance.randrange(5):
                case 0:
                    content[at] = chance.randrange(256)
                case 1:
                    content[at:at] = bytes((chance.choice(b'0123456789"{}[],:-.eE\\u '),))
                case 2:
                    del content[at : at + chance.randrange(1, 9)]
                case 3:
                    content[at:at] = content[at : at + chance.randrange(1, 60)]
                case _:
                    content[at] = chance.choice(b"0123456789")
        if chance.random() < 0.5:
            grown = len(content) - len(SAMPLE)
            content[:8] = max(0, HEADER - 8 + grown).to_bytes(8, "little")
        listed += assert_consistent_or_refused(bytes(content))
    assert listed, "a mutation inside a name still lists"
