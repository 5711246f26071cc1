"""From what a torch file's pickle holds to named tensors: state dicts, training checkpoints, whole modules, TorchScript.

Whatever is in the file is listed, or the file is refused: a storage that no listed tensor looks into is an error.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from math import prod
from types import MappingProxyType

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.listing import MOST_TENSORS, Listing, StoredTensor, unique_names
from weighbridge.readers.text import make_printable
from weighbridge.readers.torch_storages import View
from weighbridge.readers.torch_training import Division, complete_module, divide, find_stated_ties
from weighbridge.readers.torch_walk import TRAINING, FoundTensor, walk


def listing_of(
    root: object, buffers: Mapping[str, frozenset[str]], storages: Collection[str] = (), beside: Mapping[str, object] = MappingProxyType({})
) -> Listing:
    """Name the tensors in what a pickle holds.

    Args:
        root: The unpickled object, of views, dicts, lists and stubs.
        buffers: For TorchScript, which attributes of each class are buffers.
        storages: The keys of all storages that the pickle speaks of.
        beside: What else the file holds, by name.

    Raises:
        ReadError: No tensors, too many, or a storage that belongs to none of them.
    """
    root = complete_module(root)
    walked = [*walk(root, buffers), *walk(dict(beside), {})]
    unlisted = set(storages).difference(key for found in walked for key in _keys(found.view))
    if unlisted:
        first = make_printable(min(unlisted))
        raise ReadError(
            Text(
                "{count:,} storages, {first} among them, are in objects that cannot be listed; load the file with torch and save a state dict",
                count=len(unlisted),
                first=first,
            )
        )
    if not walked:
        raise ReadError("the pickle holds no tensors")
    flat = next((found for found in walked if found.path and found.path[-1].rpartition(".")[2] in ("_flat_param", "flat_param")), None)
    if flat is not None:
        raise ReadError(
            Text(
                "{name} is a flat shard of FSDP, which does not show its tensors; save a full or a sharded state dict",
                name=make_printable(".".join(flat.path)),
            )
        )
    divided = divide(root, walked)
    tensors = _tie_as_stated(_tensors(divided), find_stated_ties(root))
    return Listing("torch", tuple(tensors), notes=(*divided.notes, *_group_notes(divided, tensors)))


def views_of(root: object) -> dict[str, View]:
    """Return the tensors of the model in what a pickle holds, by the names that :func:`listing_of` gives them."""
    return {name: found.view for name, found in divide(root, list(walk(root, {}))).model}


def _keys(view: View) -> set[str]:
    """Return the storages that a tensor looks into, or those within it do."""
    found, pending = set[str](), [view]
    while pending:
        one = pending.pop()
        pending += one.inner
        if one.storage is not None:
            found.add(one.storage.key)
    return found


def _group_notes(divided: Division, tensors: list[StoredTensor]) -> list[str]:
    """Say how much each part beside the model holds."""
    groups: dict[tuple[str, str], list[StoredTensor]] = {}
    for (key, _, found), tensor in zip(divided.aside, tensors[len(divided.model) :], strict=True):
        groups.setdefault((key, found.kind.note), []).append(tensor)
    said = {TRAINING: Text("belong to the training, not to the model")}
    beside = Text("lie beside the model and are not counted")
    return [
        Text(
            "{key}: {elements:,} elements in {tensors:,} tensors {why}",
            key=make_printable(key),
            elements=sum(tensor.stored for tensor in group),
            tensors=len(group),
            why=said.get(note, beside),
        )
        for (key, note), group in groups.items()
    ]


def _tensors(divided: Division) -> list[StoredTensor]:
    """Name every tensor, the model's first; a view of another tensor is tied to it."""
    found = [*divided.model, *((name, one) for _, name, one in divided.aside)]
    if len(found) > MOST_TENSORS:
        raise ReadError(Text("the pickle names more than {most_tensors:,} tensors", most_tensors=MOST_TENSORS))
    named = list(zip(unique_names([name for name, _ in found]), (one for _, one in found), strict=True))
    count = len(divided.model)
    owners = _owners([(name, one.view) for name, one in named[:count]])
    owners = {**_owners([(name, one.view) for name, one in named]), **owners}
    model = {name for name, _ in named[:count]}
    counted: set[tuple[str, int, int]] = set()
    return [
        _tensor_of(name, one, owners.get(name) if name not in model or owners.get(name) in model else None, counted) for name, one in named
    ]


