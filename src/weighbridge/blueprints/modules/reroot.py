"""How a whole model's tree is set into another: the names it ties to, and the streams it sees, are those of its new place.

It knows parts, tensors and streams alone; what a sub-config means, and where its tree goes, is said in ``composite.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.core.tree import Filled, Least, Node, Once, Part, Span, Squares, Stream, Tensor, Times, Together, Within


def moved(part: Part, prefix: str, streams: Mapping[str, Stream]) -> Part:
    """Return a tree as it is inside another: *prefix* in front of the names that it ties to, and its named streams replaced.

    What nothing changes in is returned as it was, so that a large tree without ties is not built again.

    >>> from weighbridge.core.parts import linear
    >>> moved(Part("", (linear("head", 2, 2, tied_to="words.weight"),)), "text.", {}).children[0].children[0].tied_to
    'text.words.weight'
    """
    children = tuple(_child(child, prefix, streams) for child in part.children)
    if all(new is old for new, old in zip(children, part.children, strict=True)) and not streams:
        return part
    given = part.given if part.given is None or part.given not in streams else _name(streams[part.given])
    return part._replace(children=children, stream=redirected(part.stream, streams), given=given)


def _child(node: Node, prefix: str, streams: Mapping[str, Stream]) -> Node:
    if isinstance(node, Part):
        return moved(node, prefix, streams)
    if isinstance(node, Tensor):
        return node if node.tied_to is None else node._replace(tied_to=prefix + node.tied_to)
    if not streams:
        return node
    products = tuple(tuple(redirected(factor, streams) for factor in factors) for factors in node.products)
    queries, keys = redirected(node.queries, streams), redirected(node.keys, streams)
    return node._replace(queries=queries, keys=keys, groups=redirected(node.groups, streams), products=products)  # type: ignore[arg-type]


def _name(stream: Stream) -> str | None:
    """Return what a part needs to run whose stream became another: a stream of known length is always there."""
    match stream:
        case Span() | Once() | Least() | Filled() | Within() | Squares():
            return _name(stream.of)
        case str():
            return stream
        case _:
            return None


def redirected(stream: Stream | None, streams: Mapping[str, Stream]) -> Stream | None:
    """Return a stream with named ones replaced, however deep they stand.

    >>> redirected(Span("seq", add=1), {"seq": "decoder"})
    Span(of='decoder', add=1, times=1, over=1, plus=0, evenly=False)
    """
    match stream:
        case str():
            return streams.get(stream, stream)
        case Span() | Once() | Least() | Filled() | Within() | Squares():
            return stream._replace(of=redirected(stream.of, streams))  # type: ignore[arg-type]
        case Together():
            return Together(tuple(redirected(inner, streams) for inner in stream.streams))  # type: ignore[misc]
        case Times():
            return Times(tuple(redirected(inner, streams) for inner in stream.streams))  # type: ignore[misc]
        case _:
            return stream
