"""A file read by the slices that are asked for is the file read whole, whatever its format."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError, UsageError
from weighbridge.load import checkpoint_of
from weighbridge.web.header import Slice, header_model, slices

CORPUS = Path(__file__).parents[2] / "corpus"
FILES = sorted(path for folder in ("safetensors", "torch") for path in (CORPUS / folder / "valid").rglob("*") if path.is_file())
assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.name}/{path.name}")
def test_slices_give_what_the_whole_file_gives(path: Path) -> None:
    data = path.read_bytes()
    try:
        expected = tally_of(checkpoint_of(path))
    except ReadError:
        pytest.skip("not a file by itself")
    places = [(0, min(4096, len(data)))]
    for _ in range(200):
        found = header_model(tuple(Slice(at, data[at : at + length]) for at, length in places), len(data), path.name)
        if found.wanted is None:
            break
        assert found.wanted not in places, "asked for twice"
        places.append(found.wanted)
    assert found.model is not None
    assert found.model.count() == expected


def test_places_are_held_against_the_body_and_the_file() -> None:
    for body, places, size in ((b"abc", "0:2", 9), (b"abc", "8:3", 9), (b"abc", "0:x", 9), (b"", ":", 9), (b"abc", "-1:3", 9)):
        with pytest.raises(UsageError, match="slices: "):
            slices(body, places, size)


def test_noise_is_damaged() -> None:
    noise = b"\x89HDF\r\n\x1a\n" + bytes(range(256)) * 20
    with pytest.raises(ReadError):
        header_model((Slice(0, noise),), len(noise), "x.h5")