def _tie_as_stated(tensors: list[StoredTensor], stated: Mapping[str, str]) -> list[StoredTensor]:
    """Tie what the file says is another of its tensors under a second name, where both have the shape of it and no elements."""
    shapes = {tensor.name: tensor.shape for tensor in tensors} if stated else {}
    return (
        [
            tensor._replace(tied_to=stated[tensor.name]) if shapes.get(stated.get(tensor.name, "")) == tensor.shape else tensor
            for tensor in tensors
        ]
        if stated
        else tensors
    )


def _tensor_of(name: str, found: FoundTensor, owner: str | None, counted: set[tuple[str, int, int]]) -> StoredTensor:
    """Return the row of one tensor, with the bytes it reaches in its storage; none if another tensor owns them.

    Args:
        name: Its name.
        found: What it is.
        owner: The tensor that holds its elements, if that is another.
        counted: What lies within tensors and was counted already, by storage, begin and extent: all of a group have one mesh.
    """
    view = found.view
    count = prod(view.shape)
    if owner:
        own, size = 0, 0
    elif view.inner:
        own, size = _elements_not_counted(view, counted)
    else:
        own = min(count, view.extent) if view.storage is not None else 0
        size = own * view.item_bytes
    role = "buffer" if found.kind.buffer else None
    kept = own if own != count and not (owner and own == 0) else None
    return StoredTensor(name, view.dtype, view.shape, size, role, owner, kept, found.kind.note or view.note)


def _elements_not_counted(view: View, counted: set[tuple[str, int, int]]) -> tuple[int, int]:
    """Return the elements and the bytes of the tensors that make up another, without those that were counted; they are from now on."""
    own = size = 0
    pending = list(view.inner)
    while pending:
        one = pending.pop()
        pending += one.inner
        if one.storage is None or (place := (one.storage.key, one.storage.begin + one.offset, one.extent)) in counted:
            continue
        counted.add(place)
        own += min(prod(one.shape), one.extent)
        size += min(prod(one.shape), one.extent) * one.item_bytes
    return own, size


def _owners(named: list[tuple[str, View]]) -> dict[str, str]:
    """Map each tensor that is a view of another to the owner's name: the first that holds all its elements.

    What the file holds no elements of (on the meta device, a sparse tensor of zeros) is another's where the pickle has one object twice.
    """
    by_storage: dict[str, list[_Span]] = {}
    owners: dict[str, str] = {}
    without: dict[int, str] = {}
    for number, (name, view) in enumerate(named):
        whole = view.inner[0] if view.inner else view
        if whole.storage is None or not whole.extent:
            owner = without.setdefault(id(view), name)
            if owner != name and 0 not in view.shape:
                owners[name] = owner
            continue
        begin = whole.storage.begin + whole.offset * whole.item_bytes
        geometry = None if view.dense and not view.inner else (view.shape, view.stride, view.dtype)
        by_storage.setdefault(whole.storage.key, []).append((begin, begin + whole.extent * whole.item_bytes, number, name, geometry))
    for spans in by_storage.values():
        if len(spans) > 1:
            owners |= _containers(spans)
    return owners


_Span = tuple[int, int, int, str, object]
"""Where a tensor begins and ends, its number, its name, and, if it does not fill that place, how it lies in it."""


def _containers(spans: list[_Span]) -> dict[str, str]:
    """Return which spans lie within another, and in which; of equal ones the first in the file is the owner."""
    inside: dict[str, str] = {}
    holder: _Span | None = None
    same: dict[tuple[int, int, object], str] = {}
    for begin, end, number, name, geometry in sorted(spans, key=lambda span: (span[0], -span[1], span[4] is not None, span[2])):
        if holder is not None and end <= holder[1]:
            inside[name] = holder[3]
        elif geometry is None:
            holder = (begin, end, number, name, None)
        else:
            owner = same.setdefault((begin, end, geometry), name)
            if owner != name:
                inside[name] = owner
    return inside
