"""Coverage-guided fuzzing of the readers with atheris: each input is read to a consistent listing or refused, quickly, and nothing else.

    scripts/fuzz gguf 1000000          # makes an environment with atheris; inputs and what was found stay in .fuzz/gguf

Seeds are the files of the readers' tests. Checksums (of zip members and of a TensorFlow table's blocks) hold for any bytes while this runs, since no
mutation would get past them. What breaks the rule is written to ``.fuzz/READER/findings``, once for each place it comes from, and the run goes on.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from io import BytesIO
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, BinaryIO

import atheris

from benchmarks.folders import FOLDERS
from benchmarks.keras_folders import draw_folder
from benchmarks.memory_folder import Held, bytes_of, folder_of, scandir

with atheris.instrument_imports(include=["weighbridge.readers"]):
    from weighbridge import readers
    from weighbridge.accounts.parameters import tally_of
    from weighbridge.core.errors import ReadError
    from weighbridge.core.files import LARGEST_CONFIG
    from weighbridge.readers import archive, distributed, packing, pickles, tensorflow, torch_names, torch_storages, zarr
    from weighbridge.readers.listing import Listing, StoredTensor

    modules = {entry.module: import_module(f"weighbridge.readers.{entry.module}") for entry in readers.FORMATS}

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
SECONDS = 2.0
MEGABYTES = 200
LONGEST = 4_096
"""Bytes of an input: what asks for much by its length is the matter of ``benchmarks.bounds``."""


class _Any:
    """Equal to every checksum."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False


def without_checksums() -> None:
    """Let any checksum hold."""
    import zlib

    shim: Any = SimpleNamespace(crc32=lambda data: _Any(), decompressobj=zlib.decompressobj, error=zlib.error)
    archive.zlib = shim
    tensorflow.crc32c = lambda data: 0
    tensorflow._mask = lambda value: _Any()  # type: ignore[assignment,return-value]


def read_from_memory(path: Any, most: int = LARGEST_CONFIG) -> bytes:
    """Read a file as :func:`weighbridge.core.files.read_whole` does, of those that are held in memory."""
    held: bytes = path.read_bytes()
    if len(held) > most:
        raise OSError(27, "File too large")
    return held


def open_from_memory(path: Any) -> BinaryIO:
    """Open a file as :func:`weighbridge.core.files.open_file` does, of those that are held in memory."""
    return BytesIO(path.read_bytes())


def in_memory() -> None:
    """Let the readers of directories walk those that are held in memory, and read their files."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("weighbridge.readers"):
            vars(module).update(
                {name: held for name, held in (("read_whole", read_from_memory), ("open_file", open_from_memory)) if name in vars(module)}
            )
    shim: Any = SimpleNamespace(scandir=scandir)
    zarr.os = shim
    zarr.Path = Held  # type: ignore[assignment,misc]


def by(module: str) -> Callable[[bytes], Listing]:
    return lambda data: modules[module].read(BytesIO(data))


def read_pickle(data: bytes) -> Listing:
    found, _ = pickles.load(data, torch_storages.MAKERS, torch_storages.storage_of)
    return torch_names.listing_of(found, {})


def folder(data: bytes) -> Listing:
    """Read the files that an input describes as a directory, with the config that may lie in it."""
    place: Any = folder_of(data)
    return packing.unpack(readers.read_listing(place), packing.config_beside(place))


KERAS_INDEX = "model.weights.json"


@cache
def _shards_beside() -> dict[str, bytes]:
    return next(_keras_shards())


def keras_index(data: bytes) -> Listing:
    """Read an input as the index of Keras's shards, which lie beside it as they were written."""
    place: Any = Held({**_shards_beside(), KERAS_INDEX: data})
    return readers.read_listing(place)


def keras_folder(data: bytes) -> Listing:
    """Read the folder of shards that an input chooses, and hold the sum to what index and shards agree on."""
    drawn = draw_folder(data)
    place: Any = Held(drawn.files)
    listing = readers.read_listing(place)
    assert not drawn.whole or listing.stored == drawn.elements, f"{listing.stored} elements in place of {drawn.elements}"
    return listing


def zarr_folder(data: bytes) -> Listing:
    place: Any = folder_of(data)
    return zarr.list_zarr(place)


READERS: dict[str, Callable[[bytes], Listing]] = {
    **{name: by(name) for name in ("safetensors", "gguf", "onnx", "flax", "tensorflow", "npz", "torch_zip", "zip_archive", "keras")},
    **{name: by(name) for name in ("npy", "plain_pickle", "tar", "tflite", "executorch", "coreml", "openvino", "ctranslate2")},
    "distributed": lambda data: distributed.listing_from(data),
    "pickle": read_pickle,
    "directory": folder,
    "adapter": folder,
    "keras_index": keras_index,
    "keras_folder": keras_folder,
    "zarr": zarr_folder,
}


