"""Files made to run something: those that scanners of pickles look for, and those of published advisories. Each is read or refused, and nothing happens.

Every file is made here. What it would do is a call of a function that Python's audit events would show: each way to name a function in a pickle, each way to
call it, in every container in which a pickle may stand.
"""

from __future__ import annotations

import io
import json
import pickle
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.unit.readers.audit_events import watch
from tests.unit.readers.test_gguf import number, text, whole
from weighbridge.core.errors import ReadError
from weighbridge.readers import Listing, read_listing
from weighbridge.readers.shards import MOST_SHARDS

GADGETS = """
builtins.eval builtins.exec builtins.compile builtins.getattr builtins.open builtins.__import__ builtins.breakpoint __builtin__.eval __builtin__.apply
os.system posix.system nt.system os.popen os.remove subprocess.Popen subprocess.check_output commands.getoutput pty.spawn shutil.rmtree socket.socket
runpy._run_code runpy.run_path importlib.import_module pkgutil.resolve_name code.InteractiveInterpreter.runcode codeop.compile_command types.CodeType
types.FunctionType marshal.loads pickle.loads _pickle.Unpickler ctypes.CDLL operator.attrgetter operator.methodcaller _operator.itemgetter functools.partial
functools.reduce itertools.starmap webbrowser.open urllib.request.urlopen http.client.HTTPSConnection requests.api.get aiohttp.ClientSession asyncio.run
asyncio.unix_events._UnixSubprocessTransport._start ssl.get_server_certificate smtplib.SMTP imaplib.IMAP4_stream uuid._get_command_stdout venv.create
timeit.timeit trace.Trace.run trace.Trace.runctx profile.run profile.Profile.runctx cProfile.run cProfile.runctx pdb.run bdb.Bdb.run doctest.debug_script
pydoc.locate pydoc.pipepager ensurepip._run_pip pip.main distutils.file_util.write_file logging.FileHandler logging.config.listen _io.FileIO io.open
idlelib.run.Executive.runcode idlelib.pyshell.ModifiedInterpreter.runcommand idlelib.autocomplete.AutoComplete.get_entity idlelib.calltip.get_entity
idlelib.debugobj.ObjectTreeItem.SetText lib2to3.pgen2.grammar.Grammar.loads lib2to3.pgen2.pgen.ParserGenerator.make_label test.support.script_helper.assert_python_ok
_osx_support._read_output _aix_support._read_cmd_output _pyrepl.pager.pipe_pager sys.exit site.main antigravity.geohash numpy.load numpy.f2py.crackfortran.getlincoef
numpy.testing._private.utils.runstring torch.load torch.serialization.load torch.hub.load torch.jit.unsupported_tensor_ops.execWrapper
torch.utils.collect_env.run torch.utils.bottleneck.__main__.run_cprofile torch.utils._config_module.ConfigModule.load_config torch._dynamo.guards.GuardBuilder.get
torch._inductor.codecache.compile_file torch.fx.experimental.symbolic_shapes.ShapeEnv.evaluate_guards_expression
torch.utils.data.datapipes.utils.decoder.basichandlers cloudpickle.cloudpickle.subimport cloudpickle.cloudpickle._make_function dill._dill._create_code
joblib.numpy_pickle.load pandas.read_pickle sklearn.externals.joblib.load keras.models.load_model tensorflow.io.read_file transformers.pipeline
""".split()
"""Functions that run, load, open or connect, from the standard library and from others."""

SHOUT = "print('ran')"


