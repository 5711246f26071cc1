"""The modules of a base model, as an adapter library sees them: every name of ``named_modules``, its kind and its own tensors."""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.fold import fold, kinds_of_modules
from weighbridge.core.tree import Part, Row, copy_name, positions

if TYPE_CHECKING:
    from collections.abc import Sequence


class Module(NamedTuple):
    """One module of the base model.

    Attributes:
        path: Its dotted name.
        kind: The kind of its part in the tree, or ``container`` for a level that only names others.
        tensors: Its own tensors (not those of modules inside it).
    """

    path: str
    kind: str
    tensors: tuple[Row, ...]

    @property
    def weight(self) -> Row | None:
        """Its weight, if it has one of that name."""
        return next((row for row in self.tensors if row.name.rpartition(".")[2] == "weight"), None)

    @property
    def bias(self) -> Row | None:
        """Its bias, if it has one of that name."""
        return next((row for row in self.tensors if row.name.rpartition(".")[2] == "bias"), None)


def modules(below: Part | Sequence[Row], rows: Sequence[Row]) -> dict[str, Module]:
    """List the modules of a tree, or of listed tensors, by name, in the order of ``named_modules``, repeats unrolled.

    >>> from weighbridge.core.parts import linear
    >>> from weighbridge.core.tree import list_rows
    >>> tree = Part("", (Part("layer", (linear("dense", 2, 2),), repeat=2),))
    >>> list(modules(tree, list_rows(tree)))
    ['layer', 'layer.0', 'layer.0.dense', 'layer.1', 'layer.1.dense']
    """
    own: dict[str, list[Row]] = {"": []}
    for row in rows:
        path = row.name[: max(row.name.rfind("."), 0)]
        within = own.get(path)
        if within is None:
            end = path.rfind(".")
            if end >= 0 and (above := path[:end]) not in own:
                _name_levels(above, own)
            within = own[path] = []
        within.append(row)
    kinds = None if isinstance(below, Part) else kinds_of_modules(own)
    if kinds is None:
        kinds = {}
        _put_kinds(below if isinstance(below, Part) else fold(below), "", kinds)
        if not kinds.keys() <= own.keys():
            for path in kinds:
                _name_levels(path, own)
    del own[""]
    kind_of = kinds.get
    return {path: _make(Module, (path, kind_of(path, "container"), tuple(within))) for path, within in own.items()}


_make = tuple.__new__
"""What a named tuple's constructor ends in: of a large file there are a hundred thousand modules."""


def _name_levels(path: str, own: dict[str, list[Row]]) -> None:
    if path in own:
        return
    end = path.rfind(".")
    if end >= 0 and (above := path[:end]) not in own:
        _name_levels(above, own)
    own[path] = []


def _put_kinds(part: Part, prefix: str, kinds: dict[str, str]) -> None:
    for child in part.children:
        if type(child) is not Part:
            continue
        if child.repeat is None:
            path = prefix + child.name
            if child.name:
                kinds[path] = child.kind
            _put_kinds(child, f"{path}." if child.name else prefix, kinds)
            continue
        for index in positions(child):
            path = prefix + copy_name(child.name, index)
            kinds[path] = child.kind
            _put_kinds(child, f"{path}.", kinds)
