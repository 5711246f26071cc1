"""Which modules of a model a quantizer may replace, and which it leaves as they are."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import UsageError
from weighbridge.core.tree import Part, Row, Tensor, list_rows, walk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from weighbridge.value import ModelValue

ROUTERS = frozenset(("gate", "router"))
"""What stands beside experts and chooses among them: a parameter of its own, no linear map that would be replaced."""


MOST_NAMES = 5_000
MOST_ROWS = 20_000
"""Longer lists of modules, or of tensors, are not gone through."""
FULL_PRECISION = "indexer.weights_proj"
"""A map that the classes that have it keep in float32 (``_keep_in_fp32_modules``)."""


def rows_of(model: ModelValue) -> list[Row] | None:
    """Return the tensors of a model, or None if there are too many of them to go through."""
    try:
        return list_rows(model.tree, MOST_ROWS)
    except UsageError:
        return None


def unquantized_modules(rows: list[Row], stated: Any) -> Any:
    """Return a function that tells which modules stay as they are, or None if their list is not understood."""
    if stated is None:
        last = next(row for row in reversed(rows) if row.tied_to is None and row.role != "buffer").name.rpartition(".")[0]
        # Without a list: the output head, what is tied to it, and the last module of all.
        return lambda name: name == "lm_head" or name == last
    if (
        not isinstance(stated, (list, tuple))
        or len(stated) > MOST_NAMES
        or not all(type(name) is str and _is_plain(name) for name in stated)
    ):
        return None  # the library takes them for regular expressions, which nobody should run who did not write them
    whole = frozenset(stated)
    ends = tuple(whole)

    def is_kept(name: str) -> bool:
        pieces = name.split(".")
        return name.endswith(ends) or any(".".join(pieces[:count]) in whole for count in range(1, len(pieces) + 1))

    return is_kept


def _is_plain(name: str) -> bool:
    return 0 < len(name) <= 200 and all(letter.isalnum() or letter in "_.-" for letter in name)


def matrices(tree: Part, rows: list[Row]) -> Iterator[tuple[str, tuple[int, ...], bool]]:
    """Yield module, shape and whether it is a gate and an up-projection in one, for each matrix that the quantizer may replace."""
    kinds = {(_fold(path), node.name): part.kind for path, part in walk(tree) for node in part.children if isinstance(node, Tensor)}
    beside = {_fold(path).rpartition(".")[0] for path, part in walk(tree) if part.kind == "experts"}
    for row in rows:
        name, _, tensor = row.name.rpartition(".")
        folded = _fold(name)
        outer, _, last = folded.rpartition(".")
        kind = kinds.get((folded, tensor))
        if (
            row.tied_to is None
            and row.role == "weight"
            and _is_replaced(kind, row, tensor)
            and not (last in ROUTERS and outer in beside)
            and not folded.endswith(FULL_PRECISION)
        ):
            yield name, row.shape, tensor == "gate_up_proj"  # type: ignore[misc]


def _is_replaced(kind: str | None, row: Row, tensor: str) -> bool:
    return (kind == "linear" and len(row.shape) == 2 and tensor == "weight") or (kind == "experts" and len(row.shape) == 3)


def _fold(name: str) -> str:
    return ".".join(piece for piece in name.split(".") if not piece.isdigit())
