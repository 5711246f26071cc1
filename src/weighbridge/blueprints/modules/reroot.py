"""Set a whole model's tree into another: the names it ties to, and the streams it sees, become those of its new place.

It knows parts, tensors and streams alone; what a sub-config means, and where its tree goes, is said in ``composite.py``.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Stream, names, with_names
from weighbridge.core.tree import Attend, Matmul, Node, Part, State, Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping


def reroot(part: Part, prefix: str, streams: Mapping[str, Stream]) -> Part:
    """Return a tree as it is inside another: *prefix* in front of the names that it ties to, and its named streams replaced.

    What nothing changes in is returned as it was, so that a large tree without ties is not built again.

    >>> from weighbridge.core.parts import linear
    >>> reroot(Part("", (linear("head", 2, 2, tied_to="words.weight"),)), "text.", {}).children[0].children[0].tied_to
    'text.words.weight'
    """
    children = tuple(_child(child, prefix, streams) for child in part.children)
    if all(new is old for new, old in zip(children, part.children, strict=True)) and not streams:
        return part
    requires = part.requires
    if requires is not None and requires in streams:
        requires = required_by(streams[requires])
    return part._replace(children=children, stream=_redirect(part.stream, streams), requires=requires)


def freeze(module: Part) -> Part:
    """Return a module none of whose parameters is trained.

    >>> from weighbridge.core.parts import linear
    >>> freeze(linear("head", 2, 2)).children[0].frozen
    True
    """
    children = tuple(
        freeze(child)
        if isinstance(child, Part)
        else child._replace(frozen=True)
        if isinstance(child, Tensor) and child.role != "buffer"
        else child
        for child in module.children
    )
    return module._replace(children=children)


def required_by(stream: Stream) -> str | None:
    """Return the name of the length without which there is no such stream, if it is made of one.

    >>> required_by("encoder"), required_by(197)
    ('encoder', None)
    """
    found = names(stream)
    return found.pop() if len(found) == 1 else None


def _child(node: Node, prefix: str, streams: Mapping[str, Stream]) -> Node:
    match node:
        case Part():
            return reroot(node, prefix, streams)
        case Tensor():
            return node if node.tied_to is None else node._replace(tied_to=prefix + node.tied_to)
        case Attend() if streams:
            queries, keys = _redirect(node.queries, streams), _redirect(node.keys, streams)
            kept = _redirect(node.kept, streams)
            return node._replace(queries=queries, keys=keys, groups=with_names(node.groups, streams), kept=kept)
        case State() if streams:
            return node._replace(tokens=_redirect(node.tokens, streams))
        case Matmul() if streams:
            return node._replace(products=tuple(tuple(with_names(size, streams) for size in factors) for factors in node.products))
        case _:
            return node


def _redirect(stream: Stream | None, streams: Mapping[str, Stream]) -> Stream | None:
    return None if stream is None else with_names(stream, streams)
