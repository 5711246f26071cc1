"""From full names to the tree: the inverse of :func:`~weighbridge.core.tree.flatten`.

A file or a live module names every tensor in full; folding finds the modules in the names and stores
equal numbered layers once, with a ``repeat``, so that a checkpoint has the same tree as a blueprint.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.collector import CollectorPaused
from weighbridge.core.errors import ReadError
from weighbridge.core.messages import Text
from weighbridge.core.tree import Every, Node, Part, Row, Tensor

DEEPEST = 64
"""A name of more pieces is kept in one piece: modules are never nested that deep."""

MOST_MODULES = 400_000
"""Names that tell of more modules are kept in one piece: no model comes near, and each would take its memory."""


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    _Seen: TypeAlias = dict[object, Any]
    """Nodes by what makes them equal; the keys of parts name their children by identity, which the values keep. And all that is made of a
    numbered module by what stands in it, tensor by tensor: equal ones are made once."""


def fold(rows: Iterable[Row], rank: Callable[[str], int] | None = None) -> Part:
    """Fold tensors with full names into a tree; numbered modules that are equal become one with a repeat.

    Args:
        rows: Tensors with unique full names.
        rank: Sorts the modules of one parent; those of equal rank, and all if it is None, keep their order.

    Returns:
        A tree whose :func:`~weighbridge.core.tree.flatten` gives the same rows: each module's own tensors first,
        numbered modules in the order of their numbers.

    Raises:
        ReadError: A name stands twice.

    >>> rows = [Row(f"layer.{n}.weight", (4, 4), "weight", None, None, False) for n in range(3)]
    >>> fold(rows).children[0]._replace(children=())
    Part(name='layer', children=(), kind='linear', repeat=3, executions=None, indices=None, experts=None, active=None, stream=None, requires=None)
    """
    rows = list(rows)
    if _has_too_many_modules(rows):
        return Part("", tuple(_tensor(row.name, row, None) for row in refuse_doubles(rows)), "model")
    with CollectorPaused():
        return Part("", _children_of(rows, 0, rank, None), "model")


def in_tree_order(rows: Iterable[Row], rank: Callable[[str], int] | None = None) -> list[Row]:
    """Return what :func:`~weighbridge.core.tree.flatten` gives of the tree that :func:`fold` makes, without making it.

    Raises:
        ReadError: A name stands twice.

    >>> rows = [Row(name, (2,), "weight", None, None, False) for name in ("b.10.w", "b.9.w", "a.w", "b.c.w", "b.w", "w")]
    >>> [row.name for row in in_tree_order(rows)]
    ['w', 'b.w', 'b.c.w', 'b.9.w', 'b.10.w', 'a.w']
    """
    rows = refuse_doubles(rows)
    return rows if _has_too_many_modules(rows) else _in_order(rows, 0, rank)


def _in_order(rows: list[Row], start: int, rank: Callable[[str], int] | None) -> list[Row]:
    """Put the rows of one module, whose names are alike before *start*, in the order of its children: see :func:`_children_of`."""
    if start and (path := _common_modules(rows, start)):
        return _in_order(rows, start + sum(map(len, path)) + len(path), rank)
    own, inner = _split_rows(rows, start)
    ordered, numbered = [*own.values()], []
    for piece in inner if rank is None else sorted(inner, key=rank):
        below = inner[piece]
        if is_index(piece):
            numbered.append((int(piece), piece, below))
        else:
            ordered += below if len(below) == 1 else _in_order(below, start + len(piece) + 1, rank)
    orders: dict[tuple[str, ...], list[int]] = {}  # of what is in numbered modules: most are alike
    for _, piece, below in sorted(numbered):
        if len(below) == 1:
            ordered += below
            continue
        after = start + len(piece) + 1
        inside = tuple([row.name[after:] for row in below])
        if inside not in orders:
            places = {id(row): place for place, row in enumerate(below)}
            orders[inside] = [places[id(row)] for row in _in_order(below, after, rank)]
        ordered += [below[place] for place in orders[inside]]
    return ordered


def _has_too_many_modules(rows: list[Row]) -> bool:
    return sum(row.name.count(".") for row in rows) > MOST_MODULES and _modules(rows) > MOST_MODULES


def _modules(rows: list[Row]) -> int:
    """Return how many modules the names tell of, but no more than is needed to know that they are too many."""
    count, parent = 0, ""
    for name in sorted((row.name for row in rows if _is_path(row.name)), key=lambda name: name.replace(".", "\0")):
        while not name.startswith(parent):
            parent = parent[: parent.rfind(".", 0, -1) + 1]
        count += name.count(".", len(parent))
        if count > MOST_MODULES:
            break
        parent = name[: name.rfind(".") + 1]
    return count


def refuse_doubles(rows: Iterable[Row]) -> list[Row]:
    """Return tensors of which none has the name of another.

    Raises:
        ReadError: A name stands twice.

    >>> refuse_doubles([Row("w", (2,), "weight", None, None, False)])[0].name
    'w'
    """
    rows = list(rows)
    if len({row.name for row in rows}) < len(rows):
        seen: set[str] = set()
        raise _duplicate_name(next(row for row in rows if row.name in seen or seen.add(row.name)))  # type: ignore[func-returns-value]
    return rows


def _duplicate_name(row: Row) -> ReadError:
    return ReadError(Text("the name {name!r:.200} occurs twice", name=row.name))


def pieces(name: str) -> list[str]:
    """Split a full name at its dots; a name with an empty piece is kept whole, since it names no module.

    >>> pieces("encoder.layer.0.weight"), pieces("a..b")
    (['encoder', 'layer', '0', 'weight'], ['a..b'])
    """
    return name.split(".") if _is_path(name) else [name]


def _is_path(name: str) -> bool:
    return name.count(".") < DEEPEST and ".." not in name and name[:1] not in ("", ".") and name[-1] != "."


def _children_of(rows: list[Row], start: int, rank: Callable[[str], int] | None, seen: _Seen | None) -> tuple[Node, ...]:
    """Turn the rows of one module, whose names are alike before *start*, into the children of a part.

    What is numbered shares *seen*, so that equal subtrees are one object; what no number stands before needs none.
    """
    if start and (path := _common_modules(rows, start)):
        return _wrap(path, _children_of(rows, start + sum(map(len, path)) + len(path), rank, seen), seen)
    own, inner = _split_rows(rows, start)
    children: list[Node] = [_tensor(name, row, seen) for name, row in own.items()]
    items = list(inner.items())
    if rank is not None:
        items.sort(key=lambda item: rank(item[0]))
    numbered: dict[tuple[int, ...], tuple[tuple[Node, ...], list[int]]] = {}
    among: _Seen = {} if seen is None else seen
    for piece, below in items:
        after = start + len(piece) + 1
        if is_index(piece):
            key = below[0].name[after:] if len(below) == 1 else tuple([row.name[after:] for row in below])
            content = (key, *[row[1:] for row in below])
            grown = among.get(content)
            if grown is None:
                grown = _children_of(below, after, rank, among) if len(below) > 1 else _chain(below[0], after, among)
                among[content] = grown
            numbered.setdefault(tuple(map(id, grown)), (grown, []))[1].append(int(piece))
        else:
            grown = _children_of(below, after, rank, seen) if len(below) > 1 else _chain(below[0], after, seen)
            if len(grown) == 1 and grown[0].name:
                children.append(_part(piece, grown, seen))
            else:
                children += _named_part(piece, grown, seen)
    groups = sorted(numbered.values(), key=lambda group: min(group[1]))
    return (*children, *(_repeated_part(inside, numbers, seen) for inside, numbers in groups))


def _chain(row: Row, start: int, seen: _Seen | None) -> tuple[Node, ...]:
    """Do what :func:`_children_of` does for a module that only one tensor is in, without looking for others."""
    below = row.name[start:]
    if "." not in below:
        return (_tensor(below, row, seen),)
    *path, last = below.split(".")
    return _wrap(path, (_tensor(last, row, seen),), seen)


def _wrap(path: list[str], grown: tuple[Node, ...], seen: _Seen | None) -> tuple[Node, ...]:
    """Put nodes into modules, each of which holds nothing but the next."""
    for piece in reversed(path):
        if is_index(piece):
            grown = (_repeated_part(grown, [int(piece)], seen),)
        elif len(grown) == 1 and grown[0].name:
            grown = (_part(piece, grown, seen),)
        else:
            grown = tuple(_named_part(piece, grown, seen))
    return grown


def _common_modules(rows: list[Row], start: int) -> list[str]:
    """Return the modules, one in the other, that all of some rows of one module lie in."""
    first, last = rows[0].name, rows[-1].name
    end = start
    while (dot := first.find(".", end)) >= 0 and last.startswith(first[end : dot + 1], end):
        piece = first[end : dot + 1]
        if not all(row.name.startswith(piece, end) for row in rows):
            break
        end = dot + 1
    return first[start : end - 1].split(".") if end > start else []


def _named_part(piece: str, grown: tuple[Node, ...], seen: _Seen | None) -> list[Part]:
    """Return the module of this name; numbered ones and nothing else in it take the name themselves."""
    if piece.endswith("_") or (grown[0].name if len(grown) == 1 else any(child.name or not isinstance(child, Part) for child in grown)):
        return [_part(piece, grown, seen)]  # numbers follow a name that ends in an underscore without a dot
    return [_part(piece, child.children, seen, child) for child in grown if isinstance(child, Part)]


def _repeated_part(children: tuple[Node, ...], numbers: list[int], seen: _Seen | None) -> Part:
    """Return one part for numbered modules that are equal: what is in each, and their numbers."""
    return _part("", children, seen, Part("", (), "block", len(numbers), None, _indices_of(sorted(numbers))))


def _split_rows(rows: list[Row], start: int) -> tuple[dict[str, Row], dict[str, list[Row]]]:
    """Tell a module's own tensors, by the last piece of their names, from the rows of the modules in it."""
    own: dict[str, Row] = {}
    inner: dict[str, list[Row]] = {}
    for row in rows:
        name = row.name
        dot = name.find(".", start) if start or _is_path(name) else -1
        if dot >= 0:
            inner.setdefault(name[start:dot], []).append(row)
        elif name[start:] in own:
            raise _duplicate_name(row)
        else:
            own[name[start:]] = row
    return own, inner