def seeds(reader: str) -> Iterator[bytes]:
    """Yield the small files among those that the reader's tests begin with."""
    match reader:
        case "safetensors" | "zip_archive":
            for data in _small("safetensors", "*.safetensors"):
                yield data if reader == "safetensors" else _zip({"model.safetensors": data})
        case "torch_zip":
            for data in _small("torch", "*.pt"):
                yield _zip(_lean(data), zipfile.ZIP_STORED) if data[:2] == b"PK" else data
        case "pickle":
            yield from (_lean(data)["archive/data.pkl"] for data in _small("torch", "*.pt") if data[:2] == b"PK")
        case "keras":
            yield from _hdf5()
        case "flax":
            tests = import_module("tests.unit.readers.test_flax")
            yield tests.pack(
                {"params": {"a": {"kernel": tests.array(3, 4), "bias": tests.array(4)}}, "opt_state": [tests.array(2)], "n": 7}
            )
        case "npy" | "plain_pickle" | "tar" | "tflite" | "executorch" | "coreml" | "openvino" | "ctranslate2" | "distributed":
            for pattern in OTHERS[reader]:
                yield from _small("formats", pattern, 20_000)
        case "keras_index":
            yield from (files[KERAS_INDEX] for files in _keras_shards())
        case "keras_folder":
            yield from (bytes((shards, *(17 + shards + at for at in range(24)))) for shards in range(3))
            yield from (bytes((shards, 5, 9, 18)) for shards in range(3))
        case "directory" | "adapter" | "zarr":
            yield from map(bytes_of, FOLDERS[reader])
        case _:
            yield import_module(f"tests.unit.readers.test_{reader}").SMALL


OTHERS = {
    "npy": ("*.npy", "*.eqx"),
    "plain_pickle": ("tensors.pkl", "arrays-0.pkl", "tiny.pdparams"),
    "tar": ("*.nemo",),
    "tflite": ("*.tflite",),
    "executorch": ("*.pte",),
    "coreml": ("*.mlmodel",),
    "openvino": ("*.xml",),
    "ctranslate2": ("model.bin",),
    "distributed": (".metadata",),
}
"""Files of the formats that other libraries wrote."""


def _small(folder: str, pattern: str, longest: int = LONGEST) -> Iterator[bytes]:
    found = [data for path in sorted((CORPUS / folder).rglob(pattern)) if len(data := path.read_bytes()) <= longest]
    assert found, folder
    yield from found


def _lean(data: bytes) -> dict[str, bytes]:
    """Return the members of a torch file under one folder's name, without those that say nothing of tensors."""
    with zipfile.ZipFile(BytesIO(data)) as opened:
        members = {name.partition("/")[2]: opened.read(name) for name in opened.namelist()}
    return {f"archive/{name}": held for name, held in members.items() if not name.startswith(".")}


def _hdf5() -> Iterator[bytes]:
    """Yield files of one and of a few variables; those of the tests are larger."""
    import h5py

    arrays: list[dict[str, Any]] = [{"kernel": [[1.0, 2.0]]}, {"a/vars/0": [1.0], "optimizer/0": 3}]
    for held in arrays:
        file = BytesIO()
        with h5py.File(file, "w") as opened:
            for name, values in held.items():
                opened[name] = values
        yield file.getvalue()
        yield _zip({"model.weights.h5": file.getvalue()})


def _keras_shards() -> Iterator[dict[str, bytes]]:
    """Yield folders of shards as Keras cuts them up, with their index: a layer in one file, one in two, names with dots."""
    first, second = ({"layers/dense/vars/0": [[1.0, 2.0]]}, {"layers/dense/vars/1": [1.0], "layers/a.b/vars/0": [2.0]})
    names = "model_00000.weights.h5", "model_00001.weights.h5"
    files = {name: _file(arrays) for name, arrays in zip(names, (first, second), strict=True)}
    both: dict[str, object] = {"/layers/dense/vars": list(names), "/layers/a.b/vars": [names[1]]}
    for placed in (both, {**both, "/layers/a.b/vars": names[1]}):
        yield {KERAS_INDEX: json.dumps({"metadata": {"total_size": 32}, "weight_map": placed}).encode(), **files}


def _file(arrays: dict[str, Any]) -> bytes:
    import h5py

    file = BytesIO()
    with h5py.File(file, "w", libver="latest") as opened:
        for name, values in arrays.items():
            opened[name] = values
    return file.getvalue()


