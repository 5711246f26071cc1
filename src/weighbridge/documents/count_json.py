"""The count of a model as JSON; apart from the document, so that ``--json`` loads no tables or sentences."""

from __future__ import annotations

from weighbridge.accounts.ledger import Entry
from weighbridge.accounts.parameters import tally_and_ledger
from weighbridge.conventions.loading import OLDER, loading_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Tensor, positions

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue

MOST_PLACES = 10_000
"""Places of copies that are written out; how many are left out stands beside them."""


def as_json(model: ModelValue) -> dict[str, Any]:
    """Return the answer of ``weigh count --json``; docs/json.md is its schema.

    >>> from weighbridge import model
    >>> as_json(model("bert-base-uncased"))["parameters"]["unique"]
    109482240
    """
    tally, book = tally_and_ledger(model)
    kept = ("unique", "stored", "trainable", "active", "embedding", "non_embedding", "duplicated", "weight", "bias", "gain", "shift")
    return {
        "source": model.source,
        "kind": model.kind,
        "model_type": model.model_type,
        "class": model.class_name or None,
        "parameters": {name: getattr(tally, name) for name in kept},
        "buffers": tally.buffers,
        "defaulted": model.defaulted,
        "unknown": model.unknown,
        "notes": list(model.notes),
        **_loading_json(model, tally.unique),
        "tree": _node(book),
    }


def _loading_json(model: ModelValue, unique: Size) -> dict[str, Any]:
    """Return the counts as built, as loaded and by an older release, where they are not one."""
    found = loading_of(model, unique)
    if found is None or not found.differs:
        return {}
    older = {"release": OLDER, "built": found.older}
    return {"built": found.built, "loaded": found.loaded, "older": older, "separate": list(found.separate)}


def _node(entry: Entry) -> dict[str, Any]:
    part = entry.part
    node: dict[str, Any] = {"name": part.name, "kind": part.kind, "parameters": entry.amount}
    if part.repeat is not None:
        node |= {"repeat": part.repeat, "each": entry.each}
        if part.indices is not None:
            places = positions(part)
            node["at"] = list(places[:MOST_PLACES])
            if len(places) > MOST_PLACES:
                node["at_left_out"] = len(places) - MOST_PLACES
    if part.executions is not None and not isinstance(part.executions, str):
        node["runs"] = part.executions
    if part.experts is not None:
        node |= {"experts": part.experts, "active": part.active}
    tensors = [line.node for line in entry.lines if isinstance(line.node, Tensor)]
    if tensors:
        node["tensors"] = [_tensor(tensor, line.amount) for line in entry.lines if isinstance(tensor := line.node, Tensor)]
    if entry.children:
        node["children"] = [_node(child) for child in entry.children]
    return node


def _tensor(tensor: Tensor, amount: Size) -> dict[str, Any]:
    return {
        "name": tensor.name,
        "shape": list(tensor.shape),
        "count": product(tensor.shape),
        "role": tensor.role,
        "tied_to": tensor.tied_to,
    }