def _tensor(name: str, row: Row, seen: _Seen | None) -> Tensor:
    tensor = _make(Tensor, (name, *row[1:], False))
    if seen is None:
        return tensor
    found = seen.setdefault(tensor, tensor)
    assert isinstance(found, Tensor)
    return found


_make = tuple.__new__
"""What a named tuple's constructor ends in: a large file has a hundred thousand tensors."""


def is_index(piece: str) -> bool:
    """Tell whether a piece of a name is the number of a module.

    >>> is_index("11"), is_index("01"), is_index("layer")
    (True, False, False)
    """
    return piece.isdigit() and piece.isascii() and len(piece) < 10 and (piece[0] != "0" or piece == "0")


def _indices_of(indices: list[int]) -> Every | tuple[int, ...] | None:
    step = indices[1] - indices[0] if len(indices) > 1 else 1
    if indices != list(range(indices[0], indices[0] + step * len(indices), step)):
        return tuple(indices)
    return None if (indices[0], step) == (0, 1) else Every(indices[0], step)


def _part(name: str, children: tuple[Node, ...], seen: _Seen | None, like: Part | None = None) -> Part:
    """Make a part, repeated as *like* is; of equal ones among those *seen*, the first."""
    repeat, indices = (like.repeat, like.indices) if like is not None else (None, None)
    only = children[0] if len(children) == 1 else None
    if type(only) is Tensor and only[2] == "weight":  # its role: as most are in a file of very many
        kind = _MAPS.get(len(only[1]), "block") if only[0] == "weight" else "block"
    else:
        kind = kind_of(name, children)
    if kind == "block" and like is not None:
        kind = like.kind
    part = _make(Part, (name, children, kind, repeat, None, indices, None, None, None, None))
    if seen is None:
        return part
    found = seen.setdefault(f"{repeat} {indices} {[*map(id, children)]} {name}", part)
    assert isinstance(found, Part)
    return found


