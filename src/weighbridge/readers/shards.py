"""Shards: the index that names them, and what they hold together; an index's own figures are claims, and are held to what is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.files import is_file_name, read_whole
from weighbridge.core.messages import Text
from weighbridge.readers.formats import FORMATS, read_file
from weighbridge.readers.listing import PART, Listing, StoredTensor
from weighbridge.readers.text import make_printable, parse_object
from weighbridge.readers.variables import with_dots

SHARD = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<of>\d{5})(?P<ending>\.[a-z0-9]+)")
KERAS_SHARD = re.compile(r"(?P<stem>.+)_\d{5}\.weights\.h5", re.ASCII)
"""What Keras calls the files of weights that it cut up (``save_weights(..., max_shard_size=...)``)."""
KERAS_INDEX = ".weights.json"
INDEXES = (".index.json", KERAS_INDEX)
LARGEST_INDEX = 32_000_000
MOST_SHARDS = 10_000


class Index(NamedTuple):
    """What an index says: the shard of each tensor, and its own claims."""

    weight_map: dict[str, str]
    metadata: dict[str, object]

    @property
    def shards(self) -> tuple[str, ...]:
        """The shards, each once, sorted."""
        return tuple(sorted(set(self.weight_map.values())))


def read_index(path: Path) -> Index:
    """Read the index of a sharded checkpoint.

    Raises:
        ReadError: It is no such index, or names a file outside its directory.
    """
    weight_map, metadata = _read_map(path)
    if not all(isinstance(name, str) for name in weight_map.values()):
        raise ReadError("an index needs a weight_map from each tensor's name to a file", path=str(path))
    _check_shards(set(weight_map.values()), path)
    return Index(weight_map, metadata)


def _read_map(path: Path) -> tuple[dict[str, Any], dict[str, object]]:
    """Read an index's map and its own claims."""
    try:
        raw = parse_object(read_whole(path, LARGEST_INDEX), "the index")
    except OSError as error:
        raise ReadError(Text("cannot be read: {strerror}", strerror=error.strerror or error), path=str(path)) from None
    except ReadError as error:
        raise error.at(str(path)) from None
    weight_map, metadata = raw.get("weight_map"), raw.get("metadata") or {}
    if not isinstance(weight_map, dict) or not isinstance(metadata, dict):
        raise ReadError("an index needs a weight_map from each tensor's name to a file", path=str(path))
    if not weight_map:
        raise ReadError("the index names no tensor", path=str(path))
    return weight_map, metadata


def _check_shards(names: set[str], path: Path) -> None:
    """Refuse an index of too many shards, or of files elsewhere."""
    if len(names) > MOST_SHARDS:
        raise ReadError(
            Text("an index of {count:,} shards; at most {most_shards:,} are accepted", count=len(names), most_shards=MOST_SHARDS),
            path=str(path),
        )
    for name in names:
        if not is_file_name(name):
            raise ReadError(Text("the index names {shown!r}, which is not in this directory", shown=make_printable(name)), path=str(path))


def _list_keras(path: Path) -> Listing:
    """List the shards of Keras's index, which maps each layer to the files that hold its variables, one or several.

    Source: keras 3.15.1, src/saving/saving_lib.py, class ShardedH5IOStore
    """
    placed, metadata = _read_keras_index(path)
    shards = tuple(sorted({file for files in placed.values() for file in files}))
    _refuse_missing(path, shards)
    listings = read_shards(path.parent, shards)
    due = {(write(layer.strip("/")), file) for layer, files in placed.items() for file in files for write in (with_dots, _with_each_dot)}
    kept: dict[str, tuple[StoredTensor, str]] = {}
    strays: list[StoredTensor] = []
    for shard, listing in listings.items():
        for tensor in listing.tensors:
            if (tensor.name.rpartition(".")[0], shard) not in due:
                strays.append(tensor)
            elif tensor.name in kept and kept[tensor.name][1] == shard:  # layers whose names differ by a dot in place of a slash
                raise ReadError(
                    Text("{shard}: the name {name} occurs twice", shard=shard, name=make_printable(tensor.name)), path=str(path)
                )
            elif tensor.name in kept:
                raise ReadError(
                    Text(
                        "{shown} is in two shards, {seen} and {shard}",
                        shown=make_printable(tensor.name),
                        seen=kept[tensor.name][1],
                        shard=shard,
                    ),
                    path=str(path),
                )
            else:
                kept[tensor.name] = tensor, shard
    met = {(name.rpartition(".")[0], shard) for name, (_, shard) in kept.items()}
    for layer, files in placed.items():
        for file in files:
            if not met & {(with_dots(layer.strip("/")), file), (_with_each_dot(layer.strip("/")), file)}:
                raise ReadError(
                    Text("{file} holds nothing of {layer!r:.80}, which the index gives it", file=file, layer=layer), path=str(path)
                )
    merged = merge_shards(listings, [tensor for tensor, _ in kept.values()])
    notes = [*_unnamed_notes(path.parent, shards), *_stray_notes(strays), *unequal_claims(metadata, merged)]
    return merged._replace(notes=(*merged.notes, *notes))


def keras_shards(path: Path) -> list[Path]:
    """Return the files that an index of Keras names."""
    return [path.parent / name for name in sorted({file for files in _read_keras_index(path)[0].values() for file in files})]


