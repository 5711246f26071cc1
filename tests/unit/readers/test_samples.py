"""Where tensors lie in files of each format: their very bytes, and samples of two compared."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.unit.readers.test_gguf import whole
from weighbridge.readers import read_listing
from weighbridge.readers.samples import Extent, compare, find

TORCH = sorted((Path(__file__).parents[2] / "corpus" / "torch" / "valid").glob("*.pt"))
ZIPPED = [path for path in TORCH if zipfile.is_zipfile(path)]
assert ZIPPED


@pytest.mark.parametrize("path", ZIPPED, ids=lambda path: path.stem)
def test_torch_archives(path: Path) -> None:
    listing = {tensor.name: tensor for tensor in read_listing(path).tensors}
    places = find(path, listing)
    size = path.stat().st_size
    for name, place in places.items():
        tensor = listing[name]
        assert place.dtype == tensor.dtype and 0 <= place.begin <= place.begin + place.size <= size
        if tensor.tied_to is None and tensor.elements is None:
            assert place.size == tensor.size_bytes
        if tensor.tied_to in places and place.size == places[tensor.tied_to].size:
            found = compare(place, places[tensor.tied_to], thorough=True)
            assert found is None or found.equal or place.begin != places[tensor.tied_to].begin


def test_gguf_tensors_lie_where_their_bytes_are(tmp_path: Path) -> None:
    data = bytearray(whole([("one.weight", (64, 10), 8), ("two.weight", (64, 10), 8), ("three.weight", (8,), 0)]))
    path = tmp_path / "model.gguf"
    path.write_bytes(data)
    places = find(path, ["one.weight", "two.weight", "three.weight"])
    assert [place.size for place in places.values()] == [680, 680, 32]
    same = compare(places["one.weight"], places["two.weight"])
    assert same is not None and same.equal and same.whole
    data[places["two.weight"].begin + 7] = 1
    path.write_bytes(data)
    other = compare(places["one.weight"], places["two.weight"])
    assert other is not None and other.differs_at == 7
    path.write_bytes(data[: places["two.weight"].begin])
    assert compare(places["one.weight"], places["two.weight"]) is None


def test_places_end_with_the_last_tensor(tmp_path: Path) -> None:
    data = whole([("one.weight", (64, 10), 8), ("three.weight", (8,), 0)])
    (tmp_path / "model.gguf").write_bytes(data)
    place = find(tmp_path / "model.gguf", ["three.weight"])["three.weight"]
    assert place == Extent(tmp_path / "model.gguf", len(data) - 32, 32, "F32")


def test_what_no_format_tells_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no tensors")
    assert find(tmp_path / "notes.txt", ["w"]) == {}
    assert find(tmp_path, ["w"]) == {}
