"""Coverage-guided fuzzing of the readers with atheris: each input is read to a consistent listing or refused, quickly, and nothing else.

    scripts/fuzz gguf 1000000          # makes an environment with atheris; inputs and what was found stay in .fuzz/gguf

Seeds are the files of the readers' tests. Checksums (of zip members and of a TensorFlow table's blocks) hold for any bytes while this runs, since no
mutation would get past them. What breaks the rule is written to ``.fuzz/READER/findings``, once for each place it comes from, and the run goes on.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from io import BytesIO
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import atheris

with atheris.instrument_imports(include=["weighbridge.readers"]):
    from weighbridge import readers
    from weighbridge.errors import ReadError
    from weighbridge.readers import archive, packing, pickles, safetensors, tensorflow, text, torch_names, torch_zip
    from weighbridge.readers.listing import Listing, Stored

    modules = {entry.module: import_module(f"weighbridge.readers.{entry.module}") for entry in readers.FORMATS}

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "tests" / "corpus"
SECONDS = 2.0
LONGEST = 65_536
"""Bytes of an input: an HDF5 file has thousands before its first variable."""


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
    tensorflow._masked = lambda value: _Any()  # type: ignore[assignment,return-value]


def by(module: str) -> Callable[[bytes], Listing]:
    return lambda data: modules[module].read(BytesIO(data))


def pickled(data: bytes) -> Listing:
    found, _ = pickles.load(data, torch_zip.MAKERS, torch_zip.storage_of)
    return torch_names.listing_of(found, {})


def indexed(data: bytes) -> Listing:
    text.parse_object(text.shortened(data, "the index"), "the index")
    return safetensors.parse(data, int.from_bytes(data[-2:], "little"))


READERS: dict[str, Callable[[bytes], Listing]] = {
    **{name: by(name) for name in ("safetensors", "gguf", "onnx", "flax", "tensorflow", "npz", "torch_zip", "zipped", "keras")},
    "pickle": pickled,
    "json": indexed,
}


def seeds(reader: str) -> Iterator[bytes]:
    """Yield the files that the reader's tests begin with."""
    if reader in ("safetensors", "json", "zipped"):
        for path in sorted((CORPUS / "safetensors").rglob("*.safetensors")):
            data = path.read_bytes()
            yield data if reader == "safetensors" else data[8:] if reader == "json" else _zip({"model.safetensors": data})
    elif reader in ("torch_zip", "pickle"):
        for path in sorted((CORPUS / "torch" / "valid").glob("*.pt")):
            whole = path.read_bytes()
            if reader == "torch_zip":
                yield whole
            elif whole[:2] == b"PK":
                yield next(data for name, data in _unzip(whole).items() if name.endswith("/data.pkl"))
    elif reader == "keras":
        tests = import_module("tests.unit.readers.test_keras")
        yield tests.written(tests.LEGACY)
    else:
        yield import_module(f"tests.unit.readers.test_{reader}").SMALL


def _zip(members: dict[str, bytes]) -> bytes:
    import zipfile

    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return file.getvalue()


def _unzip(data: bytes) -> dict[str, bytes]:
    import zipfile

    with zipfile.ZipFile(BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def check(listing: Listing) -> None:
    """Hold a listing to what every listing promises, and count it."""
    names = {tensor.name for tensor in listing.tensors}
    assert len(names) == len(listing.tensors), "a name stands twice"
    for tensor in listing.tensors:
        assert isinstance(tensor, Stored)
        assert isinstance(tensor.name, str)
        assert all(type(size) is int and size >= 0 for size in tensor.shape), tensor
        assert tensor.size_bytes >= 0, tensor
        assert tensor.stored >= 0, tensor
        assert tensor.tied_to is None or (tensor.tied_to in names and tensor.tied_to != tensor.name), tensor
    unpacked = packing.unpack(listing, None)
    counts = readers.as_model(unpacked, "fuzz").count()
    rows = readers.rows(unpacked)
    assert isinstance(counts.unique, int)
    assert isinstance(counts.buffers, int)
    own = [(row.role, prod(size for size in row.shape if isinstance(size, int))) for row in rows if row.tied_to is None]
    assert counts.unique == sum(count for role, count in own if role != "buffer"), "the total is not the sum"


class Tally:
    """What a run has seen; written down every ten thousand inputs."""

    def __init__(self, reader: str, folder: Path) -> None:
        self.reader, self.folder = reader, folder
        self.begun = time.time()
        self.read = self.refused = 0
        self.slowest = 0.0
        self.findings: dict[str, str] = {}

    def found(self, what: str, data: bytes) -> None:
        """Keep an input that breaks the rule, the first of its kind."""
        if what not in self.findings:
            name = f"{len(self.findings):03}"
            self.findings[what] = name
            (self.folder / "findings" / name).write_bytes(data)
            print(f"finding {name}: {what}", flush=True)

    def write(self) -> None:
        """Write the figures down."""
        held = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
        figures = {"reader": self.reader, "inputs": self.read + self.refused, "read": self.read, "refused": self.refused,
                   "slowest_seconds": round(self.slowest, 3), "megabytes": int(held) // 1000, "seconds": round(time.time() - self.begun),
                   "findings": self.findings}  # fmt: skip
        (self.folder / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")


def main() -> None:
    """Fuzz one reader: ``python -m benchmarks.fuzz READER [RUNS]``."""
    reader, runs = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "100000"
    act, folder = READERS[reader], ROOT / ".fuzz" / reader
    (folder / "inputs").mkdir(parents=True, exist_ok=True)
    (folder / "findings").mkdir(exist_ok=True)
    for number, data in enumerate(seeds(reader)):
        (folder / "inputs" / f"seed-{number:03}").write_bytes(data)
    without_checksums()
    tally = Tally(reader, folder)

    def one(data: bytes) -> None:
        begun = time.process_time()
        try:
            check(act(data))
            tally.read += 1
        except ReadError:
            tally.refused += 1
        except BaseException as error:  # whatever it is, it should not have come out
            tally.read += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            tally.found(f"{type(error).__name__} {Path(place.filename).name}:{place.lineno} {error!s:.100}", data)
        taken = time.process_time() - begun
        tally.slowest = max(tally.slowest, taken)
        if taken > SECONDS:
            tally.found(f"takes more than {SECONDS:.0f} s", data)
        if not (tally.read + tally.refused) % 10_000:
            tally.write()

    arguments = [
        sys.argv[0],
        str(folder / "inputs"),
        f"-runs={runs}",
        f"-max_len={LONGEST}",
        "-timeout=60",
        "-rss_limit_mb=2000",
        "-print_final_stats=0",
    ]
    atheris.Setup(arguments, one)
    tally.write()
    atheris.Fuzz()


if __name__ == "__main__":
    main()
