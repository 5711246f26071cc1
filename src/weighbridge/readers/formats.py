"""The table of checkpoint formats: which module reads which file. ``readers.listing`` tells what a reader is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from weighbridge.core.errors import ReadError
from weighbridge.core.files import open_file
from weighbridge.core.messages import Text, mark
from weighbridge.readers.listing import Listing, Reader, refuse_immense
from weighbridge.readers.roles import mark_buffers_beside


class Format(NamedTuple):
    """One format: its name, the module that reads it, and the endings its files have.

    The ending is asked only if no reader recognizes the first bytes: it says what a damaged file was meant to be. Where it decides
    (*by_ending*), another format begins alike.
    """

    name: str
    module: str
    endings: tuple[str, ...]
    by_ending: bool = False


FORMATS: tuple[Format, ...] = (
    Format("", "legacy", ()),
    Format("safetensors", "safetensors", (".safetensors",)),
    Format("torch", "torch_zip", (".bin", ".pt", ".pth", ".ckpt", ".pt2")),
    Format("tar", "tar", (".nemo",)),
    Format("GGUF", "gguf", (".gguf",)),
    Format("ONNX", "onnx", (".onnx",)),
    Format("TensorFlow", "tensorflow", (".index",)),
    Format("Keras", "keras", (".h5", ".hdf5", ".keras")),
    Format("npz", "npz", (".npz",)),
    Format("npy", "npy", (".npy", ".eqx")),
    Format("pickle", "plain_pickle", (".pkl", ".pickle", ".pdparams")),
    Format("Flax", "flax", (".msgpack",)),
    Format("TensorFlow Lite", "tflite", (".tflite",)),
    Format("ExecuTorch", "executorch", (".pte",)),
    Format("CTranslate2", "ctranslate2", ()),
    Format("Core ML", "coreml", (".mlmodel",), by_ending=True),
    Format("OpenVINO", "openvino", (".xml",)),
    Format("zip", "zip_archive", ()),
)
"""Asked in this order; the first stands for formats that are recognized to be refused."""

OTHER_FILES = (
    (b"\x89PNG", mark("a picture (PNG)")),
    (b"\xff\xd8\xff", mark("a picture (JPEG)")),
    (b"GIF8", mark("a picture (GIF)")),
    (b"%PDF-", mark("a document (PDF)")),
)
"""How files begin that people name by mistake, and what they are."""

HEAD = 4096
"""Bytes of a file that :meth:`Reader.sniff` sees."""


def read_file(path: Path) -> Listing:
    """List the tensors of one file.

    Raises:
        ReadError: The file is damaged, or of a format that no reader knows.
    """
    try:
        with open_file(path) as file:
            listing = list_open(file, path.name)
            if getattr(getattr(file, "raw", None), "is_unchecked", False):
                listing = listing._replace(notes=(*listing.notes, say_unchecked()))
            return listing
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror or error), path=str(path)) from None
    except ReadError as error:
        raise error.at(str(path)) from None


def say_unchecked() -> Text:
    """Say what was not checked of a file over HTTP whose server names no version of it."""
    return Text(
        "the server says nothing of the file's version (ETag, Last-Modified): whether it was replaced by one of the same size"
        " between two requests was not checked"
    )


def list_open(file: BinaryIO, name: str) -> Listing:
    """List the tensors of an open file that can seek; *name* is asked if its first bytes tell nothing.

    >>> from io import BytesIO
    >>> list_open(BytesIO(bytes([2, 0, 0, 0, 0, 0, 0, 0]) + b"{}"), "empty.safetensors").tensors
    ()
    """
    head = file.read(HEAD)
    if not head:
        raise ReadError("the file is empty")
    return mark_buffers_beside(refuse_immense(_reader_of(head, name).read(file)))


def import_readers() -> list[Reader]:
    """Import the modules of all formats, in the order in which they are asked."""
    return [cast(Reader, import_module(f"weighbridge.readers.{entry.module}")) for entry in FORMATS]


def _reader_of(head: bytes, name: str) -> Reader:
    """Return the module that reads a file with these first bytes and this name."""
    sure = next((entry for entry in FORMATS if entry.by_ending and name.endswith(entry.endings)), None)
    if sure is not None:
        return cast(Reader, import_module(f"weighbridge.readers.{sure.module}"))
    known = import_readers()
    for reader in known:
        if reader.sniff(head):
            return reader
    for entry, reader in zip(FORMATS, known, strict=True):
        if name.endswith(entry.endings):
            return reader
    if name.endswith(".json") and head.lstrip()[:1] == b"{":
        raise ReadError("a config or another JSON file, where weights are expected; name the checkpoint, or the directory that holds both")
    formats = ", ".join(entry.name for entry in FORMATS if entry.name)
    kind = next((kind for magic, kind in OTHER_FILES if head.startswith(magic)), "")
    if kind:
        raise ReadError(Text("{kind}, which holds no model; known formats: {formats}", kind=kind, formats=formats))
    raise ReadError(Text("no reader knows this format; known: {formats}", formats=formats))