def short(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


def call_by_name(gadget: str) -> bytes:
    module, _, function = gadget.rpartition(".")
    return b"c" + module.encode() + b"\n" + function.encode() + b"\n"


def call_on_stack(gadget: str) -> bytes:
    module, _, function = gadget.rpartition(".")
    return short(module) + short(function) + b"\x93"


CALLS: dict[str, Callable[[str], bytes]] = {
    "reduce": lambda gadget: call_by_name(gadget) + short(SHOUT) + b"\x85R",
    "reduce of a name from the stack": lambda gadget: call_on_stack(gadget) + short(SHOUT) + b"\x85R",
    "name from the memo": lambda gadget: (
        short(gadget.rpartition(".")[0]) + b"\x940" + b"h\x00" + short(gadget.rpartition(".")[2]) + b"\x93)R"
    ),
    "instance": lambda gadget: (
        b"(" + short(SHOUT) + b"i" + gadget.rpartition(".")[0].encode() + b"\n" + gadget.rpartition(".")[2].encode() + b"\n"
    ),
    "object": lambda gadget: b"(" + call_by_name(gadget) + short(SHOUT) + b"o",
    "new object": lambda gadget: call_on_stack(gadget) + short(SHOUT) + b"\x85\x81",
    "new object with keywords": lambda gadget: call_on_stack(gadget) + short(SHOUT) + b"\x85}" + short("x") + b"K\x01s\x92",
    "state": lambda gadget: (
        call_by_name("builtins.object") + b")R}" + short("__setstate__") + call_by_name(gadget) + b"sb}" + short("a") + short(SHOUT) + b"sb"
    ),
    "slots": lambda gadget: call_by_name("builtins.object") + b")RN}" + short("__class__") + call_by_name(gadget) + b"s\x86b",
    "list that appends": lambda gadget: call_by_name(gadget) + b")R(" + short(SHOUT) + b"e",
    "dict that sets": lambda gadget: call_by_name(gadget) + b")R" + short("k") + short(SHOUT) + b"s",
    "call of what a call gives": lambda gadget: (
        call_by_name("builtins.getattr") + call_by_name(gadget) + short("__call__") + b"\x86R" + short(SHOUT) + b"\x85R"
    ),
    "popped": lambda gadget: call_by_name(gadget) + short(SHOUT) + b"\x85R0N",
    "key of a dict": lambda gadget: b"}" + call_by_name(gadget) + short(SHOUT) + b"\x85RNs",
    "persistent": lambda gadget: call_by_name(gadget) + short(SHOUT) + b"\x85RQ",
    "extension": lambda gadget: b"\x82\x01" + short(SHOUT) + b"\x85R",
    "within bytes": lambda gadget: b"B" + struct.pack("<I", len(call_by_name(gadget)) + 4) + call_by_name(gadget) + b")RN.",
}
"""Ways in which a pickle calls a function, by the opcodes."""


def pickle_of(body: bytes) -> bytes:
    """Return the pickle of a dict with a plain entry beside the one that calls."""
    return b"\x80\x04}" + short("plain") + b"K\x01s" + short("x") + body + b"s."


def zip_of(members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def legacy(data: bytes) -> bytes:
    magic, version, machine = (pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}))
    return magic + version + machine + data + pickle.dumps([], 2)


def array(data: bytes) -> bytes:
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def tar_of(members: dict[str, bytes], links: tuple[tuple[str, str], ...] = ()) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, target in links:
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            archive.addfile(link)
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return file.getvalue()


def with_flags(data: bytes, bits: int, *, central: bool) -> bytes:
    """Return an archive whose first member claims to be encrypted or otherwise unusual, in one of its two places."""
    at = data.index(b"PK\x01\x02") + 8 if central else 6
    return data[:at] + struct.pack("<H", struct.unpack_from("<H", data, at)[0] | bits) + data[at + 2 :]


def wrong_sum(data: bytes) -> bytes:
    at = data.index(b"PK\x01\x02") + 16
    return data[:at] + bytes(4) + data[at + 4 :]


CONTAINERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "pickle": ("x.pkl", lambda data: data),
    "pickle with another ending": ("pytorch_model.bin", lambda data: data),
    "pickle with no ending": ("weights", lambda data: data),
    "pickle of paddle": ("x.pdparams", lambda data: data),
    "torch": ("x.pt", lambda data: zip_of({"archive/data.pkl": data, "archive/version": b"3\n"})),
    "torch, packed": ("x.ckpt", lambda data: zip_of({"archive/data.pkl": data}, zipfile.ZIP_DEFLATED)),
    "torch, another root": ("x.pth", lambda data: zip_of({"a/data.pkl": data, "b/version": b"3"})),
    "torch, two pickles": ("x.pt", lambda data: zip_of({"archive/data.pkl": pickle.dumps({}), "other/data.pkl": data})),
    "torch, constants": (
        "x.pt",
        lambda data: zip_of({"a/data.pkl": pickle.dumps({}, 2), "a/constants.pkl": data, "a/code/c.py": b"import os"}),
    ),
    "torch before 1.6": ("x.pt", legacy),
    "torch before 1.6, no magic": ("x.pt", lambda data: data + legacy(pickle.dumps({}, 2))),
    "archive with the pickle alone": ("x.zip", lambda data: zip_of({"data.pkl": data})),
    "archive, encrypted by its directory": ("x.pt", lambda data: with_flags(zip_of({"a/data.pkl": data}), 1, central=True)),
    "archive, encrypted by its header": ("x.pt", lambda data: with_flags(zip_of({"a/data.pkl": data}), 1, central=False)),
    "archive, patched by its directory": ("x.pt", lambda data: with_flags(zip_of({"a/data.pkl": data}), 0x20, central=True)),
    "archive, strongly encrypted": ("x.pt", lambda data: with_flags(zip_of({"a/data.pkl": data}), 0x40, central=True)),
    "archive with a wrong checksum": ("x.pt", lambda data: wrong_sum(zip_of({"a/data.pkl": data}))),
    "array of objects": ("x.npy", array),
    "arrays of objects": ("x.npz", lambda data: zip_of({"a.npy": array(data)})),
    "nemo": ("x.nemo", lambda data: tar_of({"model_weights.ckpt": zip_of({"archive/data.pkl": data})})),
    "tar of torch": ("x.pt", lambda data: tar_of({"pickle": data, "storages": data, "tensors": data, "sys_info": data})),
    "packed by zlib": ("x.joblib", zlib.compress),
    "7z": ("x.7z", lambda data: b"7z\xbc\xaf\x27\x1c" + data),
    "behind a safetensors header": ("x.safetensors", lambda data: struct.pack("<Q", 2) + b"{}" + data),
    "cut off": ("x.pkl", lambda data: data[:-1]),
    "broken at its end": ("x.pkl", lambda data: data[:-1] + b"\xff."),
    "two in a row": ("x.pkl", lambda data: pickle.dumps({"a": 1}) + data),
    "within a pickle": (
        "x.pkl",
        lambda data: pickle_of(call_by_name("pickle.loads") + b"B" + struct.pack("<I", len(data)) + data + b"\x85R"),
    ),
    "as a storage": (
        "x.pkl",
        lambda data: pickle_of(call_by_name("torch.storage._load_from_bytes") + b"B" + struct.pack("<I", len(data)) + data + b"\x85R"),
    ),
}
"""Files in which a pickle may stand: a name, and how they are made."""


def outcome(path: Path) -> Listing | str:
    """Return what reading a file gives, or how it is refused; anything that it does beside is an error."""
    with watch(str(path.parent)) as done:
        try:
            result: Listing | str = read_listing(path)
        except ReadError as error:
            result = str(error)
    assert done == []
    return result


