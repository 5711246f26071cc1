"""Checkpoints that no tool wrote: a header of every format with what its reader could stumble over; and indexes that lead elsewhere."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests.hostile.configs import ANY, REFUSED
from tests.unit.readers.test_inert import CALLS, CONTAINERS, GGUF_FILES, array, pickle_of, zip_of
from tests.unit.safetensors_file import head, whole

HUGE = (1 << 63) - 1


class HostileFile(NamedTuple):
    """One checkpoint.

    Attributes:
        name: What is hostile in it.
        file: What it is called.
        made: Its bytes, or what makes them, for an archive that takes seconds.
        expected: ``refused``; the exact number of elements that it stores; or ``any``.
        beside: Further files of its folder.
        length: To how many bytes it is made longer, with nothing.
    """

    name: str
    file: str
    made: bytes | Callable[[], bytes]
    expected: int | str = REFUSED
    beside: tuple[tuple[str, bytes], ...] = ()
    length: int = 0

    @property
    def data(self) -> bytes:
        """Its bytes, made once, and only where they are asked for."""
        return self.made if isinstance(self.made, bytes) else _make_once(self.made)


@cache
def _make_once(make: Callable[[], bytes]) -> bytes:
    return make()


def safetensors(header: object, data: int = 0) -> bytes:
    """Return a file with this header, text or object."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + bytes(data)


def one(name: str = "w", dtype: Any = "F32", shape: Any = (4,), offsets: Any = (0, 16), data: int = 16) -> bytes:
    """Return a file of one tensor, by default an honest one."""
    return safetensors({name: {"dtype": dtype, "shape": shape, "data_offsets": offsets}}, data)


SAFETENSORS = {
    "nothing": b"", "a byte": b"\0", "a length alone": (10).to_bytes(8, "little"), "a length of 2^64": b"\xff" * 8 + b"{}",
    "a length of 100 MB": (100_000_001).to_bytes(8, "little") + b"{}", "no header": bytes(8), "a list": safetensors([]), "null": safetensors(None),
    "nested": safetensors(b'{"a":' * 50_000), "nested lists": safetensors(b"[" * 100_000), "not UTF-8": safetensors(b'{"\xff": 1}'),
    "half a pair": safetensors(b'{"\\ud800":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}}', 16), "a key twice": safetensors(b'{"a":1,"a":2}'),
    "a tensor twice": safetensors(b'{"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}}', 16),
    "a field twice": safetensors(b'{"w":{"dtype":"F32","shape":[2],"shape":[4],"data_offsets":[0,16]}}', 16),
    "a tensor that is a number": safetensors({"w": 5}), "no shape": safetensors({"w": {"dtype": "F32", "data_offsets": [0, 16]}}, 16),
    "a shape of texts": one(shape=["4"]), "a shape of floats": one(shape=[4.0]), "a shape of truths": one(shape=[True, True, True, 4]), "a negative shape": one(shape=[-4]),
    "two negative sizes": one(shape=[-2, -2]), "a shape that is no list": one(shape=4), "a shape of 2^64": one(shape=[2**64]), "a shape that wraps": one(shape=[2**32, 2**32, 4]),
    "a shape of 10^40": one(shape=[10**40]), "a shape of NaN": one(shape=[float("nan")]), "10,000 dimensions": one(shape=[1] * 10_000 + [4]), "shape and bytes disagree": one(shape=[5]),
    "offsets that turn back": one(offsets=[16, 0]), "negative offsets": one(offsets=[-16, 0]), "offsets beyond the file": one(offsets=[0, 16], data=8),
    "bytes behind the tensors": one(data=20), "a hole": safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}, 8), "an unknown type": one(dtype="F31"),
    "tensors that overlap": safetensors({k: {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]} for k in "ab"}, 16), "a type that is a list": one(dtype=["F32"]),
    "offsets of texts": one(offsets=["0", "16"]), "three offsets": one(offsets=[0, 8, 16]), "offsets of 2^80": one(offsets=[0, 2**80]), "metadata that is a list": safetensors({"__metadata__": []}),
    "metadata of numbers": safetensors({"__metadata__": {"a": 5}}), "a header of blanks": safetensors(b" " * 1000), "zero bytes behind the header": safetensors(b'{}\0\0\0'),
    "more behind the object": safetensors(b"{}{}"), "4,300 digits": safetensors(b'{"w":{"dtype":"F32","shape":[' + b"9" * 4301 + b'],"data_offsets":[0,16]}}', 16),
}  # fmt: skip


