"""Floating-point operations of one forward pass, by module; a multiply-add is two.

Matrix arithmetic is what PyTorch's ``FlopCounterMode`` counts: products with weights and attention.
A look-up costs nothing, a tied head costs as much as any other. Attention is counted in full;
a causal mask halves none of it, as the reference computes the whole square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry, Rule, ledger
from weighbridge.core.errors import UsageError
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Filled, Least, Once, Op, Part, Span, Squares, Stream, Tensor, Times, Together, Untold, Within, walk
from weighbridge.value import ModelValue


class Flops(NamedTuple):
    """The arithmetic of one pass, in FLOPs (a multiply-add is two).

    Attributes:
        forward_matmul: Products of matrices in a forward pass, as ``FlopCounterMode`` counts them.
        forward: The same and the arithmetic of every bias, gain and shift: one FLOP per element and
            token. Softmax, activations and the statistics of norms are not counted.
        backward: Products of matrices in a backward pass: two for each one forward.
        ledger: *forward_matmul* by module.
    """

    forward_matmul: Size
    forward: Size
    backward: Size
    ledger: Entry


def flops(tree: Part, lengths: Mapping[str, Size], batch: Size = 1) -> Flops:
    """Count the arithmetic of one pass over *tree*.

    Args:
        tree: A model. Its sizes may be ints, symbols or columns.
        lengths: Tokens per example of each named stream; ``one`` is always 1, and ``batch`` the other examples an
            example is compared with, itself among them. A part whose *given* stream is missing here does not run.
        batch: Examples.

    Raises:
        UsageError: The tree sees a stream whose length is not given.

    >>> from weighbridge.core.parts import linear
    >>> flops(Part("", (linear("dense", 768, 768),)), {"seq": 128}).forward_matmul
    150994944
    """
    known = {"one": 1, "batch": batch, **lengths}

    def often(part: Part) -> Size:
        return length(part.runs, known) if part.runs is not None else part.repeat if part.repeat is not None else 1

    def present(part: Part) -> bool:
        return part.given is None or part.given in known

    def matrices(part: Part, node: Tensor | Op, stream: Stream) -> Size:
        if isinstance(node, Op):
            return 2 * _examples(stream, batch) * _multiply_adds(node, stream, known)
        return 2 * product(node.shape) * _tokens(stream, known, batch) if node.role == "weight" else 0

    def vectors(part: Part, node: Tensor | Op, stream: Stream) -> Size:
        if isinstance(node, Op) or node.role not in ("bias", "gain", "shift"):
            return 0
        return product(node.shape) * _tokens(stream, known, batch)

    book = ledger(tree, Rule(matrices, often, True, present))
    affine = ledger(tree, Rule(vectors, often, True, present)).amount
    return Flops(book.amount, book.amount + affine, 2 * book.amount, book)


def flops_of(model: ModelValue, given: Inputs) -> Flops:
    """Count the arithmetic of one pass of a model.

    Raises:
        UsageError: The model was not made from a config, or something is put in that it does not take.

    >>> from weighbridge import model
    >>> flops_of(model("bert-base-uncased"), Inputs(seq=128)).forward_matmul
    22348431360
    """
    if model.description is None:
        # Tensors alone do not say what attends to what, how often a part runs, or how many tokens it sees.
        raise UsageError(f"{model.source}: the arithmetic needs a config; this has only tensors")
    refuse_impossible(model, given)
    return flops(model.tree, given.lengths(), given.batch)


def refuse_impossible(model: ModelValue, given: Inputs) -> None:
    """Refuse what cannot be put into a model: images where it sees none, a question longer than its text.

    Raises:
        UsageError: With the input's name and what is wrong with it.
    """
    tree, name = model.tree, model.class_name or "this model"
    optional = {part.given for _, part in walk(tree)}
    seen = {stream for _, part in walk(tree) for stream in named(part)}
    if given.images is not None and "images" not in optional:
        raise UsageError(f"images: {name} sees no images beside its text")
    if given.audios is not None and "audios" not in optional:
        raise UsageError(f"audios: {name} hears nothing beside its text")
    if given.question is not None and given.question > given.seq:
        raise UsageError(f"question: it is longer than the text of {given.seq:,} tokens")
    if given.question is not None and "question" not in seen:
        raise UsageError(f"question: it sees no more than other tokens in {name}")
    if given.patches is not None and given.images is None:
        if "images" in optional:
            raise UsageError("patches: of how many images? say how many images each example has")
        if "rows" not in seen:
            raise UsageError(f"patches: {name} reads no images of any size")


def length(stream: Stream, lengths: Mapping[str, Size]) -> Size:
    """Return the tokens of *stream* for one example.

    >>> length(Span("seq", add=-3, over=2, plus=1), {"seq": 16})
    7
    >>> length(Least("seq", 8), {"seq": 16}), length(Filled("seq", 8), {"seq": 3})
    (8, 8)
    """
    match stream:
        case str():
            if stream not in lengths:
                raise UsageError(f"the model sees a stream {stream!r} whose length is not given{HOW.get(stream, '')}")
            return lengths[stream]
        case Span():
            return _span(stream, length(stream.of, lengths))
        case Once():
            return length(stream.of, lengths)
        case Least():
            of = length(stream.of, lengths)
            # Among symbols the formula is that of inputs which stay below the limit.
            return min(of, stream.most) if isinstance(of, int) and isinstance(stream.most, int) else of
        case Filled():
            of = length(stream.of, lengths)
            return max(of, stream.least) if isinstance(of, int) and isinstance(stream.least, int) else of
        case Within():
            of = length(stream.of, lengths)
            if isinstance(of, int) and isinstance(stream.limit, int) and of > stream.limit:
                raise UsageError(f"{of:,} tokens: this is described up to {stream.limit:,}, the {stream.what}")
            return of
        case Untold():
            raise UsageError(f"this arithmetic cannot be told from a config: {stream.why}")
        case Together():
            result: Size = 0
            for part in stream.streams:
                result = result + length(part, lengths)
            return result
        case Times():
            return product(length(part, lengths) for part in stream.streams)
        case Squares():
            of, side = length(stream.of, lengths), stream.side
            whole, rest = of // side, of - of // side * side
            return whole * side * side + rest * rest
        case _:
            return stream


HOW = dict.fromkeys(
    ("rows", "columns"), ": it reads images of any size, so say into how many patches each is cut, such as patches 16x24"
) | {"question": ": the tokens of a question see the whole text, so say how many they are, such as question 12"}
"""How to give a stream's length, where that is not plain."""


