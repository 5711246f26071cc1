"""A model as a tree of parts (modules), tensors, and operations without parameters such as attention.

Blueprints and readers make it; every account (counts, formulas, memory, FLOPs, derivations)
is a walk over it. Repeated layers are stored once with a ``repeat``, so the cost of a walk does
not grow with depth; names are unrolled on demand. A :data:`~weighbridge.core.sizes.Size` is an int, a symbol or a
column of ints; a :data:`~weighbridge.core.length.Stream` says how many tokens go through a part, such as ``"seq"``.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple  # the same as typing's, whose import takes a tenth of a count's time
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Size, product

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from weighbridge.core.length import Stream

ROLES = ("weight", "bias", "gain", "shift", "embedding", "buffer")
"""What a tensor is: a matrix that is multiplied with (``weight``), an addend (``bias``), a norm's
scale (``gain``) and offset (``shift``), a table that is looked up or a learned vector that is put
in as a token (``embedding``), or state that is saved but not learned (``buffer``)."""


class Tensor(NamedTuple):
    """One stored array.

    Attributes:
        name: Its name inside its part, such as ``weight``; :func:`flatten` puts the full names together.
        shape: Its sizes; the empty shape is a scalar, which has one element.
        role: One of :data:`ROLES`.
        tied_to: The full name of the tensor whose storage this is, or None if it owns its own.
        dtype: The element type, if the source tells.
        frozen: Whether the reference marks it as not trainable (it is still a parameter).
        inputs_first: Whether a matrix (of experts, say) is kept as inputs × outputs; those of linear maps are outputs × inputs.
    """

    name: str
    shape: tuple[Size, ...]
    role: str = "weight"
    tied_to: str | None = None
    dtype: str | None = None
    frozen: bool = False
    inputs_first: bool = False


class Attend(NamedTuple):
    """Scaled dot-product attention, which has no parameters: queries times keys, and the scores times values.

    Per example that is ``groups * heads * queries * keys * (head_dim + value_dim)`` multiply-adds.

    Attributes:
        name: A label; no tensor has it.
        heads, kv_heads: Query heads, and heads of keys and values (fewer than query heads in grouped-query attention).
        head_dim, value_dim: Width of a query or key, and of a value, per head.
        queries, keys: Streams: how many queries and keys there are; None is the stream of the part it stands in.
        groups: How many independent such products there are per example (windows of an image, say).
        causal: Whether a token sees only those before it, so that their keys and values are kept in generation.
        window: How many keys a query can see at most, if the architecture limits it (it bounds the cache).
        windowed: How many of the copies of its part have that window, where a part repeats; None is all of them.
        cache: Elements that the key-value cache keeps per token; None is ``kv_heads * (head_dim + value_dim)``.
        kept: The stream whose keys and values the cache keeps, where that is not all of *keys*.
    """

    name: str
    heads: Size
    kv_heads: Size
    head_dim: Size
    value_dim: Size
    queries: Stream | None = None
    keys: Stream | None = None
    groups: Stream = 1
    causal: bool = False
    window: Size | None = None
    windowed: Size | None = None
    cache: Size | None = None
    kept: Stream | None = None


class Matmul(NamedTuple):
    """Products of matrices without parameters.

    Attributes:
        name: A label; no tensor has it.
        products: One tuple for each product, whose factors multiply to its multiply-adds per example: ``("seq", "seq", 64)``.
    """

    name: str
    products: tuple[tuple[Stream, ...], ...] = ()


class State(NamedTuple):
    """What the cache of a layer keeps of an example beside the keys and values of an :class:`Attend`: a recurrent state, say.

    Attributes:
        name: What it is called in the reference.
        size: Elements per example, however long the text is; with *per_token*, elements per token.
        dtype: Their element type, where that does not depend on the dtype of the model.
        per_token: Whether *size* is kept of each token.
        tokens: The stream of these tokens; None is the stream of the part it stands in.
        window: How many of these tokens the next one can see at most, itself included, if that is limited.
        windowed: How many copies of its part have that window; None is all of them.
    """

    name: str
    size: Size
    dtype: str | None = None
    per_token: bool = False
    tokens: Stream | None = None
    window: Size | None = None
    windowed: Size | None = None


class Every(NamedTuple):
    """Layer indices ``start, start + step, ...``: where the copies of a repeated part stand."""

    start: Size
    step: Size = 1


class Part(NamedTuple):
    """A module: a name, what it is made of, and how often it is there.

    Attributes:
        name: As in the checkpoint; a repeated part unrolls to ``name.0``, ``name.1`` and so on, or to ``name_0`` if
            its name ends in an underscore. The empty name adds no level.
        children: Parts, tensors and operations in the order of the reference's ``named_parameters``.
        kind: What it is (``linear``, ``layer_norm``, ``attention``, ...), for sentences and titles.
        repeat: Copies stored; None is a single module without an index.
        executions: How often it runs, if not once for each copy: ALBERT stores one layer and runs it twelve times. Or the name of
            an input, such as ``images``: it runs once for each.
        indices: Of the copies: None is 0, 1, 2, ...; an :class:`Every`; or a tuple of ints.
        experts, active: How many experts it holds, and how many of them the router chooses for a token.
        stream: The tokens that go through it; None is the stream of its parent.
        requires: The name of the stream without which it does not run: ``encoder`` for a cross-attention.
    """

    name: str
    children: tuple[Node, ...] = ()
    kind: str = "block"
    repeat: Size | None = None
    executions: Size | str | None = None
    indices: Every | tuple[int, ...] | None = None
    experts: Size | None = None
    active: Size | None = None
    stream: Stream | None = None
    requires: str | None = None


Operation: TypeAlias = Attend | Matmul | State
"""What a module computes or keeps without parameters."""

Node: TypeAlias = Part | Tensor | Operation


class Row(NamedTuple):
    """One tensor with its full name, as :func:`flatten` yields it."""

    name: str
    shape: tuple[Size, ...]
    role: str
    tied_to: str | None
    dtype: str | None
    frozen: bool

    @property
    def count(self) -> Size:  # type: ignore[override]
        """Elements, whether or not they are another tensor's storage."""
        return product(self.shape)


