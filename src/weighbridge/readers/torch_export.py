"""Programs that ``torch.export.save`` writes (``.pt2``): a zip with the table of weights as JSON, and each weight's bytes in a member.

Since torch 2.8 the weights and the constants each have a table; before, they are two files of torch in the archive.

Source: torch 2.13.0, torch/export/pt2_archive/constants.py, torch/_export/serde/schema.py (``PayloadMeta``, ``TensorMeta``, ``ScalarType``)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any, BinaryIO

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.archive import Member, content
from weighbridge.readers.listing import DEEPEST, LONGEST, MOST_TENSORS, Listing, StoredTensor
from weighbridge.readers.text import make_printable, parse_object
from weighbridge.readers.torch_storages import BYTES

WEIGHTS, CONSTANTS = "data/weights/", "data/constants/"
LARGEST_TABLE = 32_000_000

TYPES = {
    1: "U8",
    2: "I8",
    3: "I16",
    4: "I32",
    5: "I64",
    6: "F16",
    7: "F32",
    8: "F64",
    9: "C32",
    10: "C64",
    11: "C128",
    12: "BOOL",
    13: "BF16",
    28: "U16",
    29: "F8_E4M3",
    30: "F8_E5M2",
    31: "F8_E4M3FNUZ",
    32: "F8_E5M2FNUZ",
    33: "F8_E8M0",
    34: "U32",
    35: "U64",
}
"""``ScalarType`` of schema.py, by number."""

NOTE = "a constant of the program"

STEMS = {WEIGHTS: "weight_", CONSTANTS: "tensor_"}
"""How the members with bytes are called."""


def root_of(members: Mapping[str, Member]) -> str | None:
    """Return the folder that an exported program keeps all under, or None if the archive is no such program."""
    return next((name.removesuffix("archive_format") for name in members if name.endswith("archive_format") and name.count("/") <= 1), None)


def list_weights(file: BinaryIO, members: Mapping[str, Member], root: str) -> Listing:
    """List the weights of an exported program, and its constants as buffers.

    Raises:
        ReadError: A damaged table, or a weight whose bytes do not fit its shape.
    """
    tensors: list[StoredTensor] = []
    for folder, parameters in ((WEIGHTS, True), (CONSTANTS, False)):
        tables = [name for name in members if name.startswith(root + folder) and name.endswith("_config.json")]
        stated: set[str] = set()
        for table in tables:
            entries = parse_object(content(file, members[table], LARGEST_TABLE), "the table of weights").get("config")
            if not isinstance(entries, dict) or len(entries) > MOST_TENSORS:
                raise ReadError("the table of weights has no entries")
            tensors += _entries(entries, members, root + folder, parameters=parameters)
            stated |= {f"{root}{folder}{entry.get('path_name')}" for entry in entries.values()}
        _refuse_unstated((name for name in members if name.startswith(root + folder + STEMS[folder])), stated)
    if not tensors:
        raise ReadError("an exported program without weights")
    names = [tensor.name for tensor in tensors]
    if len(set(names)) != len(names):
        raise ReadError("two weights of the program have one name")
    return Listing("torch export", tuple(tensors))


def _refuse_unstated(members: Iterable[str], stated: set[str]) -> None:
    """Refuse an archive with the bytes of a weight that no table names: it would be left out of the count without a word."""
    unstated = next((name for name in members if name not in stated), None)
    if unstated is not None:
        raise ReadError(Text("the archive has {name!r:.200}, which the table of weights does not name", name=unstated))


def _entries(entries: dict[str, Any], members: Mapping[str, Member], folder: str, *, parameters: bool) -> Iterator[StoredTensor]:
    """Yield the tensors of one table; two that have their bytes in one member are a tie."""
    owners: dict[tuple[str, object, object], str] = {}
    for name, entry in entries.items():
        meta = entry.get("tensor_meta") if isinstance(entry, dict) else False
        if meta is None and entry.get("use_pickle") is True:
            continue  # an object of a class of its own, which is no tensor
        if not isinstance(meta, dict) or type(entry.get("is_param")) is not bool:
            raise ReadError(Text("the entry of {name} in the table of weights is damaged", name=make_printable(name)))
        shape, dtype = _shape(name, meta.get("sizes")), _type(name, meta.get("dtype"))
        member = members.get(f"{folder}{entry.get('path_name')}")
        if member is None:
            raise ReadError(Text("the archive lacks the bytes of {name}", name=make_printable(name)))
        due = prod(shape) * BYTES[dtype]
        if not entry.get("use_pickle") and member.size < due:
            raise ReadError(
                Text("{name} takes {due:,} bytes; the archive has {size:,}", name=make_printable(name), due=due, size=member.size)
            )
        place = (member.name, str(meta.get("storage_offset")), str(meta.get("strides")) + str(shape))
        owner = owners.setdefault(place, name) if due else name
        role, note = (None, "") if parameters and entry["is_param"] else ("buffer", "" if parameters else NOTE)
        tied = None if owner == name else owner
        yield StoredTensor(name, dtype, shape, 0 if tied else due, role, tied, note=note)


def _shape(name: str, sizes: object) -> tuple[int, ...]:
    found = [size.get("as_int") if isinstance(size, dict) else None for size in sizes] if isinstance(sizes, list) else [None]
    if len(found) > DEEPEST or not all(type(size) is int and 0 <= size < LONGEST for size in found):
        raise ReadError(Text("{name} has a shape that is not of whole numbers", name=make_printable(name)))
    return tuple(size for size in found if size is not None)


def _type(name: str, number: object) -> str:
    dtype = TYPES.get(number) if isinstance(number, int) else None
    if dtype is None:
        raise ReadError(Text("{name} is of the type {number!r:.40}, which torch does not have", name=make_printable(name), number=number))
    return dtype
