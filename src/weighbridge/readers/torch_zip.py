"""PyTorch's files: ``.pt``, ``.pth``, ``.bin`` since 1.6 (a zip), before (pickles in a row), and TorchScript.

The pickle inside is read, never run (``readers.pickles``): a tensor is its storage, offset, shape and strides; all else is
inert. Tensors that share a storage are ties. The storages' sizes in the archive are the second witness.

Source: torch 2.13.0, torch/serialization.py (``_save``, ``_legacy_save``),
torch/csrc/jit/serialization/pickler.cpp (TorchScript).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers import archive, torch_export, torch_legacy
from weighbridge.readers.listing import Listing, StoredTensor
from weighbridge.readers.pickles import load
from weighbridge.readers.text import make_printable
from weighbridge.readers.torch_names import listing_of, views_of
from weighbridge.readers.torch_storages import LARGEST_PICKLE, MAKERS, Storage, rows_first, storage_of

LARGEST_CODE = 16_000_000
CONSTANTS = "CONSTANTS"
"""What TorchScript's code calls the tensors that stand in it (``CONSTANTS.c0``)."""

MAGIC = b"\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."
"""``MAGIC_NUMBER`` in torch/serialization.py, as a pickle of protocol 2 or later holds it."""

_OLD = re.compile(rb"\x80[\x02-\x05](\x95.{8})?" + re.escape(MAGIC), re.S)
"""How a file of before 1.6 begins: from protocol 4 on with a frame around the number."""


def sniff(head: bytes) -> bool:
    """Tell whether a file begins like one of torch: a zip whose first member is one of its own, or the old magic number.

    >>> sniff(bytes([0x80, 2]) + MAGIC)
    True
    """
    if _OLD.match(head) or _is_tar(head):
        return True
    if head[:4] != b"PK\x03\x04" or len(head) < 30:
        return False
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    return re.fullmatch(rb"[^/]+/(data\.pkl|constants\.pkl|version|byteorder|\.\w+|(data|constants|code|extra)/.*)", name) is not None


def _is_tar(head: bytes) -> bool:
    """Tell whether a file is a tar whose first member is one of those that torch once wrote."""
    return head[257:262] == b"ustar" and head[:100].rstrip(b"\0").removeprefix(b"./") in (b"sys_info", b"storages", b"tensors", b"pickle")


def read(file: BinaryIO) -> Listing:
    """List the tensors of a torch file; its pickle is interpreted, and nothing in it can run.

    Raises:
        ReadError: The file is damaged, asks for too much, or its tensors do not fit their storages.
    """
    file.seek(0)
    head = file.read(512)
    if _is_tar(head):
        raise ReadError("a tar, as torch wrote before 0.1.10 (2017); load it with torch and save it again", offset=0)
    if head[:4] == b"PK\x03\x04":
        return _read_zip(file)
    if _OLD.match(head):
        return torch_legacy.read_legacy(file)
    if head[:1] == b"\x80":
        raise ReadError("a pickle that torch did not write; load it where it comes from and save its tensors as safetensors", offset=0)
    raise ReadError("neither a zip nor a pickle written by torch", offset=0)


def contents(file: BinaryIO) -> object:
    """Return what the pickle of a file holds, of dicts, lists, stubs and views: for what a training says of itself beside its tensors.

    Raises:
        ReadError: As for :func:`read`.
    """
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        return torch_legacy.contents(file)
    members = archive.members(file)
    return _unpickle(file, members, _root(members), "data")[0]


def _read_zip(file: BinaryIO) -> Listing:
    """List what ``torch.save``, ``torch.jit.save`` or ``torch.export.save`` wrote; TorchScript's code says which tensors are buffers."""
    members = archive.members(file)
    exported = torch_export.root_of(members)
    if exported is not None:
        return torch_export.list_weights(file, members, exported)
    root = _root(members)
    found, storages = _unpickle(file, members, root, "data")
    scripted = [member for name, member in members.items() if name.startswith(f"{root}code/") and name.endswith(".py")]
    if sum(member.size for member in scripted) > LARGEST_CODE:
        raise ReadError(
            Text(
                "TorchScript code of {scripted:,} bytes, the most accepted is {largest_code:,}",
                scripted=sum(member.size for member in scripted),
                largest_code=LARGEST_CODE,
            )
        )
    code = [archive.content(file, member, LARGEST_CODE).decode("utf-8", "replace") for member in scripted]
    buffers = buffers_of(code)
    if not code or f"{root}constants.pkl" not in members:
        return listing_of(found, buffers, storages)
    constants, more = _unpickle(file, members, root, "constants")
    held = {CONSTANTS: {f"c{number}": value for number, value in enumerate(constants)}} if isinstance(constants, tuple) else {}
    listing = listing_of(found, buffers, storages | more, beside=held)
    frozen = not any(tensor.name.partition(".")[0] != CONSTANTS for tensor in listing.tensors)
    return listing._replace(tensors=tuple(_constant(tensor, frozen=frozen) for tensor in listing.tensors))