def gguf(tensors: int, keys: int, body: bytes = b"", version: int = 3) -> bytes:
    """Return a file with these counts, whatever follows."""
    return b"GGUF" + struct.pack("<IQQ", version, tensors, keys) + body


def text(value: bytes) -> bytes:
    """Return a text of GGUF."""
    return struct.pack("<Q", len(value)) + value


GGUFS = {
    "the magic alone": b"GGUF",
    "version 0": gguf(0, 0, version=0),
    "version 999": gguf(0, 0, version=999),
    "the other end first": b"GGUF" + struct.pack(">IQQ", 3, 1, 0),
    "version 1": gguf(0, 0, version=1),
    "a key that is no UTF-8": gguf(0, 1, text(b"\xff") + struct.pack("<II", 4, 1)),
    "a type that is none": gguf(0, 1, text(b"a") + struct.pack("<I", 99)),
    "a truth that is neither": gguf(0, 1, text(b"a") + struct.pack("<IB", 7, 9)),
    "a key twice": gguf(0, 2, 2 * (text(b"a") + struct.pack("<II", 4, 1))),
    "two tensors of one name": gguf(2, 0, 2 * (text(b"w") + struct.pack("<IQIQ", 1, 4, 0, 0)) + bytes(64)),
    "a tensor of no name": gguf(1, 0, text(b"") + struct.pack("<IQIQ", 1, 4, 0, 0) + bytes(64)),
    "a shape of zeros": gguf(1, 0, text(b"w") + struct.pack("<IQQIQ", 2, 0, 0, 0, 0) + bytes(64)),
    "an offset beyond the file": gguf(1, 0, text(b"w") + struct.pack("<IQIQ", 1, 4, 0, HUGE) + bytes(64)),
}


def npy(header: bytes, version: bytes = b"\x01\x00") -> bytes:
    """Return an array's file with this header."""
    length = struct.pack("<H" if version[0] == 1 else "<I", len(header))
    return b"\x93NUMPY" + version + length + header


NPYS = {
    "the magic alone": b"\x93NUMPY",
    "version 9": npy(b"{}", b"\x09\x00"),
    "code": npy(b"__import__('os').system('true')\n"),
    "nested": npy(b"(" * 60_000),
    "a shape of texts": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': ('4',), }\n"),
    "a negative shape": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }\n"),
    "a shape of 2^64": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,), }\n"),
    "a power": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (9**9**9,), }\n"),
    "fields": npy(b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }\n"),
    "a length beyond the file": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
    "more than the file holds": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n"),
    "a key twice": npy(b"{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }\n") + bytes(4),
}


def bomb(levels: int) -> bytes:
    """Return an archive in an archive in an archive; the innermost holds 10 MB of nothing."""
    data = zip_of({"data.pkl": bytes(10_000_000)}, zipfile.ZIP_DEFLATED)
    for _ in range(levels):
        data = zip_of({f"archive/{number}.zip": data for number in range(10)}, zipfile.ZIP_DEFLATED)
    return data


def overlapping(count: int) -> bytes:
    """Return an archive whose directory names one member over and over."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({}, 2))
    data = file.getvalue()
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entry = data[start:end]
    tail = bytearray(data[end:])
    struct.pack_into("<HHI", tail, 8, count, count, len(entry) * count)
    return data[:start] + entry * count + bytes(tail)


def tar(*names: str, link: str = "") -> bytes:
    """Return an archive with members of these names, and a link if one is asked for."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 4
            archive.addfile(entry, io.BytesIO(b"test"))
        if link:
            entry = tarfile.TarInfo("model_weights.ckpt")
            entry.type, entry.linkname = tarfile.SYMTYPE, link
            archive.addfile(entry)
    return file.getvalue()


