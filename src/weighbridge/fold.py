"""From full names to the tree: the inverse of :func:`~weighbridge.tree.flatten`.

A file or a live module names every tensor in full; folding finds the modules in the names and stores
equal numbered layers once, with a ``repeat``, so that a checkpoint has the same tree as a blueprint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from weighbridge.errors import ReadError
from weighbridge.tree import Every, Node, Part, Row, Tensor

DEEPEST = 64
"""A name of more pieces is kept in one piece: modules are never nested that deep."""


class _Branch(NamedTuple):
    tensors: dict[str, Tensor]
    branches: dict[str, _Branch]


_Seen = dict[tuple[object, ...], Node]


def fold(rows: Iterable[Row], rank: Callable[[str], int] | None = None) -> Part:
    """Fold tensors with full names into a tree; numbered modules that are equal become one with a repeat.

    Args:
        rows: Tensors with unique full names.
        rank: Sorts the modules of one parent; those of equal rank, and all if it is None, keep their order.

    Returns:
        A tree whose :func:`~weighbridge.tree.flatten` gives the same rows: each module's own tensors first,
        numbered modules in the order of their numbers.

    Raises:
        ReadError: A name stands twice.

    >>> rows = [Row(f"layer.{n}.weight", (4, 4), "weight", None, None, False) for n in range(3)]
    >>> fold(rows).children[0]._replace(children=())
    Part(name='layer', children=(), kind='linear', repeat=3, runs=None, at=None, experts=None, active=None, stream=None, given=None)
    """
    root = _Branch({}, {})
    for row in rows:
        _plant(root, row)
    return Part("", _grown(root, rank, {}), "model")


def _plant(branch: _Branch, row: Row) -> None:
    *path, last = pieces(row.name)
    for piece in path:
        branch = branch.branches.setdefault(piece, _Branch({}, {}))
    if last in branch.tensors:
        raise ReadError(f"the name {row.name!r:.200} stands twice")
    branch.tensors[last] = Tensor(last, row.shape, row.role, row.tied_to, row.dtype, row.frozen)


def pieces(name: str) -> list[str]:
    """Split a full name at its dots; a name with an empty piece is kept whole, since it names no module.

    >>> pieces("encoder.layer.0.weight"), pieces("a..b")
    (['encoder', 'layer', '0', 'weight'], ['a..b'])
    """
    found = name.split(".")
    return found if len(found) <= DEEPEST and all(found) else [name]


def _grown(branch: _Branch, rank: Callable[[str], int] | None, seen: _Seen) -> tuple[Node, ...]:
    """Turn a branch into the children of a part."""
    children: list[Node] = [_once(tensor, tensor, seen) for tensor in branch.tensors.values()]
    items = list(branch.branches.items())
    if rank is not None:
        items.sort(key=lambda item: rank(item[0]))
    numbered: list[tuple[int, Part]] = []
    for piece, inner in items:
        grown = _grown(inner, rank, seen)
        if is_index(piece):
            numbered.append((int(piece), _part("", grown, seen)))
        elif not inner.tensors and all(isinstance(child, Part) and not child.name for child in grown):
            children += [_part(piece, child.children, seen, child) for child in grown if isinstance(child, Part)]
        else:
            children.append(_part(piece, grown, seen))
    return (*children, *_repeats(numbered, seen))


def is_index(piece: str) -> bool:
    """Tell whether a piece of a name is the number of a module.

    >>> is_index("11"), is_index("01"), is_index("layer")
    (True, False, False)
    """
    return piece.isascii() and piece.isdigit() and len(piece) < 10 and (piece[0] != "0" or piece == "0")


def _repeats(numbered: list[tuple[int, Part]], seen: _Seen) -> list[Node]:
    """Group numbered modules that are equal; *seen* has made equal ones identical."""
    groups: dict[int, tuple[Part, list[int]]] = {}
    for index, part in sorted(numbered, key=lambda item: item[0]):
        groups.setdefault(id(part), (part, []))[1].append(index)
    return [_part("", part.children, seen, part._replace(repeat=len(at), at=_at(at))) for part, at in groups.values()]


def _at(indices: list[int]) -> Every | tuple[int, ...] | None:
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    if indices != list(range(indices[0], indices[0] + step * len(indices), step)):
        return tuple(indices)
    return None if (indices[0], step) == (0, 1) else Every(indices[0], step)


def _part(name: str, children: tuple[Node, ...], seen: _Seen, like: Part | None = None) -> Part:
    repeat, at = (like.repeat, like.at) if like is not None else (None, None)
    kind = kind_of(name, children)
    if kind == "block" and like is not None:
        kind = like.kind
    part = Part(name, children, kind, repeat, at=at)
    key = (name, repeat, at, *map(id, children))
    found = _once(key, part, seen)
    assert isinstance(found, Part)
    return found


def _once(key: tuple[object, ...], node: Node, seen: _Seen) -> Node:
    """Return the node that was made first for this key, so that equal subtrees are one object."""
    return seen.setdefault(key, node)


def kind_of(name: str, children: tuple[Node, ...]) -> str:
    """Tell what a module is by its name and its own tensors, or ``block`` where they leave it open.

    >>> kind_of("dense", (Tensor("weight", (4, 4)), Tensor("bias", (4,), "bias")))
    'linear'
    """
    own = {child.name: child for child in children if isinstance(child, Tensor)}
    weight = own.get("weight")
    if weight is None:
        return _kind_by_name(name.lower()) if not own else "block"
    if weight.role == "embedding":
        return "embedding"
    if weight.role == "gain":
        if "running_mean" in own:
            return "batch_norm"
        return "layer_norm" if "bias" in own else "rms_norm" if "norm" in name.lower() or name.startswith("ln") else "block"
    return {2: "linear", 3: "convolution", 4: "convolution", 5: "convolution"}.get(len(weight.shape), "block")


def _kind_by_name(name: str) -> str:
    if "crossattention" in name or "cross_attn" in name or "encoder_attn" in name or "encdecattention" in name:
        return "cross_attention"
    if "attn" in name or "attention" in name:
        return "self_attention"
    if name in ("mlp", "ffn", "feed_forward", "intermediate"):
        return "feed_forward"
    return name if name in ("embeddings", "encoder", "decoder", "pooler") else "layer" if not name else "block"