def kind_of(name: str, children: tuple[Node, ...]) -> str:
    """Tell what a module is by its name and its own tensors, or ``block`` where they leave it open.

    >>> kind_of("dense", (Tensor("weight", (4, 4)), Tensor("bias", (4,), "bias")))
    'linear'
    """
    return _kind_by_tensors(name, {child[0]: child for child in children if type(child) is Tensor})


def _kind_by_tensors(name: str, own: Mapping[str, Tensor | Row]) -> str:
    if not own:
        return _kind_by_name(name.lower())
    weight = own.get("weight")
    if weight is None:
        return "block"
    if weight.role == "embedding":
        return "embedding"
    if weight.role == "gain":
        if "running_mean" in own:
            return "batch_norm"
        return "layer_norm" if "bias" in own else "rms_norm" if "norm" in name.lower() or name.startswith("ln") else "block"
    return _MAPS.get(len(weight.shape), "block")


_MAPS = {2: "linear", 3: "convolution", 4: "convolution", 5: "convolution"}
"""What has a weight of so many dimensions."""


def kinds_of_modules(own: Mapping[str, Sequence[Row]]) -> dict[str, str] | None:
    """Tell what each module is that :func:`fold` would make a part of, without folding; None where it would leave names in one piece.

    Args:
        own: Every module by its full name, the empty one among them, with its own tensors.

    >>> kinds_of_modules({"": (), "layers": (), "layers.0": (), "layers.0.fc": (Row("layers.0.fc.weight", (2, 2), "weight", None, None, False),)})
    {'layers.0': 'layer', 'layers.0.fc': 'linear'}
    """
    every = [row for tensors in own.values() for row in tensors]
    if not all(map(_is_path, [row.name for row in every])) or _has_too_many_modules(every):
        return None
    pieces: dict[str, str] = {}
    holders: set[str] = set()
    for path in own:
        dot = path.rfind(".")
        piece = pieces[path] = path[dot + 1 :]
        if not is_index(piece):
            holders.add(path[:dot] if dot > 0 else "")
    del pieces[""]
    bare = [path for path, tensors in own.items() if not tensors and path]
    lists = {path for path in bare if path not in holders and not pieces[path].endswith("_") and not is_index(pieces[path])}
    kinds: dict[str, str] = {}
    for path, piece in pieces.items():
        if path in lists:
            continue  # numbered modules and nothing else: these take its name
        rows = own[path]
        if len(rows) == 1 and rows[0].role == "weight":  # as most are in a file of very many
            kinds[path] = _MAPS.get(len(rows[0].shape), "block") if rows[0].name.endswith(".weight") else "block"
            continue
        start = len(path) + 1
        tensors = {row.name[start:]: row for row in rows}
        kind = "block"
        if is_index(piece):
            above, piece = path[: max(path.rfind("."), 0)], ""
            if above in lists:
                kind = _kind_by_tensors(pieces[above], tensors)
        kinds[path] = _kind_by_tensors(piece, tensors) if kind == "block" else kind
    return kinds


def _kind_by_name(name: str) -> str:
    if "crossattention" in name or "cross_attn" in name or "encoder_attn" in name or "encdecattention" in name:
        return "cross_attention"
    if "attn" in name or "attention" in name:
        return "self_attention"
    if name in ("mlp", "ffn", "feed_forward", "intermediate"):
        return "feed_forward"
    return name if name in ("embeddings", "encoder", "decoder", "pooler") else "layer" if not name else "block"