def _zip(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = BytesIO()
    with zipfile.ZipFile(file, "w", method) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return file.getvalue()


def check(listing: Listing) -> None:
    """Hold a listing to what every listing promises, and count it."""
    names = {tensor.name for tensor in listing.tensors}
    assert len(names) == len(listing.tensors), "a name stands twice"
    for tensor in listing.tensors:
        assert isinstance(tensor, StoredTensor)
        assert isinstance(tensor.name, str)
        assert all(type(size) is int and size >= 0 for size in tensor.shape), tensor
        assert tensor.size_bytes >= 0, tensor
        assert tensor.stored >= 0, tensor
        assert tensor.tied_to is None or (tensor.tied_to in names and tensor.tied_to != tensor.name), tensor
    unpacked = packing.unpack(listing, None)
    counts = tally_of(readers.as_model(unpacked, "fuzz"))
    rows = readers.rows(unpacked)
    assert isinstance(counts.unique, int)
    assert isinstance(counts.buffers, int)
    own = [(row.role, prod(size for size in row.shape if isinstance(size, int))) for row in rows if row.tied_to is None]
    assert counts.unique == sum(count for role, count in own if role != "buffer"), "the total is not the sum"


class Tally:
    """What the runs of a reader have seen, all together; written down every ten thousand inputs."""

    def __init__(self, reader: str, folder: Path, runs: int) -> None:
        self.reader, self.folder, self.runs = reader, folder, runs
        path = folder / "figures.json"
        earlier = json.loads(path.read_text()) if path.exists() else {}
        self.begun = time.process_time() - earlier.get("seconds", 0)
        self.read, self.refused = earlier.get("read", 0), earlier.get("refused", 0)
        self.before = self.read + self.refused
        self.slowest: float = earlier.get("slowest_seconds", 0.0)
        self.megabytes: int = earlier.get("megabytes", 0)
        self.findings: dict[str, str] = earlier.get("findings", {})

    def keep(self, what: str, data: bytes) -> None:
        """Keep an input that breaks the rule, the first of its kind."""
        if what not in self.findings:
            name = f"{len(self.findings):03}"
            self.findings[what] = name
            (self.folder / "findings" / name).write_bytes(data)
            print(f"finding {name}: {what}", flush=True)

    def count(self, read: bool, seconds: float, data: bytes) -> None:
        """Count one input."""
        self.read += read
        self.refused += not read
        if seconds > self.slowest:
            self.slowest = seconds
            if seconds > SECONDS:
                self.keep(f"takes more than {SECONDS:.0f} s", data)
        inputs = self.read + self.refused
        if not inputs % 10_000 or inputs == self.before + self.runs:
            self.write()

    def write(self) -> None:
        """Write the figures down."""
        held = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
        self.megabytes = max(self.megabytes, int(held) // 1000)
        figures = {
            "reader": self.reader,
            "inputs": self.read + self.refused,
            "read": self.read,
            "refused": self.refused,
            "slowest_seconds": round(self.slowest, 3),
            "megabytes": self.megabytes,
            "seconds": round(time.process_time() - self.begun),
            "findings": self.findings,
        }
        (self.folder / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")


def is_read(act: Callable[[bytes], Listing], data: bytes) -> bool:
    """Tell whether an input is read."""
    try:
        act(data)
    except ReadError:
        return False
    return True


def main() -> None:
    """Fuzz one reader: ``python -m benchmarks.fuzz READER [RUNS [SEED]]``."""
    reader, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    act, folder = READERS[reader], ROOT / ".fuzz" / reader
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    (folder / "findings").mkdir(exist_ok=True)
    longest = LONGEST
    for number, data in enumerate(seeds(reader)):
        longest = max(longest, len(data))
        (folder / "inputs" / f"seed-{number:03}").write_bytes(data)
    without_checksums()
    in_memory()
    if not any(is_read(act, data) for data in seeds(reader)):
        sys.exit(f"{reader}: none of its seeds is read: nothing would be found")
    tally = Tally(reader, folder, runs)

    def one(data: bytes) -> None:
        begun = time.process_time()
        read = True
        try:
            check(act(data))
        except ReadError:
            read = False
        except BaseException as error:  # whatever it is, it should not have come out
            place = traceback.extract_tb(error.__traceback__)[-1]
            tally.keep(f"{type(error).__name__} {Path(place.filename).name}:{place.lineno} {error!s:.100}", data)
        tally.count(read, time.process_time() - begun, data)

    arguments = [
        sys.argv[0],
        str(folder / "inputs"),
        f"-runs={runs}",
        f"-max_len={longest}",
        "-timeout=60",
        f"-rss_limit_mb={MEGABYTES}",
        "-print_final_stats=0",
        "-verbosity=1",
        f"-seed={sys.argv[3] if len(sys.argv) > 3 else 0}",
    ]
    atheris.Setup(arguments, one)
    gc.freeze()
    atheris.Fuzz()


if __name__ == "__main__":
    main()
