"""One model, one row: from a config, a checkpoint's header, or a directory with both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from math import prod
from pathlib import Path
from typing import Any

from weighbridge.accounts.cache import UNKNOWN as UNDESCRIBED
from weighbridge.accounts.cache import bytes_per_token
from weighbridge.accounts.flops import matmuls
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import from_config
from weighbridge.config.fields import Config
from weighbridge.config.read import read_config
from weighbridge.conventions.loading import count_loaded, untied_heads
from weighbridge.conventions.reconcile import reconcile
from weighbridge.core.errors import UnknownArchitecture, UsageError, WeighbridgeError
from weighbridge.core.sizes import Size
from weighbridge.core.tree import ROLES, Part
from weighbridge.inventory.schema import OK, UNKNOWN, Row, failure_row, fit_int64
from weighbridge.inventory.years import OF_FILES, stated_year
from weighbridge.load import load
from weighbridge.readers import Listing, StoredTensor, listing_at
from weighbridge.readers.packing import config_beside, unpack
from weighbridge.readers.roles import norms, role_of
from weighbridge.value import ModelValue
from weighbridge.verification.verify import claims, verify

WORDS = {
    "hidden_size": "hidden",
    "layers": "layers",
    "heads": "heads",
    "kv_heads": "kv_heads",
    "head_dim": "head_dim",
    "mlp": "mlp",
    "vocab": "vocab",
    "experts": "experts",
}
"""From a column of sizes to our word for it."""
CONTEXT = 1024
"""Tokens over which the arithmetic of one is averaged; with one alone, a state space would be charged for a whole chunk."""
CACHED = 4096
"""Tokens after which the growth of the cache is taken, as ``weigh cache`` does: most windows are full by then."""
COUNTS = ("unique", "stored", "active", "trainable", "embedding", "non_embedding", "buffers")


def row_of_config(raw: dict[str, Any], path: str) -> Row:
    """Weigh one config.

    >>> row_of_config({"model_type": "bert"}, "config.json")["unique"]
    109482240
    """
    try:
        return fit_int64(row_of_model(from_config(raw, path, None, None), path))
    except UnknownArchitecture as error:
        return failure_row(path, error, UNKNOWN)
    except WeighbridgeError as error:
        return failure_row(path, error)
    except Exception as error:  # a fault of ours must not lose the other rows
        return failure_row(path, RuntimeError(f"internal fault: {type(error).__name__}: {error}"))


def row_of_model(model: ModelValue, path: str) -> Row:
    """Return the row of a model made from a config."""
    description = model.description
    assert description is not None
    known, raw, sizes = description
    return {
        "path": path,
        "status": OK,
        "kind": "config",
        "model_type": known.model_type,
        "class": model.class_name,
        **sizes_of(sizes),
        **accounts_of(model.tree, known.model_type, raw),
        "quantization": quantization(raw),
        "fingerprint": fingerprint(model.class_name, sizes),
    }


def sizes_of(sizes: Config) -> dict[str, Any]:
    """Return the columns of sizes; of a model made of several, those of its text."""
    own = vars(sizes)
    if "hidden" not in own and isinstance(own.get("text"), Config):
        own = vars(own["text"])
    return {name: value for name, word in WORDS.items() if type(value := own.get(word)) is int}


def accounts_of(tree: Part, model_type: str, raw: Mapping[str, Any]) -> dict[str, Size | None]:
    """Return every count of a tree, and its arithmetic and its cache for one token where these are defined."""
    counts = tally(tree)
    return {
        **{name: getattr(counts, name) for name in COUNTS},
        "built": counts.unique,
        "loaded": count_loaded(tree, raw, counts.unique),
        "flops_per_token": flops_per_token(tree),
        "cache_per_token": cache_per_token(tree, model_type),
    }


def flops_per_token(tree: Part) -> Size | None:
    """Return the matrix FLOPs of a forward pass over :data:`CONTEXT` tokens, for each of them, rounded down.

    None is a class whose pass needs more than tokens, or is not described at that length.
    """
    try:
        return matmuls(tree, {"seq": CONTEXT, "decoder": CONTEXT}).amount // CONTEXT
    except UsageError:
        return None


def cache_per_token(tree: Part, model_type: str) -> Size | None:
    """Return the bytes that one more token adds to the cache after :data:`CACHED` of them, in 16 bits.

    None is a type whose cache is not described, or needs more than tokens.
    """
    if model_type in UNDESCRIBED:
        return None
    try:
        return bytes_per_token(tree, Inputs(seq=CACHED))
    except UsageError:
        return None


def quantization(raw: Mapping[str, Any]) -> str | None:
    """Return the quantization method that a config names.

    >>> quantization({"quantization_config": {"quant_method": "gptq", "bits": 4}})
    'gptq 4'
    """
    stated = raw.get("quantization_config")
    if not isinstance(stated, Mapping):
        return None
    words = [str(stated[key])[:40] for key in ("quant_method", "bits") if stated.get(key) is not None]
    return " ".join(words) or None


def fingerprint(class_name: str, sizes: Config) -> str:
    """Return what is equal for two configs of one class whose every size and switch is equal."""
    digest = blake2b(class_name.encode(), digest_size=8)
    for word, value in _facts(sizes):
        digest.update(f"\0{word}={value!r}".encode())
    return digest.hexdigest()


def _facts(sizes: Config, path: str = "") -> Iterator[tuple[str, object]]:
    for word, value in sorted(vars(sizes).items()):
        if isinstance(value, Config):
            yield from _facts(value, f"{path}{word}.")
        elif not callable(value):
            yield path + word, value


def row_of_checkpoint(path: Path, name: str) -> Row:
    """Weigh the header of a checkpoint: a file, an index, or a directory of weights without a config."""
    listing = listing_at(path)
    counts = dict.fromkeys(ROLES, 0)
    gains = norms([(tensor.name, tensor.shape) for tensor in listing.tensors])
    for tensor in listing.tensors:
        if tensor.tied_to is None:
            counts[tensor.role or _role(tensor, gains)] += prod(tensor.shape)
    unique = sum(size for role, size in counts.items() if role != "buffer")
    row: Row = {
        "path": name,
        "status": OK,
        "kind": "checkpoint",
        "unique": unique,
        "trainable": unique,
        "embedding": counts["embedding"],
        "non_embedding": unique - counts["embedding"],
        "buffers": counts["buffer"],
    }
    return fit_int64(row | _of_file(listing))


def _role(tensor: StoredTensor, gains: frozenset[str]) -> str:
    """Tell the role of a tensor of a file; names come again in file after file, whatever the sizes are."""
    name, shape = tensor.name, tensor.shape
    parent = name.rpartition(".")[0] if len(shape) == 1 else ""
    beside = f"{parent}.weight" if f"{parent}.weight" in gains else f"{parent}.gamma"
    return _role_of(name, shape if len(shape) == 4 else (0,) * len(shape), tensor.dtype, beside if beside in gains else "")


@lru_cache(1 << 16)
def _role_of(name: str, shape: tuple[int, ...], dtype: str, beside: str) -> str:
    return role_of(name, shape, dtype, frozenset((beside,)))


def row_of_directory(folder: Path, config: Path, name: str) -> Row:
    """Weigh a directory that holds a config and weights: the config's class, and whether the weights are its."""
    try:
        model = load(read_config(config)).replace(source=name)
    except UnknownArchitecture as error:
        row = row_of_checkpoint(folder, name)
        return row | {"status": UNKNOWN, "error": str(error)}
    listing = listing_at(folder)
    found = verify(model, unpack(listing, config_beside(folder)), name)
    mismatch = "; ".join(f"{finding.name}: {finding.reason}" for finding in found.unexplained[:5])
    if len(found.unexplained) > 5:
        mismatch += f"; and {len(found.unexplained) - 5:,} more"
    row = row_of_model(model, name) | {"kind": "both", "verified": not found.unexplained, "mismatch": mismatch or None}
    heads = {head.name for head in untied_heads(model)}
    if heads and not heads & {tensor.name for tensor in listing.tensors}:
        row["loaded"] = row["built"]  # the config says that the head is untied, and the file has none
    row = row | _of_file(listing, row["built"]) | {"fingerprint": row["fingerprint"]}
    if row.get("claim_holds") is False:
        row["claim_convention"] = convention_of(model, row["claimed"])
    return fit_int64(row)


