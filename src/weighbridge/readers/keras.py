"""Keras files: HDF5 (``.h5``, ``.weights.h5``) and the zip around it (``.keras``), shapes and types only.

HDF5 is read by h5py, which comes with ``pip install weighbridge[formats]``. Links out of the file are refused, and two
names of one array are a tie.

Source: keras, src/legacy/saving/legacy_h5_format.py and src/saving/saving_lib.py; HDF5 File Format Specification 3.0
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.archive import content, members, place
from weighbridge.readers.listing import LONGEST_PATH, Listing, StoredTensor
from weighbridge.readers.variables import OPTIMIZER_NOTE, STATISTICS_NOTE, TABLE_NOTE, optimizer_notes, role_of_variable, with_dots

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

SIGNATURE = b"\x89HDF\r\n\x1a\n"
WEIGHTS = "model.weights.h5"
LARGEST_PACKED = 64_000_000
DEEPEST_GROUP = 64
MOST_OBJECTS = 5_000
"""h5py takes a quarter of a millisecond for each."""
MOST_LINKS = 1_000
MOST_STEPS = 10_000
"""Links within a file, and the names that all of them together lead through: a loop of links has no end."""

_OPTIMIZER = re.compile(r"(.*/)?(optimizer_weights|optimizer)/.*")
_NORM = re.compile(r"(.*/)?batch_normalization(_\d+)?/vars/[23]")


def sniff(head: bytes) -> bool:
    """Tell whether a file begins as HDF5, or as a ``.keras`` archive.

    >>> sniff(SIGNATURE), sniff(b"PK\\x03\\x04" + bytes(22) + bytes([13, 0, 0, 0]) + b"metadata.json")
    (True, True)
    """
    length = int.from_bytes(head[26:28], "little")
    first = head[30 : 30 + length]
    return head[:8] == SIGNATURE or (head[:4] == b"PK\x03\x04" and first in (b"metadata.json", b"config.json", WEIGHTS.encode()))


def read(file: BinaryIO) -> Listing:
    """List the variables of a Keras model, without its optimizer's among the parameters.

    Raises:
        ReadError: No Keras file, damaged, with links out of it, or h5py is not installed.
    """
    start = file.read(8) if file.seek(0) == 0 else b""
    if start[:4] == b"PK\x03\x04":
        file = _hdf5_in_archive(file)
    elif start != SIGNATURE:
        raise ReadError("it starts neither like an HDF5 file nor like a .keras archive", offset=0)
    try:
        import h5py
    except ImportError:
        raise ReadError("an HDF5 file, which needs h5py: pip install weighbridge[formats]") from None
    found: dict[str, StoredTensor] = {}
    try:
        with h5py.File(file, "r") as opened:
            links: list[tuple[str, Any, str]] = []
            _group(opened, "", found, {}, links, 0)
            _add_links(opened, found, links)
    except ReadError:
        raise
    except Exception as error:  # the library raises whatever it likes on damage
        raise ReadError(Text("the HDF5 is damaged: {splitlines:.200}", splitlines=str(error).splitlines()[0])) from None
    return _listing(found)


def extents(file: BinaryIO) -> dict[str, tuple[int, int, str]]:
    """Return where each variable's bytes begin, how many they are, and their type; those in chunks, or in a packed archive, are left out."""
    listing = read(file)
    import h5py

    begin = 0
    file.seek(0)
    if file.read(4) == b"PK\x03\x04":
        member = members(file)[WEIGHTS]
        if member.method:
            return {}
        begin, file = place(file, member), _hdf5_in_archive(file)
    found: dict[str, int] = {}
    with h5py.File(file, "r") as opened:
        opened.visititems(lambda name, item: found.update({name: item.id.get_offset()}) if isinstance(item, h5py.Dataset) else None)
    plain = _listed_names(found)
    sizes = {tensor.name: tensor for tensor in listing.tensors}
    places = {plain[name]: offset for name, offset in found.items() if offset is not None and plain[name] in sizes}
    return {name: (begin + offset, sizes[name].size_bytes, sizes[name].dtype) for name, offset in places.items()}