STATE = pickle.dumps({}, 2)
ARCHIVES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a bomb": ("x.pt", lambda: zip_of({"archive/data.pkl": bytes(200_000_000)}, zipfile.ZIP_DEFLATED)), "archives in archives": ("x.pt", lambda: bomb(3)), "archives as arrays": ("x.npz", lambda: bomb(2)),
    "arrays that are a bomb": ("x.npz", lambda: zip_of({"a.npy": npy(b"{'descr': '<f4', 'fortran_order': False, 'shape': (50000000,), }\n") + bytes(200_000_000)}, zipfile.ZIP_DEFLATED)),
    "one member 60,000 times": ("x.pt", lambda: overlapping(60_000)), "a member that is up": ("x.pt", lambda: zip_of({"../data.pkl": STATE})), "a member of the root": ("x.pt", lambda: zip_of({"/etc/data.pkl": STATE})),
    "a member of Windows": ("x.pt", lambda: zip_of({"C:\\data.pkl": STATE, "archive\\data.pkl": STATE})), "a member of no name": ("x.npz", lambda: zip_of({" ": b"x"})), "a member with a zero byte": ("x.pt", lambda: zip_of({"archive/data.pkl\0.txt": STATE})),
    "no directory": ("x.pt", lambda: zip_of({"archive/data.pkl": STATE})[:-22]), "a directory beyond the file": ("x.pt", lambda: zip_of({"archive/data.pkl": STATE})[:-6] + b"\xff\xff\xff\xff\0\0"),
    "65,000 members": ("x.npz", lambda: zip_of({f"{number}.npy": b"" for number in range(65_000)})), "a comment that is an archive": ("x.pt", lambda: zip_of({"archive/data.pkl": STATE}) + zip_of({"b/data.pkl": STATE})),
    "a gzip bomb": ("x.pt", lambda: gzip.compress(bytes(100_000_000), 9)), "a zlib bomb": ("x.joblib", lambda: zlib.compress(bytes(100_000_000), 9)), "a tar that leaves": ("x.nemo", lambda: tar("../../x", "/etc/x", "a/../../b")),
    "a tar of links": ("x.nemo", lambda: tar("model_config.yaml", link="/etc/passwd")), "a tar without end": ("x.nemo", lambda: tar("a")[:600]), "a tar of a size of 2^70": ("x.nemo", lambda: tar("a").replace(b"00000000004", b"77777777777")),
}  # fmt: skip

