"""One model, one row: from a config, a checkpoint's header, or a directory with both."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from weighbridge.accounts.flops import flops
from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import from_config
from weighbridge.config.fields import Config
from weighbridge.config.read import read_config
from weighbridge.core.errors import UnknownArchitecture, UsageError, WeighbridgeError
from weighbridge.core.sizes import Size
from weighbridge.core.tree import ROLES, Part
from weighbridge.designs.costs import whole
from weighbridge.inventory.schema import OK, UNKNOWN, Row, failed, fitting
from weighbridge.load import load
from weighbridge.readers import Listing, listing_at, rows
from weighbridge.readers.packing import config_beside, unpack
from weighbridge.value import ModelValue
from weighbridge.verification.verify import claims, verify

WORDS = {
    "hidden_size": "hidden", "layers": "layers", "heads": "heads", "kv_heads": "kv_heads", "head_dim": "head_dim", "mlp": "mlp",
    "vocab": "vocab", "experts": "experts",
}  # fmt: skip
"""From a column of sizes to our word for it."""
CONTEXT = 1024
"""Tokens over which the arithmetic of one is averaged; with one alone, a state space would be charged for a whole chunk."""
COUNTS = ("unique", "stored", "active", "trainable", "embedding", "non_embedding", "buffers")


def row_of_config(raw: dict[str, Any], path: str) -> Row:
    """Weigh one config.

    >>> row_of_config({"model_type": "bert"}, "config.json")["unique"]
    109482240
    """
    try:
        return fitting(described(from_config(raw, path, None, None), path))
    except UnknownArchitecture as error:
        return failed(path, error, UNKNOWN)
    except WeighbridgeError as error:
        return failed(path, error)
    except Exception as error:  # a fault of ours must not lose the other rows
        return failed(path, RuntimeError(f"internal fault: {type(error).__name__}: {error}"))


def described(model: ModelValue, path: str) -> Row:
    """Return the row of a model made from a config."""
    description = model.description
    assert description is not None
    return {
        "path": path, "status": OK, "kind": "config", "model_type": description.family.model_type, "class": model.class_name,
        **sizes_of(description.sizes), **accounts_of(model.tree), "quantization": quantization(description.raw),
        "fingerprint": fingerprint(model.class_name, description.sizes),
    }  # fmt: skip


def sizes_of(sizes: Config) -> dict[str, Any]:
    """Return the columns of sizes; of a model made of several, those of its text."""
    own = vars(sizes)
    if "hidden" not in own and isinstance(own.get("text"), Config):
        own = vars(own["text"])
    return {name: value for name, word in WORDS.items() if type(value := own.get(word)) is int}


def accounts_of(tree: Part) -> dict[str, Size | None]:
    """Return every count of a tree, and its arithmetic for one token where that is defined."""
    counts = tally(tree)
    return {**{name: getattr(counts, name) for name in COUNTS}, "flops_per_token": flops_per_token(tree)}


def flops_per_token(tree: Part) -> Size | None:
    """Return the matrix FLOPs of a forward pass over :data:`CONTEXT` tokens, for each of them, rounded down.

    None is a class whose pass needs more than tokens, or is not described at that length.
    """
    try:
        return flops(tree, {"seq": CONTEXT, "decoder": CONTEXT}).forward_matmul // CONTEXT
    except UsageError:
        return None


def quantization(raw: Mapping[str, Any]) -> str | None:
    """Return the quantisation method that a config names.

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
    counts: Counter[str] = Counter()
    for tensor in rows(listing):
        if tensor.tied_to is None:
            size = whole(tensor.count)
            counts[tensor.role] += size
            counts["frozen"] += size if tensor.frozen else 0
    unique = sum(counts[role] for role in ROLES if role != "buffer")
    row: Row = {
        "path": name, "status": OK, "kind": "checkpoint", "unique": unique, "trainable": unique - counts["frozen"],
        "embedding": counts["embedding"], "non_embedding": unique - counts["embedding"], "buffers": counts["buffer"],
    }  # fmt: skip
    return fitting(row | _of_file(listing, listing.stored))


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
    row = described(model, name) | {"kind": "both", "verified": not found.unexplained, "mismatch": mismatch or None}
    return fitting(row | _of_file(listing, listing.stored) | {"fingerprint": row["fingerprint"]})


def _of_file(listing: Listing, stored: int) -> Row:
    """Return what a file itself tells: elements, bytes, types, claims."""
    elements: Counter[str] = Counter()
    digest = blake2b(digest_size=8)
    for tensor in listing.tensors:
        elements[tensor.dtype] += tensor.stored
    for tensor in sorted(listing.tensors, key=lambda tensor: tensor.name):
        digest.update(f"{tensor.name}\0{tensor.shape}\0".encode(errors="replace"))
    row: Row = {
        "stored": stored, "bytes": listing.size_bytes, "dtypes": json.dumps(dict(elements.most_common())), "fingerprint": digest.hexdigest(),
    }  # fmt: skip
    stated = [claim for claim in claims(listing) if claim.name != "total_size" and type(claim.stated) is int]
    if stated:
        row |= {"claimed": stated[0].stated, "claim_holds": stated[0].holds}
    return row