def with_claim(row: Row, raw: dict[str, Any], claimed: int) -> Row:
    """Hold what a table's record states of a config against what the config makes.

    >>> raw = {"model_type": "bert"}
    >>> with_claim(row_of_config(raw, "x"), raw, 108891648)["claim_convention"]
    'BertModel without pooler'
    """
    if row["status"] != OK:
        return row | {"claimed": claimed}
    holds = claimed in (row["built"], row["loaded"])
    told = None if holds else convention_of(from_config(raw, row["path"], None, None), claimed)
    return fit_int64(row | {"claimed": claimed, "claim_holds": holds, "claim_convention": told})


def convention_of(model: ModelValue, number: int) -> str | None:
    """Return the simplest way of counting a model that gives a number, if there is one."""
    matches = reconcile(model, number).matches
    return (
        f"{matches[0].convention} ({matches[0].how})"
        if matches and matches[0].how != "exact"
        else matches[0].convention
        if matches
        else None
    )


def _of_file(listing: Listing, expected: int | None = None) -> Row:
    """Return what a file itself tells: elements, bytes, types, claims, the latter held to the class's count too where there is one."""
    elements: dict[str, int] = {}
    for tensor in listing.tensors:
        elements[tensor.dtype] = elements.get(tensor.dtype, 0) + tensor.stored
    named = sorted([(tensor.name, tensor.shape) for tensor in listing.tensors])
    digest = blake2b("".join([f"{name}\0{shape}\0" for name, shape in named]).encode(errors="replace"), digest_size=8)
    row: Row = {
        "stored": sum(elements.values()),
        "bytes": listing.size_bytes,
        "fingerprint": digest.hexdigest(),
        "dtypes": json.dumps(dict(sorted(elements.items(), key=lambda entry: -entry[1]))),
    }
    year = stated_year(listing.metadata, OF_FILES)
    row |= {"year": year, "year_from": "metadata"} if year is not None else {}
    stated = [claim for claim in claims(listing, expected) if claim.name != "total_size" and type(claim.stated) is int]
    if stated:
        row |= {"claimed": stated[0].stated, "claim_holds": stated[0].holds}
    return row
