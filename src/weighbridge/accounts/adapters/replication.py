"""Layers that are repeated in a model, with one set of weights and an adapter for each copy: ``layer_replication``.

Source: huggingface/peft 0.21.2, tuners/tuners_utils.py (replicate_layers)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base
from weighbridge.accounts.adapters.modules import Module
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.tree import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

LISTS = ("layers", "encoder.layer", "h")
"""Where the library looks for layers, inside of ``model`` and ``bert``."""


def replicate(base: Base, ranges: object) -> Base:
    """Return the base with the layers of each range, one range after the other.

    Args:
        ranges: Pairs of the first layer and the one behind the last.

    Raises:
        ConfigError: They are no such pairs.
        UsageError: The model has no list of layers where the library looks for one.
    """
    holder = _holder(base)
    order = _order(ranges, sum(path.rpartition(".")[0] == holder for path in base.modules))
    known: dict[str, Module] = {}
    for path, module in base.modules.items():
        if path == holder:
            known[path] = module
            known |= {copy.path: copy for copy in _copies(base, holder, order)}
        elif not path.startswith(f"{holder}."):
            known[path] = module
    first = next(index for index, row in enumerate(base.rows) if row.name.startswith(f"{holder}."))
    outside = [(index, row) for index, row in enumerate(base.rows) if not row.name.startswith(f"{holder}.")]
    before, behind = ([row for index, row in outside if (index < first) is early] for early in (True, False))
    inside = [row for place in range(len(order)) for row in _rows(base.within(f"{holder}.{order[place]}"), holder, order, place)]
    return base._replace(modules=known, rows=(*before, *inside, *behind))


def _holder(base: Base) -> str:
    prefix = ""
    while f"{prefix}model" in base.modules:
        prefix += "model."
    if f"{prefix}bert" in base.modules:
        prefix += "bert."
    found = next((prefix + name for name in LISTS if f"{prefix}{name}.0" in base.modules), None)
    if found is None:
        raise UsageError("layer_replication: the library replicates layers only in models like Llama, BERT and Falcon")
    return found


def _order(ranges: object, layers: int) -> list[int]:
    pairs = ranges if isinstance(ranges, (list, tuple)) else ()
    if not pairs or not all(
        isinstance(pair, (list, tuple)) and len(pair) == 2 and all(type(end) is int and 0 <= end <= layers for end in pair)
        for pair in pairs
    ):
        raise ConfigError("expected pairs of layers that the model has, such as [[0, 4], [2, 6]]", key="layer_replication", value=ranges)
    return [layer for first, last in pairs for layer in range(first, last)]


def _copies(base: Base, holder: str, order: list[int]) -> Iterator[Module]:
    for place, layer in enumerate(order):
        old = f"{holder}.{layer}"
        for path, module in base.modules.items():
            if path == old or path.startswith(f"{old}."):
                rows = _rows(list(module.tensors), holder, order, place)
                yield Module(f"{holder}.{place}{path[len(old) :]}", module.kind, tuple(rows))


def _rows(rows: list[Row], holder: str, order: list[int], place: int) -> Iterator[Row]:
    """Yield the tensors of a layer at its new place; those of a further copy are the first one's."""
    old, owner = f"{holder}.{order[place]}.", order.index(order[place])
    for row in rows:
        ending = row.name.removeprefix(old)
        tied = row.tied_to if owner == place else f"{holder}.{owner}.{ending}"
        if tied is not None and tied.startswith(old) and owner == place:
            tied = f"{holder}.{place}.{tied.removeprefix(old)}"
        yield row._replace(name=f"{holder}.{place}.{ending}", tied_to=tied)
