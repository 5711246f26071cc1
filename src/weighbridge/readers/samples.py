"""Where a tensor's bytes lie in a file, and whether those of two tensors are the same: by a few short reads, or by reading all.

Headers tell shapes, and a shape cannot tell a copy from a second tensor. One byte that differs proves that two tensors
are separate; equal samples make a copy likely; only reading both to the end proves one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.files import open_file
from weighbridge.readers import flax, gguf, keras, npz, safetensors, tensorflow, torch_zip
from weighbridge.readers.directory import candidates
from weighbridge.readers.shards import KERAS_INDEX, keras_shards, read_index

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = 4
"""How many places are read of each tensor."""
SAMPLE_BYTES = 1024
"""Bytes read at each place."""
CHUNK = 1 << 20
"""Bytes read at once where all are read."""


class Extent(NamedTuple):
    """Where a tensor's bytes lie: the file, the first byte, how many, and of which type the elements are."""

    path: Path
    begin: int
    size: int
    dtype: str


class Comparison(NamedTuple):
    """What reading two tensors showed.

    Attributes:
        equal: Whether no byte that was read differs.
        read: Bytes compared.
        size: Bytes that each tensor has.
        differs_at: The first byte that differs, counted from the tensor's begin, or None.
    """

    equal: bool
    read: int
    size: int
    differs_at: int | None = None

    @property
    def whole(self) -> bool:
        """Whether every byte was compared."""
        return self.read == self.size


def find(path: Path, names: Iterable[str]) -> dict[str, Extent]:
    """Return where the tensors of these names lie, as far as the format tells; what it does not tell is left out.

    Args:
        path: A file, the index of a sharded checkpoint, or a directory.
        names: As the file has them.
    """
    wanted, found = set(names), dict[str, Extent]()
    for file in _files(path, wanted):
        if wanted <= found.keys():
            break
        found.update({name: place for name, place in _extents(file).items() if name in wanted})
    return found


def compare(one: Extent, other: Extent, *, thorough: bool = False) -> Comparison | None:
    """Compare the bytes of two tensors; None if they cannot be compared byte by byte.

    Args:
        one, other: Where they lie.
        thorough: Read all of both, up to the first byte that differs.
    """
    if one.size != other.size or one.dtype != other.dtype or not one.size:
        return None
    read = 0
    with open_file(one.path) as first, open_file(other.path) as second:
        for at, length in _all_chunks(one.size) if thorough else _sample_ranges(one.size):
            left, right = _take(first, one.begin + at, length), _take(second, other.begin + at, length)
            if len(left) != length or len(right) != length:
                return None
            if left != right:
                place = next(n for n in range(length) if left[n] != right[n])
                return Comparison(False, read + length, one.size, at + place)
            read += length
    return Comparison(True, read, one.size)


def _take(file: BinaryIO, at: int, length: int) -> bytes:
    file.seek(at)
    return file.read(length)


def _all_chunks(size: int) -> Iterable[tuple[int, int]]:
    return ((at, min(CHUNK, size - at)) for at in range(0, size, CHUNK))


def _sample_ranges(size: int) -> list[tuple[int, int]]:
    """Return places spread over a tensor; the ends are left out, where rows of padding are often alike."""
    if size <= SAMPLES * SAMPLE_BYTES:
        return [(0, size)]
    step = size // SAMPLES
    return [(n * step + (step - SAMPLE_BYTES) // 2, SAMPLE_BYTES) for n in range(SAMPLES)]


def _files(path: Path, names: set[str]) -> list[Path]:
    """Return the files in which tensors of these names can be."""
    if path.is_dir():
        found = candidates(path)
        if not found:
            return []
        if found[0].index_name is None:
            return [path / name for name in found[0].files]
        path /= found[0].index_name
    if path.name.endswith(KERAS_INDEX):
        return list(keras_shards(path))
    if path.name.endswith(".index.json"):
        weight_map = read_index(path).weight_map
        return [path.parent / name for name in dict.fromkeys(weight_map[name] for name in sorted(names) if name in weight_map)]
    return [path]


def _extents(path: Path) -> dict[str, Extent]:
    """Return where the tensors of one file lie; nothing where its format does not tell, or packs them."""
    try:
        with open_file(path) as file:
            head = file.read(4096)
            if tensorflow.sniff(head):
                return _in_shards(path, file)
            for format_ in (gguf, torch_zip, keras, npz, flax, safetensors):
                if format_.sniff(head):
                    return {name: Extent(path, *place) for name, place in format_.extents(file).items()}
    except (OSError, ReadError):
        return {}
    return {}


def _in_shards(index: Path, file: BinaryIO) -> dict[str, Extent]:
    """Return where the tensors of a TensorFlow checkpoint lie, in the data shards beside its index."""
    stem = index.name.removesuffix(".index")
    places = tensorflow.extents(file).items()
    found = {name: Extent(index.parent / f"{stem}{ending}", begin, size, dtype) for name, (ending, begin, size, dtype) in places}
    return {name: extent for name, extent in found.items() if extent.path.is_file()}