MOST_ROWS = 1_000_000
"""The most tensors whose names are written out; counts need no names and know no such limit."""


def list_rows(node: Part, most: int = MOST_ROWS) -> list[Row]:
    """Return the list of what :func:`flatten` yields, if the tensors are not too many.

    Raises:
        UsageError: There are more than *most*.

    >>> len(list_rows(Part("", (Part("layer", (Tensor("w", (2,)),), repeat=2),))))
    2
    """
    refuse_too_many(_count_rows(node), most)
    return list(flatten(node))


def refuse_too_many(many: int, most: int = MOST_ROWS) -> None:
    """Refuse to list more than *most* tensors by name."""
    if many > most:
        raise UsageError(Text("{many:,} tensors; at most {most:,} are listed by name", many=many, most=most))


def _count_rows(node: Part) -> int:
    """Count the tensors by their full names, without writing these out."""
    each = 0
    for child in node.children:
        if type(child) is Tensor:
            each += 1
        elif type(child) is Part:
            each += _count_rows(child)
    return each * (node.repeat if isinstance(node.repeat, int) else 1)


def flatten(node: Part, prefix: str = "") -> Iterator[Row]:
    """Yield every tensor with its full name, repeats unrolled, in ``named_parameters`` order.

    Sizes that say how often a part repeats must be ints; shapes may be symbols or columns.
    Neighbouring repeats of the same name are merged by their indices, so layers of several kinds
    come out in the order of their numbers.

    >>> [row.name for row in flatten(Part("", (Part("layer", (Tensor("w", (2,)),), repeat=2),)))]
    ['layer.0.w', 'layer.1.w']
    """
    # A stack of where to go on once a part is done: with a generator inside a generator, each tensor would pass through all of them.
    above: list[tuple[tuple[Node, ...], int, str]] = []
    children, position = node.children, 0
    while True:
        if position == len(children):
            if not above:
                return
            children, position, prefix = above.pop()
            continue
        child = children[position]
        position += 1
        if type(child) is Tensor:
            name, shape, role, tied_to, dtype, frozen, _ = child
            yield Row(prefix + name, shape, role, tied_to, dtype, frozen)
        elif type(child) is Part:
            if child.repeat is None:
                above.append((children, position, prefix))
                prefix = f"{prefix}{child.name}." if child.name else prefix
                children, position = child.children, 0
                continue
            run = [child]
            while position < len(children) and _is_same_list(children[position], child):
                run.append(children[position])  # type: ignore[arg-type]
                position += 1
            if len(run) == 1 and not _repeats_inside(child):  # the tensors of one copy are those of all, under other names
                inside = list(flatten(child))
                for index, part in _copies(run):
                    first = f"{prefix}{copy_name(part.name, index)}."
                    for name, shape, role, tied_to, dtype, frozen in inside:
                        yield Row(first + name, shape, role, tied_to, dtype, frozen)
                continue
            for index, part in _copies(run):
                yield from flatten(part, f"{prefix}{copy_name(part.name, index)}.")