MSGPACKS = {
    "nothing": b"",
    "nested maps": b"\x81\xa1a" * 100_000,
    "nested lists": b"\x91" * 100_000,
    "a map of 2^32": b"\xdf\xff\xff\xff\xff",
    "a text of 2^32": b"\xdb\xff\xff\xff\xff",
    "a key that is a list": b"\x81\x90\x01",
    "an array of a negative shape": b"\x81\xa1w\xc7\x10\x01" + b"\x93\x91\xff\xa7float32\xc4\x04" + bytes(4),
    "half": b"\x81\xa1w",
}
KERAS = {
    "no weights": zip_of({"config.json": b"{}", "metadata.json": b"{}"}),
    "weights that are none": zip_of({"config.json": b"{}", "metadata.json": b"{}", "model.weights.h5": b"x" * 100}),
    "a config nested without end": zip_of(
        {"config.json": b"[" * 100_000, "metadata.json": b"{}", "model.weights.h5": b"\x89HDF\r\n\x1a\n"}
    ),
}
OTHERS = {
    ("an HDF5 superblock alone", "x.h5"): b"\x89HDF\r\n\x1a\n", ("HDF5 of ones", "x.h5"): b"\x89HDF\r\n\x1a\n" + b"\xff" * 500, ("HDF5 of nothing", "x.h5"): b"\x89HDF\r\n\x1a\n" + bytes(500),
    ("ONNX of ones", "x.onnx"): b"\xff" * 500, ("ONNX of nothing", "x.onnx"): b"", ("a message that ends", "x.onnx"): b"\x3a\xff\xff\xff\xff\x0f", ("messages in messages", "x.onnx"): b"\x3a\x7f" * 5000,
    ("a TF index of nothing", "x.ckpt.index"): bytes(100), ("a TF index of ones", "x.ckpt.index"): b"\xff" * 100, ("TFLite alone", "x.tflite"): b"\x1c\0\0\0TFL3", ("TFLite of ones", "x.tflite"): b"\xff\xff\xff\x7fTFL3" + b"\xff" * 100,
    ("ExecuTorch alone", "x.pte"): b"\x1c\0\0\0ET12", ("Core ML of ones", "x.mlmodel"): b"\xff" * 100, ("OpenVINO that laughs", "x.xml"): b'<?xml version="1.0"?><!DOCTYPE n [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><net name="&b;"/>',
    ("OpenVINO of no layers", "x.xml"): b'<?xml version="1.0"?><net name="x"/>', ("OpenVINO, nested", "x.xml"): b"<a>" * 100_000, ("ggml", "x.ggml"): b"lmgg" + bytes(100), ("CTranslate2", "model.bin"): struct.pack("<IH", 6, 65535),
    ("a script", "x.pt"): b"#!/bin/sh\ntrue\n", ("HTML", "model.safetensors"): b"<!DOCTYPE html><html>", ("an LFS pointer", "model.safetensors"): b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n",
    ("nothing", "x.bin"): b"", ("zeros", "x.bin"): bytes(10_000), ("ones", "x.bin"): b"\xff" * 10_000, ("a picture", "x.gguf"): b"\x89PNG\r\n\x1a\n" + bytes(100), ("an unknown ending", "x.weights"): b"abc" * 100,
}  # fmt: skip
PICKLES = {
    "a stop alone": b".",
    "a memo of 2^32": b"\x80\x02}r\xff\xff\xff\xff.",
    "lists in lists": b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    "tuples in tuples": b"\x80\x02)" + b"\x85" * 100_000 + b".",
    "a list of itself": b"\x80\x02]q\0h\0a.",
    "a mapping of itself": b"\x80\x02}q\0U\x01ah\0s.",
    "a text of 2^31": b"\x80\x02T\xff\xff\xff\x7f",
    "a negative length": b"\x80\x02T\xff\xff\xff\xffx.",
    "a number of a megabyte": b"\x80\x02\x8b" + struct.pack("<i", 1_000_000) + b"\x01" * 1_000_000 + b".",
    "marks": b"(" * 100_000 + b".",
    "a persistent name": b"\x80\x02U\x01aQ.",
    "an extension": b"\x80\x02\x82\x01.",
}
NAMES = (
    "../model.safetensors", "/etc/passwd", "..\\\\model.safetensors", "C:\\\\model.safetensors", "C:model.safetensors", "\\\\\\\\server\\\\share", "\\\\\\\\?\\\\C:\\\\x", "a/b.safetensors", "./a.safetensors", ".", "..", "",
    "CON", "nul", "AUX.safetensors", "com1", "COM1.safetensors", "LPT9.bin", "PRN ", "CONIN$", "a:b", "a.safetensors:stream", "a.safetensors.", "a.safetensors ", "a?b", "a*b", "a|b", "a<b", '\\"a\\"', "a\\u0000b", "a\\u001b[2J",
    "a\\nb", "\\u202egnp", "\\ud800", "~/x", "$HOME/x", "file:///etc/passwd", "http://127.0.0.1/x", "x" * 300, "%2e%2e%2fx", "a\\tb",
)  # fmt: skip
"""Where an index may lead, as JSON writes it: elsewhere on this disk, on one of Windows, to a device, to a terminal."""


