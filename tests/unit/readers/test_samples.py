"""Where tensors lie in files of each format: their very bytes, and samples of two compared."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.unit.readers.test_flax import array as flax_array
from tests.unit.readers.test_flax import pack
from tests.unit.readers.test_gguf import whole
from tests.unit.readers.test_tensorflow import SMALL
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


def test_formats_of_other_libraries(tmp_path: Path) -> None:
    """The bytes of each array are where the format says, as the library that wrote it reads them."""
    np, h5py = pytest.importorskip("numpy"), pytest.importorskip("h5py")
    arrays = {"one": np.arange(12, dtype="f4").reshape(3, 4), "two": np.arange(5, dtype="f2")}
    np.savez(tmp_path / "x.npz", **arrays)
    with h5py.File(tmp_path / "x.h5", "w") as opened:
        for name, array in arrays.items():
            opened[name] = array
    with zipfile.ZipFile(tmp_path / "x.keras", "w") as archive:
        archive.writestr("metadata.json", "{}")
        archive.write(tmp_path / "x.h5", "model.weights.h5")
    for ending in ("npz", "h5", "keras"):
        path = tmp_path / f"x.{ending}"
        for name, place in find(path, arrays).items():
            with path.open("rb") as file:
                file.seek(place.begin)
                assert file.read(place.size) == arrays[name].tobytes(), (ending, name)
        assert find(path, arrays).keys() == arrays.keys(), ending


def test_arrays_of_flax_lie_behind_their_lengths(tmp_path: Path) -> None:
    path = tmp_path / "x.msgpack"
    path.write_bytes(pack({"params": {"one": flax_array(3, 4), "two": flax_array(70)}}))
    places = find(path, ["one", "two"])
    assert [place.size for place in places.values()] == [48, 280]
    for place in places.values():
        assert path.read_bytes()[place.begin - 5 : place.begin] == b"\xc6" + place.size.to_bytes(4, "big")


@pytest.mark.parametrize("path", [path for path in TORCH if not zipfile.is_zipfile(path)], ids=lambda path: path.stem)
def test_files_of_torch_before_1_6(path: Path) -> None:
    listing = {tensor.name: tensor for tensor in read_listing(path).tensors}
    modern = path.with_name(path.name.replace("_legacy", ""))
    places, same = find(path, listing), find(modern, listing)
    assert places
    for name, place in places.items():
        found = compare(place, same[name], thorough=True) if name in same else None
        assert found is None or (found.equal and found.whole), name


def test_tensors_of_tensorflow_lie_in_the_shards_beside_their_index(tmp_path: Path) -> None:
    (tmp_path / "x.index").write_bytes(SMALL)
    assert find(tmp_path / "x.index", ["layer-0.bias"]) == {}
    (tmp_path / "x.data-00000-of-00001").write_bytes(bytes(1000))
    place = find(tmp_path / "x.index", ["layer-0.bias"])["layer-0.bias"]
    assert (place.path.name, place.size, place.dtype) == ("x.data-00000-of-00001", 8, "BF16")