def _repeats_inside(part: Part) -> bool:
    """Tell whether anything in a part repeats."""
    return any(type(node) is Part and (node.repeat is not None or _repeats_inside(node)) for node in part.children)


def _is_same_list(node: Node, first: Part) -> bool:
    """Tell whether a node repeats under the name of *first*: another kind of layer in the same ``ModuleList``."""
    return isinstance(node, Part) and node.repeat is not None and node.name == first.name


def _copies(run: list[Part]) -> Iterator[tuple[int, Part]]:
    """Yield the copies of neighbouring repeats, each with its index, in order; lazily, since there may be more than memory holds."""
    if len(run) == 1:
        return _copies_of(run[0])
    from itertools import pairwise

    spans = [positions(part) for part in run if part.repeat]
    ends = [(places[0], places[-1]) for places in spans if isinstance(places, range) and places.step > 0]
    if len(ends) == len(run) and all(last < first for (_, last), (first, _) in pairwise(ends)):
        return ((index, part) for part, places in zip(run, spans, strict=True) for index in places)  # one run after the other
    from heapq import merge

    return merge(*map(_copies_of, run), key=lambda copy: copy[0])


def _copies_of(part: Part) -> Iterator[tuple[int, Part]]:
    """Yield one repeated part as often as it repeats, each time with its index, in order."""
    places = positions(part)
    return ((index, part) for index in (places if isinstance(places, range) else sorted(places)))


def copy_name(name: str, index: int) -> str:
    """Return the name of one copy of a repeated part; a name that ends in an underscore takes the index without a dot.

    >>> copy_name("layer", 3), copy_name("expert_", 3), copy_name("", 3)
    ('layer.3', 'expert_3', '3')
    """
    return f"{name}{index}" if not name or name.endswith("_") else f"{name}.{index}"


def positions(part: Part) -> range | tuple[int, ...]:
    """Return the indices at which the copies of a repeated part stand.

    >>> list(positions(Part("layers", repeat=2, indices=Every(3, 4))))
    [3, 7]
    """
    repeat, indices = part.repeat, part.indices
    assert isinstance(repeat, int), "names can be unrolled only when repeats are ints"
    if indices is None:
        return range(repeat)
    if isinstance(indices, Every):
        assert isinstance(indices.start, int) and isinstance(indices.step, int)
        return range(indices.start, indices.start + repeat * indices.step, indices.step)
    return indices


def attentions(node: Part) -> Iterator[Attend]:
    """Yield every attention in a tree, that of a repeated part once.

    >>> len(list(attentions(Part("", (Part("layer", (Attend("attend", 12, 12, 64, 64),), repeat=12),)))))
    1
    """
    for child in node.children:
        if isinstance(child, Attend):
            yield child
        elif isinstance(child, Part):
            yield from attentions(child)


def walk(node: Part, path: str = "") -> Iterator[tuple[str, Part]]:
    """Yield every part with its dotted path, parents first, a repeated part once.

    >>> [path for path, _ in walk(Part("", (Part("encoder", (Part("layer", repeat=2),)),)))]
    ['', 'encoder', 'encoder.layer']
    """
    waiting = [(path, node)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        inside = [
            (f"{path}.{child.name}" if path and child.name else path or child.name, child)
            for child in node.children
            if isinstance(child, Part)
        ]
        waiting += inside[::-1]