def _constant(tensor: StoredTensor, *, frozen: bool) -> StoredTensor:
    """Tell what a constant of TorchScript is: in a frozen module the weights are; else what the code has in it is no parameter."""
    if tensor.name.partition(".")[0] != CONSTANTS or (frozen and tensor.dtype in ("F32", "F16", "BF16", "F64") and prod(tensor.shape) > 1):
        return tensor
    return tensor._replace(role="buffer", note="a constant of the code")


def _root(members: Mapping[str, archive.Member]) -> str:
    """Return the folder that an archive of torch keeps all under."""
    pickles = [name for name in members if name.endswith("/data.pkl") and name.count("/") == 1]
    if len(pickles) != 1:
        raise ReadError("the archive holds no data.pkl; torch did not write it" if not pickles else "the archive holds several data.pkl")
    return pickles[0].removesuffix("data.pkl")


def _unpickle(file: BinaryIO, members: Mapping[str, archive.Member], root: str, what: str) -> tuple[object, set[str]]:
    """Return what one of an archive's pickles holds, ``data`` or ``constants``, and the storages that it speaks of."""
    name = f"{root}{what}.pkl"
    data = archive.content(file, members[name], LARGEST_PICKLE)
    storages: set[str] = set()

    def persistent(identity: object) -> Storage:
        """Return the storage that a persistent id names; the archive must hold a file of its size."""
        storage = storage_of(identity)
        member = _member(members, root, what, storage.key)
        if member is None:
            raise ReadError(Text("the archive lacks the storage {shown}", shown=make_printable(storage.key)))
        if member.size != storage.size_bytes:
            raise ReadError(
                Text(
                    "the storage {shown} should have {size_bytes:,} bytes, the archive holds {size:,}",
                    shown=make_printable(storage.key),
                    size_bytes=storage.size_bytes,
                    size=member.size,
                )
            )
        key = storage.key if what == "data" else f"{what}/{storage.key}"
        if storage.size_bytes:
            storages.add(key)
        return storage._replace(key=key)

    try:
        found, _ = load(data, MAKERS, persistent)
    except ReadError as error:
        raise ReadError(Text("in {shown}: {error}", shown=make_printable(name), error=error)) from None
    return found, storages


def _member(members: Mapping[str, archive.Member], root: str, what: str, key: str) -> archive.Member | None:
    return members.get(f"{root}{what}/{key}") or members.get(f"{root}{key}")


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return where each tensor's bytes begin, how many they are, and their type; packed or strided ones are left out."""
    file.seek(0)
    if file.read(4) != b"PK\x03\x04":
        return torch_legacy.extents(file)
    members = archive.members(file)
    root = _root(members)
    found, _ = _unpickle(file, members, root, "data")
    places = {}
    for name, view in views_of(found).items():
        count = prod(view.shape)
        member = view.storage and _member(members, root, "data", view.storage.key)
        if (
            view.storage is None
            or view.inner
            or not member
            or member.method != 0
            or view.extent != count
            or view.stride != rows_first(view.shape)
        ):
            continue
        size = view.item_bytes
        places[name] = (archive.place(file, member) + view.offset * size, count * size, view.dtype)
    return places


def buffers_of(sources: list[str]) -> Mapping[str, frozenset[str]]:
    """Return, for each class in TorchScript's code, which of its attributes are buffers.

    >>> buffers_of(['class Foo(Module):\\n  __parameters__ = ["w", ]\\n  __buffers__ = ["b", ]\\n'])
    {'Foo': frozenset({'b'})}
    """
    found = {}
    for text in sources:
        for match in re.finditer(
            r"^class (\w+)\(Module\):\n(?:  __parameters__ = \[[^\]\n]*\]\n)?  __buffers__ = \[([^\]\n]*)\]", text, re.M
        ):
            found[match[1]] = frozenset(re.findall(r'"([^"]*)"', match[2]))
    return found