def _hdf5_in_archive(file: BinaryIO) -> BinaryIO:
    """Return the HDF5 file in a ``.keras`` archive, as a window where it is not packed."""
    member = members(file).get(WEIGHTS)
    if member is None:
        raise ReadError(Text("the archive holds no {weights}", weights=WEIGHTS))
    if member.method:
        return io.BytesIO(content(file, member, LARGEST_PACKED))
    return io.BufferedReader(Window(file, place(file, member), member.size))


class Window(io.RawIOBase):
    """A window on a file, itself a file object."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file = file
        self._start = start
        self._size = size
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(offset + (0, self._at, self._size)[whence], 0)
        return self._at

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        self._file.seek(self._start + self._at)
        piece = self._file.read(max(min(len(view), self._size - self._at), 0))
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)


def _group(
    group: Any, path: str, found: dict[str, StoredTensor], seen: dict[Any, str], links: list[tuple[str, Any, str]], depth: int
) -> None:
    """Walk a group; *seen* holds where each object was first met, so that cycles end and ties show, *links* gathers the names of other names.

    Of a link no more is asked than what it says: the library opens another file for whoever asks whether it leads anywhere.
    """
    import h5py

    if len(path) > LONGEST_PATH:
        raise ReadError(
            Text("a name of {count:,} letters, the longest accepted is {longest_path:,}", count=len(path), longest_path=LONGEST_PATH)
        )
    if depth > DEEPEST_GROUP:
        raise ReadError(Text("groups nested more than {deepest_group} deep", deepest_group=DEEPEST_GROUP))
    for key in group:
        name = f"{path}/{key}" if path else str(key)
        target = _target(group, key, name)
        if target is not None:
            links.append((name, group, target))
            if len(links) > MOST_LINKS:
                raise ReadError(Text("more than {most_links:,} links", most_links=MOST_LINKS))
            continue
        item = group[key]
        place = h5py.h5o.get_info(item.id).addr
        first = seen.setdefault(place, name)
        if len(seen) > MOST_OBJECTS:
            raise ReadError(Text("more than {most_objects:,} objects", most_objects=MOST_OBJECTS))
        if isinstance(item, h5py.Group):
            if first == name:
                _group(item, name, found, seen, links, depth + 1)
        elif isinstance(item, h5py.Dataset):
            found[name] = _dataset(item, name, first if first != name else None)


def _target(group: Any, key: str, name: str) -> str | None:
    """Return what a name in a group is another name of, or None for an object itself; no other file is opened for it.

    Raises:
        ReadError: It is a link into another file, or of a kind that others define.
    """
    from h5py import h5l

    links, raw = group.id.links, key.encode("utf-8", "surrogateescape")
    kind = links.get_info(raw).type
    if kind == h5l.TYPE_HARD:
        return None
    if kind != h5l.TYPE_SOFT:
        raise ReadError(Text("{name!r:.80} is a link that may lead out of the file, which is not followed", name=name))
    return str(links.get_val(raw).decode("utf-8", "surrogateescape"))


def _add_links(opened: Any, found: dict[str, StoredTensor], links: list[tuple[str, Any, str]]) -> None:
    """Add the names that lead to an array of the same file by another one; what a linked group holds is listed under its own name."""
    import h5py

    names = {h5py.h5o.get_info(opened[name].id).addr: name for name in reversed(found)} if links else {}
    left = MOST_STEPS
    for name, group, target in links:
        item, left = _follow(opened, group, target, name, left)
        if isinstance(item, h5py.Dataset):
            first = names.setdefault(h5py.h5o.get_info(item.id).addr, name)
            found[name] = _dataset(item, name, first if first != name else None)


def _follow(opened: Any, group: Any, target: str, name: str, left: int) -> tuple[Any, int]:
    """Return what a link leads to, step by step within the file, links on its way among them, and how many steps are *left*."""
    import h5py

    item = opened if target.startswith("/") else group
    waiting = target.split("/")[::-1]
    while waiting:
        piece = waiting.pop()
        if piece in ("", "."):
            continue
        left -= 1
        if left < 0:
            raise ReadError(Text("{name!r:.80} is a link that leads through too many others, or back to itself", name=name))
        if not isinstance(item, h5py.Group) or not item.id.links.exists(piece.encode("utf-8", "surrogateescape")):
            raise ReadError(Text("{name!r:.80} is a link to {target!r:.80}, which is not in the file", name=name, target=target))
        further = _target(item, piece, name)
        if further is None:
            item = item[piece]
            continue
        item = opened if further.startswith("/") else item
        waiting += further.split("/")[::-1]
    return item, left


def _dataset(item: Any, name: str, tied_to: str | None) -> StoredTensor:
    """List one array of an HDF5 file, whose shape and type must need as many bytes as the file gives it."""
    if item.is_virtual or item.external:
        raise ReadError(Text("{name!r:.80} keeps its values in other files, which are not opened", name=name))
    shape = item.shape
    if shape is None:
        return StoredTensor(name, "EMPTY", (0,), 0)
    dtype, size = _type(item.dtype)
    if dtype == "RECORD" and size == 2 and item.attrs.get("dtype") == "bfloat16":
        dtype = "BF16"  # which HDF5 does not have: Keras writes two bytes and says in an attribute what they are
    due = prod(shape) * size
    kept = item.id.get_storage_size()
    if size and item.chunks is None and kept not in (0, due):
        raise ReadError(
            Text(
                "{name!r:.80} of shape {shape} takes {due:,} bytes; the file gives it {kept:,}",
                name=name,
                shape=list(shape),
                due=due,
                kept=kept,
            )
        )
    return StoredTensor(name, dtype, tuple(map(int, shape)), 0 if tied_to else kept, tied_to=tied_to)


def _type(dtype: Any) -> tuple[str, int]:
    """Return a type's name and the bytes of an element; 0 if they are of any length, as those of texts."""
    names = {"f": "F", "i": "I", "u": "U", "c": "C"}
    if dtype.kind in names:
        return f"{names[dtype.kind]}{8 * dtype.itemsize}", dtype.itemsize
    if dtype.kind == "V":
        return "RECORD", dtype.itemsize
    return ("BOOL", 1) if dtype.kind == "b" else ("STRING", dtype.itemsize if dtype.kind == "S" else 0)


def _listed_names(found: Iterable[str]) -> dict[str, str]:
    """Return the names that variables are listed by."""
    plain = {name: with_dots(name.removeprefix("model_weights/")) for name in found}
    return plain if len(set(plain.values())) == len(plain) else {name: name.replace("/", ".") for name in plain}


def _listing(found: dict[str, StoredTensor]) -> Listing:
    """Tell parameters from statistics of norms, the optimizer's arrays and tables, by their names and types."""
    plain = _listed_names(found)
    names = set(plain.values())
    tensors = []
    for name, tensor in found.items():
        role, note = role_of_variable(plain[name], tensor.shape, names), ""
        if _OPTIMIZER.fullmatch(name):
            role, note = "buffer", OPTIMIZER_NOTE
        elif _NORM.fullmatch(name):
            role, note = "buffer", STATISTICS_NOTE
        elif not tensor.dtype.startswith(("F", "BF", "C")):
            role, note = "buffer", TABLE_NOTE
        tied_to = plain.get(tensor.tied_to) if tensor.tied_to else None
        tensors.append(tensor._replace(name=plain[name], role=role, note=note, tied_to=tied_to))
    return Listing("keras", tuple(tensors), {}, optimizer_notes(tensors))