def _read_keras_index(path: Path) -> tuple[dict[str, list[str]], dict[str, object]]:
    layers, metadata = _read_map(path)
    placed = {layer: [files] if isinstance(files, str) else files for layer, files in layers.items()}
    if not all(isinstance(files, list) and files and all(isinstance(file, str) for file in files) for files in placed.values()):
        raise ReadError("an index of Keras needs a weight_map from each layer to its files", path=str(path))
    _check_shards({file for files in placed.values() for file in files}, path)
    return placed, metadata


def _with_each_dot(name: str) -> str:
    return name.replace("/", ".")


def _refuse_missing(where: Path, shards: tuple[str, ...]) -> None:
    """Refuse an index some of whose shards are not there."""
    missing = [name for name in shards if not (where.parent / name).is_file()]
    if missing:
        raise ReadError(
            Text(
                "{count} of {count2} shards are missing: {missing}",
                count=len(missing),
                count2=len(shards),
                missing=", ".join(map(make_printable, missing[:5])),
            ),
            path=str(where),
        )


def list_index(path: Path) -> Listing:
    """List the shards that an index names, and hold the index against them."""
    if path.name.endswith(KERAS_INDEX):
        return _list_keras(path)
    index = read_index(path)
    _refuse_missing(path, index.shards)
    listings = read_shards(path.parent, index.shards)
    kept: list[StoredTensor] = []
    strays: list[StoredTensor] = []
    for shard, listing in listings.items():
        for tensor in listing.tensors:
            (kept if index.weight_map.get(tensor.name) == shard else strays).append(tensor)
    absent = index.weight_map.keys() - {tensor.name for tensor in kept}
    if absent:
        name = min(absent)
        raise ReadError(
            Text(
                "{count} tensors are not in the shards the index gives them: {shown} in {weight_map}",
                count=len(absent),
                shown=make_printable(name),
                weight_map=index.weight_map[name],
            ),
            path=str(path),
        )
    merged = merge_shards(listings, kept)
    notes = [*_unnamed_notes(path.parent, index.shards), *_stray_notes(strays), *unequal_claims(index.metadata, merged)]
    return merged._replace(metadata={**merged.metadata, **index.metadata}, notes=(*merged.notes, *notes))


def unequal_claims(metadata: Mapping[str, object], listing: Listing) -> list[str]:
    """Say which of an index's own figures do not hold. They are claims; nothing is counted by them."""
    notes: list[str] = []
    for key, found, unit in (("total_size", listing.size_bytes, Text("bytes")), ("total_parameters", listing.stored, Text("elements"))):
        stated = metadata.get(key)
        if stated is not None and stated != found:
            stated = f"{stated:,}" if isinstance(stated, int | float) else f"{stated!r:.40}"
            notes.append(
                Text(
                    "the index claims a {key} of {stated}; the shards hold {found:,} {unit}", key=key, stated=stated, found=found, unit=unit
                )
            )
    return notes


def _unnamed_notes(folder: Path, shards: tuple[str, ...]) -> list[str]:
    """Say which shards lie beside those of an index without being named by it: what is left of another save."""
    if not isinstance(folder, Path):
        return []
    stems = {match["stem"] for name in shards if (match := _shard(name))}
    names = sorted(path.name for path in folder.iterdir() if path.name not in shards)
    unnamed = [name for name in names if (match := _shard(name)) and match["stem"] in stems and name.endswith(checkpoint_endings())]
    listed = ", ".join(map(make_printable, unnamed[:3]))
    return (
        [
            Text(
                "{count} shards lie beside those of the index, which does not name them, and were not counted: {listed}",
                count=len(unnamed),
                listed=listed,
            )
        ]
        if unnamed
        else []
    )


def _shard(name: str) -> re.Match[str] | None:
    return SHARD.fullmatch(name) or KERAS_SHARD.fullmatch(name)


def _stray_notes(strays: list[StoredTensor]) -> list[str]:
    """Say which tensors stand in shards where the index does not place them."""
    if not strays:
        return []
    names = ", ".join(make_printable(tensor.name) for tensor in strays[:3])
    count = sum(tensor.stored for tensor in strays)
    return [
        Text(
            "{tensors} tensors with {count:,} elements are in shards where the index does not place them and were not counted: {names}",
            tensors=len(strays),
            count=count,
            names=names,
        )
    ]


def merge_shards(listings: Mapping[str, Listing], tensors: list[StoredTensor]) -> Listing:
    """Make one listing of several."""
    formats = {listing.format for listing in listings.values()}
    if len(formats) > 1:
        raise ReadError(Text("the shards are of several formats: {formats}", formats=", ".join(sorted(formats))))
    metadata = {key: value for listing in list(listings.values())[::-1] for key, value in listing.metadata.items()}
    notes = dict.fromkeys(note for listing in listings.values() for note in listing.notes if not note.startswith(PART))
    ordered = all(listing.ordered for listing in listings.values())
    return Listing(formats.pop() if formats else "", tuple(tensors), metadata, tuple(notes), ordered)


def checkpoint_endings() -> tuple[str, ...]:
    """Return the endings of the names of files that some reader takes."""
    return tuple(ending for entry in FORMATS for ending in entry.endings)


def read_shards(folder: Path, names: tuple[str, ...]) -> dict[str, Listing]:
    """Read shards: one after the other from a disk, several at a time from a server, which takes its time to answer."""
    if isinstance(folder, Path):
        return {name: read_file(folder / name) for name in names}
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(16) as pool:
        return dict(zip(names, pool.map(lambda name: read_file(folder / name), names), strict=True))
