"""Files that ask for as much time or memory as their format lets them: one maker for each, by name.

What reads them stays within :data:`SECONDS` and :data:`BYTES`, in a process of its own: ``python -m benchmarks.bounds`` measures all of them.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from weighbridge.readers.tensorflow import MAGIC, _mask, crc32c
from weighbridge.readers.torch_zip import MAGIC as MAGIC_NUMBER

SECONDS = 2.0
BYTES = 200_000_000
CAP = 99_000_000


def safetensors(path: Path, header: bytes, data: int = 0) -> None:
    with path.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + data)


def table(count: int, name: str) -> tuple[bytes, int]:
    entries = (f'"{name}{n}":{{"dtype":"F32","shape":[1],"data_offsets":[{4 * n},{4 * n + 4}]}}' for n in range(count))
    return ("{" + ",".join(entries) + "}").encode(), 4 * count


def metadata(text: bytes) -> bytes:
    return b'{"__metadata__":{"a":"' + text + b'"}}'


SAFETENSORS: dict[str, Callable[[], tuple[bytes, int]]] = {
    "a long text": lambda: (metadata(b"x" * CAP), 0),
    "a long text of escapes": lambda: (metadata(b"\\u00e9" * (CAP // 6)), 0),
    "a long text in UTF-8": lambda: (metadata("\U0001f600".encode() * (CAP // 4)), 0),
    "a long text of emoji": lambda: (metadata("\U0001f600".encode() * 3_900_000), 0),
    "a long name": lambda: (b'{"' + b"x" * CAP + b'":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}', 4),
    "a long number": lambda: (b'{"a":[' + b"1" * CAP + b"]}", 0),
    "blanks": lambda: (b"{" + b" " * CAP + b"}", 0),
    "quotes": lambda: (b"{" + b'""' * (CAP // 2) + b"}", 0),
    "backslashes": lambda: (b'{"' + b"\\" * CAP + b'"}', 0),
    "many texts": lambda: (b'{"__metadata__":{' + b",".join(b'"k%d":"v"' % n for n in range(490_000)) + b"}}", 0),
    "100,000 tensors": lambda: table(100_000, "t"),
    "a million tensors": lambda: table(1_000_000, "t"),
    "nested": lambda: (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, 0),
}


def index(path: Path) -> None:
    path.write_bytes(b'{"weight_map":{' + b",".join(b'"%d":"a"' % n for n in range(2_300_000)) + b"}}")


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as file:
        for name, data in members.items():
            file.writestr(name, data)


def torch(path: Path, pickle: bytes, **more: bytes) -> None:
    archive(path, {"archive/data.pkl": b"\x80\x02" + pickle + b".", **{f"archive/{name}": data for name, data in more.items()}})


def long_number(value: int) -> bytes:
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def tensor(shape: bytes) -> bytes:
    """Return a pickle of a tensor, with a storage of its own, whose shape is on the stack by *shape*."""
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x00tQ"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"K\x00" + shape + shape + b"\x89}tR"


COLLIDING = (1 << 61) - 1
PICKLES: dict[str, Callable[[], bytes]] = {
    "lists": lambda: b"]" * 1_990_000,
    "marks": lambda: b"(" * 1_990_000,
    "a long text": lambda: b"X" + (31_000_000).to_bytes(4, "little") + "\U0001f600".encode() + b"x" * 30_999_996,
    "keys of one hash": lambda: b"}(" + b"".join(long_number(n * COLLIDING) + b"N" for n in range(1, 400_000)) + b"u",
    "memos of one hash": lambda: b"N" + b"".join(b"p%d\n" % (n * COLLIDING) for n in range(1, 700_000)),
    "pairs copied": lambda: b"((" + b"X\x01\x00\x00\x00aN\x86" * 100_000 + b"tq\x00" + b"ccollections\nOrderedDict\nh\x00\x85R0" * 200_000,
    "a shape copied": lambda: b"(" + b"K\x01" * 500_000 + b"tq\x000" + (tensor(b"h\x00") + b"0") * 30_000,
    "itself, twice, and so on": lambda: b"]q\x00" + b"".join(b"]q%c(h%ch%ce" % (n + 1, n, n) for n in range(60)),
    "a million values": lambda: b"(" + b"X\x05\x00\x00\x00abcdeK\x01" * 700_000 + b"d",
}


def legacy(path: Path) -> None:
    """Write a file of before 1.6 whose description of the machine is a million lists."""
    path.write_bytes(b"\x80\x02" + MAGIC_NUMBER + b"\x80\x02M\xe9\x03." + b"\x80\x02" + b"]" * 1_400_000 + b"." + b"\x80\x02}." * 2)


def code_bomb(path: Path) -> None:
    torch(path, b"}", **{f"code/__torch__/m{n}.py": b"class A(Module):\n" + b" " * 990_000 for n in range(500)})


def npz(path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(4)
    archive(path, {f"a{n}.npy": data for n in range(30_000)}, zipfile.ZIP_STORED)


def zip_bomb(path: Path) -> None:
    header = metadata(b"x" * CAP)
    archive(path, {"model.safetensors": len(header).to_bytes(8, "little") + header})


def gguf(tensors: int = 0, keys: int = 0, strings: int = 0) -> bytes:
    def text(word: str) -> bytes:
        return struct.pack("<Q", len(word)) + word.encode()

    parts = [b"GGUF", struct.pack("<IQQ", 3, tensors, keys + bool(strings))]
    parts += [text(f"k{n}") + struct.pack("<II", 4, n) for n in range(keys)]
    if strings:
        parts.append(text("tokens") + struct.pack("<IIQ", 9, 8, strings) + bytes(8) * strings)
    parts += [text(f"blk.{n}.w") + struct.pack("<I4QIQ", 4, 1, 1, 1, 1, 0, 32 * n) for n in range(tensors)]
    return b"".join(parts)


def message(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def onnx(nodes: Iterator[bytes]) -> bytes:
    return b"\x08\x08\x12\x07pytorch" + message(7, b"".join(nodes))


def initializer(name: str) -> bytes:
    return message(5, b"\x08\x01\x10\x01" + message(8, name.encode()) + message(9, bytes(4)))


def deep_onnx(depth: int = 31) -> bytes:
    graph = b"".join(initializer(f"w{n}") for n in range(60_000))
    for _ in range(depth):
        graph = message(1, message(4, b"If") + message(5, message(1, b"x" * 4000) + message(6, graph)))
    return b"\x08\x08\x12\x07pytorch" + message(7, graph)


def flax_array() -> bytes:
    inner = b"\x93\x91\x01\xa7float32\xc4\x04" + bytes(4)
    return b"\xc7" + bytes([len(inner), 1]) + inner


def flax_map(entries: int) -> bytes:
    return b"\xdf" + entries.to_bytes(4, "big")


def flax_key(text: bytes) -> bytes:
    return b"\xda" + len(text).to_bytes(2, "big") + text


def deep_flax() -> bytes:
    inner = flax_map(60_000) + b"".join(flax_key(b"%d" % n) + flax_array() for n in range(60_000))
    for _ in range(60):
        inner = b"\x81" + flax_key(b"x" * 4096) + inner
    return b"\x81\xa6params" + inner


def block(data: bytes, restarts: int = 0) -> bytes:
    whole = data + bytes(4) * restarts + struct.pack("<I", restarts) + b"\0"
    return whole + struct.pack("<I", _mask(crc32c(whole)))


def entry(shared: int, key: bytes, value: bytes) -> bytes:
    return varint(shared) + varint(len(key)) + varint(len(value)) + key + value


def tensorflow(blocks: list[bytes], times: int = 1) -> bytes:
    data, handles, last = b"", [], 0
    for piece in blocks:
        handles += [varint(len(data)) + varint(len(piece) - 5)] * times
        data += piece
    table = block(b"".join(entry(0, b"%08d" % n, handle) for n, handle in enumerate(handles)))
    last = len(data)
    empty = block(b"", 1)
    data += table + empty
    footer = varint(last + len(table)) + varint(len(empty) - 5) + varint(last) + varint(len(table) - 5)
    return data + footer.ljust(40, b"\0") + MAGIC


HEADER = entry(0, b"", b"\x08\x01\x1a\x02\x08\x01")
SCALAR = b"\x08\x01\x12\x00\x28\x04"


def shared_keys() -> bytes:
    first = HEADER + entry(0, b"x" * 1_000_000, SCALAR)
    return tensorflow([block(first + b"".join(entry(1_000_000, b"%06d" % n, SCALAR) for n in range(90_000)))])


def many_variables() -> bytes:
    return tensorflow([block(HEADER + b"".join(entry(0, b"variable/%06d/kernel" % n, SCALAR) for n in range(95_000)))])


def hdf5(path: Path) -> None:
    import h5py
    import numpy as np

    with h5py.File(path, "w", libver="latest") as file:
        for n in range(8_000):
            file.create_dataset(f"layer_{n}", data=np.zeros(1, "f4"))


def deep_hdf5(path: Path) -> None:
    import h5py
    import numpy as np

    with h5py.File(path, "w", libver="latest") as file:
        group: h5py.Group = file
        for _ in range(60):
            group = group.create_group("x" * 4000)
        for n in range(5_000):
            group.create_dataset(f"{n}", data=np.zeros(1, "f4"))


def writer_of(make: Callable[[], bytes]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(make())

    return write


def openvino(inside: bytes, *, attributes: bytes = b"") -> bytes:
    return b'<?xml version="1.0"?><net name="x"' + attributes + b"><layers>" + inside + b"</layers></net>"


def constants() -> bytes:
    layer = b'<layer id="1" name="l%d" type="Const"><data element_type="f32" shape="2" offset="%d" size="8"/></layer>'
    return openvino(b"".join(layer % (n, 8 * n) for n in range(99_000)))


def variables() -> bytes:
    each = (struct.pack("<H", 8) + b"%07d\0" % n + struct.pack("<BIBI", 1, 1, 0, 4) + bytes(4) for n in range(99_999))
    return struct.pack("<IH", 6, 6) + b"XSpec\0" + struct.pack("<II", 1, 99_999) + b"".join(each) + bytes(4)


def arrays() -> bytes:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, ), }\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(12)) * 25_000


CASES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "OpenVINO: a tag of 5,000,000 attributes": (
        ".xml",
        writer_of(lambda: openvino(b"", attributes=b"".join(b' a%d="1"' % n for n in range(5_000_000)))),
    ),
    "OpenVINO: 3,000,000 tags, nested": (".xml", writer_of(lambda: openvino(b"<layer>" * 3_000_000))),
    "CTranslate2: 100,000 variables": (".bin", writer_of(variables)),
    "Equinox: 25,000 arrays": (".eqx", writer_of(arrays)),
    "pickle: 1,490,000 lists in a list": (".pkl", writer_of(lambda: b"\x80\x04](" + b"]" * 1_490_000 + b"e.")),
    "pickle: 400 MB of text": (
        ".pkl",
        writer_of(lambda: b"\x80\x04}X\x01\0\0\0aX" + struct.pack("<I", 400_000_000) + bytes(400_000_000) + b"s."),
    ),
    **{
        f"safetensors: {name}": (".safetensors", lambda path, make=make: safetensors(path, *make()))  # type: ignore[misc]
        for name, make in SAFETENSORS.items()
    },
    "safetensors: in an archive, a long text": (".zip", zip_bomb),
    "index: 2,500,000 names": (".safetensors.index.json", index),
    **{f"torch: {name}": (".pt", lambda path, make=make: torch(path, make(), **{"data/0": bytes(4)})) for name, make in PICKLES.items()},  # type: ignore[misc]
    "torch: before 1.6, a million lists": (".pt", legacy),
    "torch: half a gigabyte of code": (".pt", code_bomb),
    "npz: 30,000 arrays": (".npz", npz),
    "GGUF: 100,000 tensors": (".gguf", writer_of(lambda: gguf(tensors=100_000))),
    "GGUF: 65,000 keys": (".gguf", writer_of(lambda: gguf(keys=65_000))),
    "GGUF: 4,000,000 texts": (".gguf", writer_of(lambda: gguf(strings=4_000_000))),
    "ONNX: 100,000 initializers": (".onnx", writer_of(lambda: onnx(initializer(f"w{n}") for n in range(100_000)))),
    "ONNX: 200,000 nodes": (".onnx", writer_of(lambda: onnx(message(1, message(4, b"Op")) for _ in range(200_000)))),
    "ONNX: long names, nested": (".onnx", writer_of(deep_onnx)),
    "Flax: 100,000 arrays": (
        ".msgpack",
        writer_of(lambda: b"\x81\xa6params" + flax_map(99_000) + b"".join(flax_key(b"%d" % n) + flax_array() for n in range(99_000))),
    ),
    "Flax: a million values": (
        ".msgpack",
        writer_of(lambda: b"\x81\xa6params" + flax_map(999_000) + b"".join(flax_key(b"%d" % n) + b"\x01" for n in range(999_000))),
    ),
    "Flax: long names, nested": (".msgpack", writer_of(deep_flax)),
    "TensorFlow: 95,000 variables": (".index", writer_of(many_variables)),
    "TensorFlow: long keys, shared": (".index", writer_of(shared_keys)),
    "TensorFlow: one block, many times": (
        ".index",
        writer_of(lambda: tensorflow([block(HEADER), block(b"", 500_000)], 2_000)),
    ),
    "Keras: 8,000 variables": (".h5", hdf5),
    "Keras: long names, nested": (".h5", deep_hdf5),
}
"""Each by what it holds: the ending its file has, and what writes it."""
