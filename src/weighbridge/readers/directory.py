"""A directory of weights: which files make up the model, and which only lie beside it.

Files are tried in the order in which the reference library looks for them
(``_get_resolved_checkpoint_files`` in transformers 5.23.0, modeling_utils.py). One set is counted; twins in
another format, stale copies and sub-directories are named, never summed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.readers.formats import read_file
from weighbridge.readers.gguf import check_whole
from weighbridge.readers.listing import Listing
from weighbridge.readers.shards import INDEXES, KERAS_SHARD, SHARD, checkpoint_endings, list_index, merge_shards, read_shards
from weighbridge.readers.text import make_printable

PREFERRED = (
    "model.safetensors",
    "model.safetensors.index.json",
    "adapter_model.safetensors",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
    "adapter_model.bin",
    "diffusion_pytorch_model.safetensors",
    "diffusion_pytorch_model.safetensors.index.json",
    "consolidated.safetensors",
    "consolidated.safetensors.index.json",
    "model.ckpt.index",
    "tf_model.h5",
    "flax_model.msgpack",
)
"""Single files and indexes, first come first."""

BESIDE = re.compile(
    r"(optimizer|scheduler|scaler|rng_state|random_states|training_args|trainer_state|tokenizer|vocab)\b.*|.*\.(fp16|bf16|non_ema)\..*"
)
"""Files with the endings of weights that belong to training, and variants of another precision."""

SAVED_MODEL, VARIABLES = "saved_model.pb", "variables/variables.index"
"""The graph of TensorFlow's SavedModel, which tells no count, and the index of its variables."""


class Candidate(NamedTuple):
    """Files that together hold one model.

    Attributes:
        name: The file, the index, or the pattern of the shards.
        files: What to read.
        index_name: The index that lists the shards, if there is one.
    """

    name: str
    files: tuple[str, ...]
    index_name: str | None = None


def list_directory(folder: Path) -> Listing:
    """List the weights in a directory: one model, from its shards if it has shards.

    Raises:
        ReadError: No weights, several models without a way to choose, a missing shard, a damaged file, or an
            index that does not agree with its shards.
    """
    found = candidates(folder)
    if not found and (folder / SAVED_MODEL).is_file() and (folder / VARIABLES).is_file():
        listing = read_file(folder / VARIABLES)
        return listing._replace(notes=(*listing.notes, Text("the variables of a SavedModel, read from {path}", path=VARIABLES)))
    if not found:
        inside = _sub_directories(folder)
        hint = (
            Text("; weights lie in {folders}: name one", folders=", ".join(inside))
            if inside
            else Text("; name one with a checkpoint in it, or a config.json")
        )
        closed = min(
            (one.name for one in folder.iterdir() if one.name.endswith(checkpoint_endings()) and not one.is_file() and not one.is_dir()),
            default="",
        )
        if closed and not inside:
            hint = Text("; {name} is not a regular file, but a pipe, a device or a broken link", name=make_printable(closed))
        raise ReadError(Text("the directory holds no weights{hint}", hint=hint), path=str(folder))
    first, *others = found
    if others and first.name not in PREFERRED:
        names = ", ".join(candidate.name for candidate in found[:6])
        raise ReadError(
            Text("the directory holds {count} checkpoints ({names}); name one", count=len(found), names=names), path=str(folder)
        )
    listing = list_index(folder / first.index_name) if first.index_name else _list_files(folder, first)
    notes = [Text("{other} lies beside {first} and was not counted", other=other.name, first=first.name) for other in others]
    notes += [Text("{inside} holds weights of its own, which were not counted", inside=inside) for inside in _sub_directories(folder)]
    return listing._replace(notes=(*listing.notes, *notes))


def candidates(folder: Path) -> list[Candidate]:
    """Return the sets of files in a directory that could be its model, the one to count first."""
    names = sorted(path.name for path in folder.iterdir() if path.is_file())
    endings = checkpoint_endings()
    found: dict[str, Candidate] = {}
    shards: dict[tuple[str, str, str], set[str]] = {}
    for name in names:
        if name.endswith(INDEXES):
            found[name] = Candidate(name, (), name)
        elif name.endswith(endings) and not BESIDE.fullmatch(name) and not (name.endswith(".bin") and f"{name[:-4]}.xml" in names):
            match = SHARD.fullmatch(name)
            if (part := KERAS_SHARD.fullmatch(name)) and f"{part['stem']}.weights.json" in names:
                continue
            if match:
                shards.setdefault((match["stem"], match["of"], match["ending"]), set()).add(name)
            else:
                found[name] = Candidate(name, (name,))
    for (stem, of, ending), files in shards.items():
        if f"{stem}{ending}.index.json" not in found:
            found[f"{stem}-*-of-{of}{ending}"] = Candidate(f"{stem}-*-of-{of}{ending}", tuple(sorted(files)))
    order = {name: rank for rank, name in enumerate(PREFERRED)}
    return sorted(found.values(), key=lambda candidate: order.get(candidate.name, len(order)))


def _list_files(folder: Path, candidate: Candidate) -> Listing:
    """List a single file, or shards without an index, all of which must be there."""
    match = SHARD.fullmatch(candidate.files[0])
    if match is None:
        return read_file(folder / candidate.files[0])
    _refuse_missing_shards(folder, candidate, match)
    listings = read_shards(folder, candidate.files)
    _refuse_doubles(folder, listings)
    merged = merge_shards(listings, [tensor for listing in listings.values() for tensor in listing.tensors])
    return check_whole(merged) if merged.format == "gguf" else merged


def _refuse_missing_shards(folder: Path, candidate: Candidate, match: re.Match[str]) -> None:
    """Refuse shards that are fewer than the name of the first says, which *match* holds; they are numbered from 0 or from 1."""
    of = int(match["of"])
    here = {int(name[len(match["stem"]) + 1 :][:5]) for name in candidate.files}
    start = 0 if 0 in here else 1
    missing = sorted(set(range(start, of + start)) - here) if of <= 99_999 else []
    if missing or len(here) != of:
        raise ReadError(
            Text(
                "{name}: {value} of {of} shards are missing: number {missing}",
                name=candidate.name,
                value=of - len(here),
                of=of,
                missing=", ".join(map(str, missing[:5])),
            ),
            path=str(folder),
        )


def _refuse_doubles(folder: Path, listings: Mapping[str, Listing]) -> None:
    """Refuse shards of which two hold a tensor of one name."""
    seen: dict[str, str] = {}
    for shard, listing in listings.items():
        for tensor in listing.tensors:
            if tensor.name in seen:
                raise ReadError(
                    Text(
                        "{shown} is in two shards, {seen} and {shard}; an index would tell which",
                        shown=make_printable(tensor.name),
                        seen=seen[tensor.name],
                        shard=shard,
                    ),
                    path=str(folder),
                )
            seen[tensor.name] = shard


def _sub_directories(folder: Path) -> list[str]:
    """Return the names of sub-directories that hold weights, as pipelines and sentence encoders have."""
    inner = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [path.name for path in inner if _holds_weights(path)]


def _holds_weights(folder: Path) -> bool:
    """Tell whether a folder that may be read holds a checkpoint; an XML is one where its weights lie beside it."""
    try:
        names = [path.name for path in folder.iterdir()]
    except PermissionError:
        return False
    named = [name for name in names if name.endswith(checkpoint_endings()) and not BESIDE.fullmatch(name)]
    return any(not name.endswith(".xml") or f"{name.removesuffix('.xml')}.bin" in names for name in named)
