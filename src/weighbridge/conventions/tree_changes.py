"""A tree in which one tensor, or each, is another."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def tie(tree: Part, name: str, owner: str | None) -> Part:
    """Return a tree in which the tensor at the dotted path *name* is *owner*'s, or nobody else's.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.parameters import count
    >>> count(tie(model({"model_type": "pop2piano"}, "Pop2PianoForConditionalGeneration").tree, "lm_head.weight", "shared.weight"))
    57879552
    """
    return change(tree, name, tied_to=owner)


def change(tree: Part, name: str, **changes: Any) -> Part:
    """Return a tree in which the tensor at the dotted path *name* is another."""
    first, _, rest = name.partition(".")
    children: list[Node] = []
    for child in tree.children:
        if child.name == first and isinstance(child, Part) and rest:
            children.append(change(child, rest, **changes))
        elif child.name == first and isinstance(child, Tensor):
            children.append(child._replace(**changes))
        else:
            children.append(child)
    return tree._replace(children=tuple(children))


def change_tensors(tree: Part, change: Callable[[Part, Tensor], Iterable[Tensor]]) -> Part:
    """Return a tree in which others stand for each tensor: what *change* makes of the part that holds it and of the tensor."""
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            children.append(change_tensors(child, change))
        elif isinstance(child, Tensor):
            children += change(tree, child)
        else:
            children.append(child)
    return tree._replace(children=tuple(children))