def indexes() -> Iterator[HostileFile]:
    """Yield indexes of sharded checkpoints whose shards lie elsewhere, or that are none."""
    shard = (("a.safetensors", whole({"w": (4,)})),)
    for place in NAMES:
        data = f'{{"weight_map": {{"w": "{place}"}}}}'.encode()
        yield HostileFile(f"an index to {place[:40]}", "model.safetensors.index.json", data, REFUSED, shard)
    odd: dict[str, object] = {
        "a list": [],
        "no weight_map": {},
        "a weight_map that is a list": {"weight_map": []},
        "a shard that is a number": {"weight_map": {"w": 5}},
        "a shard that is a list": {"weight_map": {"w": ["a.safetensors"]}},
        "a tensor that is nowhere": {"weight_map": {"w": "a.safetensors", "v": "a.safetensors"}},
        "20,000 shards": {"weight_map": {f"w{n}": f"a{n}.safetensors" for n in range(20_000)}},
        "metadata that is a list": {"metadata": [1], "weight_map": {"w": "a.safetensors"}},
        "a shard that is the index": {"weight_map": {"w": "model.safetensors.index.json"}},
    }
    for name, value in odd.items():
        yield HostileFile(f"an index: {name}", "model.safetensors.index.json", json.dumps(value).encode(), REFUSED, shard)
    claims = {"metadata": {"total_size": 10**4299, "total_parameters": "\x1b[2J"}, "weight_map": {"w": "a.safetensors"}}
    yield HostileFile("an index that claims", "model.safetensors.index.json", json.dumps(claims).encode(), 4, shard)
    yield HostileFile("an index nested without end", "model.safetensors.index.json", b"[" * 100_000, REFUSED, shard)
    yield HostileFile(
        "an index with a key twice",
        "model.safetensors.index.json",
        b'{"weight_map": {"w": "a.safetensors", "w": "b.safetensors"}}',
        REFUSED,
        shard,
    )


def hostile_files() -> Iterator[HostileFile]:
    """Yield all of them; their names are unique."""
    for name, data in SAFETENSORS.items():
        yield HostileFile(f"safetensors: {name}", "model.safetensors", data)
    first, behind = head({"w": (1 << 26, 1 << 12)})
    yield HostileFile("safetensors: a tebibyte of holes", "model.safetensors", first, 1 << 38, length=len(first) + behind)
    yield HostileFile("safetensors: honest", "model.safetensors", one(), 4)
    yield HostileFile("safetensors: no tensors", "model.safetensors", safetensors({}), ANY)
    yield HostileFile("safetensors: an empty tensor", "model.safetensors", one(shape=[0], offsets=[0, 0], data=0), ANY)
    for table, label, file in (
        (GGUFS, "GGUF", "x.gguf"),
        (GGUF_FILES, "GGUF, advisory", "x.gguf"),
        (NPYS, "array", "x.npy"),
        (MSGPACKS, "msgpack", "flax_model.msgpack"),
        (KERAS, "Keras", "x.keras"),
    ):
        for name, data in table.items():
            expected = (
                ANY
                if "resource" in name or name in ("a shape of zeros", "version 1", "the other end first", "half", "nothing")
                else REFUSED
            )
            yield HostileFile(f"{label}: {name}", file, data, expected)
    for name, (file, made) in ARCHIVES.items():
        yield HostileFile(f"archive: {name}", file, made, ANY)
    for (name, file), data in OTHERS.items():
        yield HostileFile(f"other: {name}", file, data)
    for name, data in PICKLES.items():
        yield HostileFile(f"pickle: {name}", "x.pkl", data)
        yield HostileFile(f"torch: {name}", "x.pt", zip_of({"archive/data.pkl": data, "archive/version": b"3\n"}))
    for name, (file, make) in CONTAINERS.items():
        yield HostileFile(f"code in: {name}", file, make(pickle_of(CALLS["reduce"]("builtins.exec"))), ANY)
    yield HostileFile("array of objects", "x.npy", array(pickle.dumps([1])), ANY)
    yield from indexes()


def write(file: HostileFile, folder: Path) -> Path:
    """Write one with what lies beside it; return the place of the file itself."""
    for name, data in file.beside:
        (folder / name).write_bytes(data)
    path = folder / file.file
    with path.open("wb") as opened:
        opened.write(file.data)
        if file.length:
            opened.truncate(file.length)
    return path