def _span(stream: Span, of: Size) -> Size:
    whole = (of + stream.add) * stream.times
    if stream.evenly and isinstance(whole, int) and isinstance(stream.over, int) and whole % stream.over:
        raise UsageError(
            f"{of:,} {stream.of if isinstance(stream.of, str) else 'tokens'} cannot be merged by {stream.over} without remainder"
        )
    return whole // stream.over + stream.plus


def named(part: Part) -> set[str]:
    """Return the names of the streams that a part or its own operations see.

    >>> named(Part("", stream=Span("seq", over=2)))
    {'seq'}
    """
    operations = [child for child in part.children if isinstance(child, Op)]
    streams = [part.stream, *(stream for op in operations for stream in (op.queries, op.keys, op.groups, op.products))]
    return {name for stream in streams for name in _names(stream)}


def _names(stream: object) -> Iterator[str]:
    if isinstance(stream, str):
        yield stream
    elif isinstance(stream, tuple):
        for inner in stream:
            yield from _names(inner)


def _examples(stream: Stream, batch: Size) -> Size:
    return 1 if isinstance(stream, Once) else batch


def _tokens(stream: Stream, lengths: Mapping[str, Size], batch: Size) -> Size:
    return _examples(stream, batch) * length(stream, lengths)


def _multiply_adds(op: Op, stream: Stream, lengths: Mapping[str, Size]) -> Size:
    """Count the multiply-adds of an operation for one example."""
    if op.kind == "attend":
        queries = length(stream if op.queries is None else op.queries, lengths)
        keys = length(stream if op.keys is None else op.keys, lengths)
        return length(op.groups, lengths) * op.heads * queries * keys * (op.head_dim + op.value_dim)
    result: Size = 0
    for factors in op.products:
        result = result + product(length(factor, lengths) for factor in factors)
    return result