@pytest.mark.parametrize("call", CALLS)
def test_no_function_of_a_pickle_is_called(call: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for gadget in GADGETS:
        path = tmp_path / "x.pkl"
        path.write_bytes(pickle_of(CALLS[call](gadget)))
        assert isinstance(outcome(path), str)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("container", CONTAINERS)
def test_no_container_of_a_pickle_runs_it(container: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, make = CONTAINERS[container]
    for call in CALLS.values():
        path = tmp_path / name
        path.write_bytes(make(pickle_of(call("builtins.exec"))))
        found = outcome(path)
        assert isinstance(found, str) or all(tensor.name for tensor in found.tensors)
    assert capsys.readouterr().out == ""


def test_the_watch_sees_what_runs(tmp_path: Path) -> None:
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle_of(CALLS["reduce"]("builtins.exec")))
    with watch(str(tmp_path)) as done:
        pickle.loads(path.read_bytes())
    assert any(event.startswith("exec") for event in done)
    with watch(str(tmp_path)) as done, open("/dev/null", "wb"):
        pass
    assert any(event.startswith("open") for event in done)
    with watch(str(tmp_path)) as done:
        subprocess.run(["true"], check=True)
    assert done


def lambda_layer(code: str = "4wAAAAAAAAA=") -> dict[str, Any]:
    return {"class_name": "Sequential", "config": {"layers": [{"class_name": "Lambda", "config": {"function": [code, None, None]}}]}}


CONFIGS: dict[str, dict[str, Any]] = {
    "code of a Lambda (CVE-2024-3660)": lambda_layer(),
    "any function by module and name (CVE-2025-1550)": {"module": "os", "class_name": "system", "config": {"command": "touch ran"}},
    "a function of Keras that loads (CVE-2025-8747)": {
        "module": "keras.src.utils.file_utils",
        "class_name": "get_file",
        "config": {"origin": "http://localhost:9"},
    },
    "safe mode turned off within (CVE-2025-9906)": {"module": "keras.config", "class_name": "enable_unsafe_deserialization", "config": {}},
    "a vocabulary from a file (CVE-2025-12058)": {"class_name": "StringLookup", "config": {"vocabulary": "/etc/passwd"}},
    "a vocabulary from an address": {"class_name": "TextVectorization", "config": {"vocabulary": "http://localhost:9/x"}},
}


def hdf5(**arrays: Any) -> bytes:
    h5py = pytest.importorskip("h5py")
    file = io.BytesIO()
    with h5py.File(file, "w") as opened:
        for name, values in (arrays or {"dense": [[1.0, 2.0]]}).items():
            opened[name] = values
    return file.getvalue()


@pytest.mark.parametrize("case", CONFIGS)
def test_no_config_of_keras_is_carried_out(case: str, tmp_path: Path) -> None:
    config = json.dumps(CONFIGS[case])
    weights = hdf5()
    path = tmp_path / "x.keras"
    path.write_bytes(zip_of({"metadata.json": b"{}", "config.json": config.encode(), "model.weights.h5": weights}))
    read_listing(path)  # what is imported on the way is imported before the watch
    found = outcome(path)
    assert isinstance(found, Listing)
    assert [tensor.shape for tensor in found.tensors] == [(1, 2)]
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    path.write_bytes(weights)
    with h5py.File(path, "r+") as opened:
        opened.attrs["model_config"] = config
    assert isinstance(outcome(path), Listing)


@pytest.mark.parametrize("kind", ["external link", "soft link", "external storage", "virtual"])
def test_no_other_file_is_read_through_hdf5(kind: str, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    (tmp_path / "secret").write_bytes(bytes(64))
    path = tmp_path / "folder" / "x.h5"
    path.parent.mkdir()
    with h5py.File(path, "w") as file:
        if kind == "external link":
            file["w"] = h5py.ExternalLink("/etc/passwd", "w")
        elif kind == "soft link":
            file["w"] = h5py.SoftLink("/elsewhere")
        elif kind == "external storage":
            file.create_dataset("w", (8,), "f4", external=[(str(tmp_path / "secret"), 0, 32)])
        else:
            layout = h5py.VirtualLayout((8,), "f4")
            layout[:] = h5py.VirtualSource(str(tmp_path / "secret"), "w", (8,))
            file.create_virtual_dataset("w", layout)
    found = outcome(path)
    assert isinstance(found, str)
    assert "not followed" in found or "not opened" in found or "not in the file" in found


def test_a_shape_that_no_memory_holds_costs_nothing(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "x.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("w", (1 << 40, 1 << 20), "f4", chunks=(1, 1 << 10))
    found = outcome(path)
    assert isinstance(found, Listing)
    assert found.tensors[0].size_bytes == 0


@pytest.mark.parametrize("location", ["../../../../etc/passwd", "/etc/passwd", "file:///etc/passwd", "x\0y", "a" * 5000, "link"])
def test_no_other_file_is_read_through_onnx(location: str, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    tensor = onnx.TensorProto(name="w", data_type=1, dims=[4, 4], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", "0"), ("length", "64")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    graph = onnx.helper.make_graph([onnx.helper.make_node("Identity", ["w"], ["y"])], "g", [], [], [tensor])
    path = tmp_path / "x.onnx"
    path.write_bytes(onnx.helper.make_model(graph).SerializeToString())
    (tmp_path / "link").symlink_to("/etc/passwd")
    with watch(str(path)) as done, suppress(ReadError):
        assert [tensor.shape for tensor in read_listing(path).tensors] == [(4, 4)]
    assert done == []


def test_no_member_of_a_tar_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "x.nemo"
    evil = {"../../escaped": b"x", "/tmp/escaped": b"x", "model_config.yaml": b"target: os.system", "a/model_weights.ckpt": b"PK"}
    path.write_bytes(tar_of(evil, (("model_weights.ckpt", "/etc/passwd"),)))
    found = outcome(path)
    assert isinstance(found, str)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["x.nemo"]


HUGE = (1 << 63) - 1
GGUF_FILES = {
    "more tensors than fit (CVE-2024-23496)": b"GGUF" + struct.pack("<IQQ", 3, 1 << 62, 0),
    "more keys than fit (CVE-2024-21825)": b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 62),
    "a text longer than memory (CVE-2024-21836)": b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, (1 << 64) - 1),
    "an array longer than memory (CVE-2024-21802)": whole([], [text("a") + struct.pack("<IIQ", 9, 8, 1 << 61)]),
    "an array of arrays": whole([], [text("a") + struct.pack("<IIQ", 9, 9, 1) + struct.pack("<IQ", 9, 1) * 50]),
    "sizes whose product wraps (CVE-2024-23605)": b"GGUF"
    + struct.pack("<IQQ", 3, 1, 0)
    + text("w")
    + struct.pack("<IQQIQ", 2, HUGE, HUGE, 0, 0)
    + bytes(64),
    "sizes whose bytes wrap (CVE-2025-53630)": b"GGUF"
    + struct.pack("<IQQ", 3, 1, 0)
    + text("w")
    + struct.pack("<IQQIQ", 2, 1 << 32, 1 << 30, 0, 0),
    "no alignment": whole([("w", (8,), 0)], [number("general.alignment", 0)]),
    "an alignment that is not a power of two": whole([("w", (8,), 0)], [number("general.alignment", 3)]),
    "a type that is none": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + text("w") + struct.pack("<IQIQ", 1, 8, 999, 0) + bytes(64),
    "more dimensions than four": b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + text("w") + struct.pack("<I", 1 << 31),
    "layers without number (resource)": whole(
        [("w", (8,), 0)], [text("general.architecture") + struct.pack("<I", 8) + text("llama"), number("llama.block_count", (1 << 32) - 1)]
    ),
}


@pytest.mark.parametrize("case", GGUF_FILES)
def test_advisories_of_gguf(case: str, tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(GGUF_FILES[case])
    found = outcome(path)
    assert isinstance(found, str) or case.startswith("layers")


def test_xml_that_expands_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    start = '<?xml version="1.0"?>\n<net name="&l11;"></net>'
    path.write_text(start.replace("<net", f'<!DOCTYPE net [<!ENTITY l0 "ha">{laughs}]><net'))
    assert isinstance(outcome(path), str)
    path.write_text('<?xml version="1.0"?><net name="x"><!DOCTYPE net [<!ENTITY x SYSTEM "file:///etc/passwd">]><layers/></net>')
    assert isinstance(outcome(path), str)


def test_no_metadata_of_a_distributed_checkpoint_leads_out(tmp_path: Path) -> None:
    for name in ("../../etc/passwd", "/etc/passwd", "", "a\0b"):
        info = (
            b"\x80\x04"
            + call_by_name("torch.distributed.checkpoint.metadata.Metadata")
            + b")R}"
            + short("state_dict_metadata")
            + b"}s"
            + short("storage_data")
        )
        info += (
            b"}"
            + short("k")
            + call_by_name("torch.distributed.checkpoint.filesystem._StorageInfo")
            + b")R}"
            + short("relative_path")
            + short(name)
            + b"s"
        )
        info += short("offset") + b"K\x00s" + short("length") + b"K\x01s" + b"bssb."
        (tmp_path / ".metadata").write_bytes(info)
        found = outcome(tmp_path)
        assert isinstance(found, str)
        assert "which is not in this directory" in found


def test_the_bound_of_shards_stands() -> None:
    assert MOST_SHARDS <= 10_000
