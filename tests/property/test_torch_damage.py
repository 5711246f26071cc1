"""Every truncation and many mutations of a torch file read to a consistent listing or raise ReadError, nothing else."""

from __future__ import annotations

import random
import zipfile
from io import BytesIO
from math import prod
from pathlib import Path

import pytest

from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.readers import as_model, list_open
from weighbridge.readers.torch_storages import BYTES

CORPUS = Path(__file__).parents[1] / "corpus" / "torch" / "valid"
NAMES = ("state", "state_legacy", "module", "odd", "training")


def zip_again(data: bytes, storages: dict[str, bytes]) -> bytes:
    """Put a pickle back into an archive with valid checksums, so that its damage reaches the interpreter."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", data)
        for name, content in storages.items():
            archive.writestr(name, content)
    return file.getvalue()


def parts(name: str) -> tuple[bytes, dict[str, bytes]]:
    with zipfile.ZipFile(CORPUS / f"{name}.pt") as archive:
        contents = {entry: archive.read(entry) for entry in archive.namelist()}
    root = next(iter(contents)).partition("/")[0]
    storages = {entry.replace(root, "archive", 1): data for entry, data in contents.items() if "/data/" in entry}
    return contents[f"{root}/data.pkl"], storages


def assert_consistent_or_refused(content: bytes) -> bool:
    """Read; what lists has no more elements than the file has bytes for. Returns whether it listed."""
    try:
        listing = list_open(BytesIO(content), "model.pt")
        counts = tally_of(as_model(listing, "model.pt"))
    except ReadError:
        return False
    assert listing.size_bytes <= len(content)
    for tensor in listing.tensors:
        assert tensor.size_bytes == tensor.stored * BYTES[tensor.dtype] or tensor.elements is not None
        assert tensor.stored <= prod(tensor.shape)
    assert counts.stored == listing.stored
    return True


@pytest.mark.parametrize("name", NAMES)
def test_truncations(name: str) -> None:
    content = (CORPUS / f"{name}.pt").read_bytes()
    assert assert_consistent_or_refused(content)
    for length in range(0, len(content), 7):
        assert not assert_consistent_or_refused(content[:length])


@pytest.mark.parametrize("name", NAMES)
def test_mutations(name: str) -> None:
    """Bytes changed anywhere in the file, and bytes changed in the pickle alone, with its checksum mended."""
    chance = random.Random(name)
    whole = (CORPUS / f"{name}.pt").read_bytes()
    for _ in range(600):
        content = bytearray(whole)
        for _ in range(chance.choice((1, 2, 8))):
            content[chance.randrange(len(content))] = chance.randrange(256)
        assert_consistent_or_refused(bytes(content))
    if name.endswith("legacy"):
        return
    data, storages = parts(name)
    listed = 0
    for _ in range(600):
        mutant = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 4))):
            at = chance.randrange(len(mutant))
            match chance.randrange(3):
                case 0:
                    mutant[at] = chance.randrange(256)
                case 1:
                    del mutant[at : at + chance.randrange(1, 6)]
                case _:
                    mutant[at:at] = mutant[at : at + chance.randrange(1, 40)]
        listed += assert_consistent_or_refused(zip_again(bytes(mutant), storages))
    assert listed
