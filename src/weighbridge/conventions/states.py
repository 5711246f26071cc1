"""The trees that a class has once it is loaded, or built by an older release, beside the one that its blueprint describes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.conventions.loading import is_tied_head, separate
from weighbridge.core.messages import mark
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class State(NamedTuple):
    """A way in which a class comes about, other than being built from its config.

    Attributes:
        name: In words that follow "as".
        what: What it has beside the built class.
        cost: How far-fetched it is to count it so.
    """

    name: str
    what: str
    cost: int


AS_LOADED = State(mark("loaded from its published file"), mark("a head of its own"), 0)


def states(model: ModelValue) -> Iterator[tuple[State, Part]]:
    """Yield the ways in which the class of *model* comes about that give another number than building it, with the trees."""
    if separate(model):
        yield AS_LOADED, untied(model.tree)


def untied(tree: Part) -> Part:
    """Return a tree whose heads own their storage.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.parameters import count as count_tree
    >>> count_tree(untied(model("flan-t5-base").tree))
    247577856
    """
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            children.append(untied(child))
        elif isinstance(child, Tensor) and is_tied_head(child):
            children.append(child._replace(tied_to=None))
        else:
            children.append(child)
    return tree._replace(children=tuple(children))
