"""Which conventions give a published number of FLOPs: each as it is, and as people print it (without the head, in the other unit, of one token)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.ledger import Entry
from weighbridge.conventions.arithmetic import (
    BETWEEN,
    CUSTOMS,
    FORWARD,
    IN_NORMS,
    MULTIPLY_ADDS,
    NORMS,
    TRAINING,
    WITH_WEIGHTS,
    FlopsConvention,
    Pass,
    convolution_biases,
    default_pass,
    products,
    weights,
)
from weighbridge.conventions.pieces import Piece
from weighbridge.conventions.rounding import readings
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import mark
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Operation, Part, Tensor
from weighbridge.explain.semantic_tree import HEAD_NAMES, HEADS, TOP_HEADS

if TYPE_CHECKING:
    from weighbridge.core.sizes import Size
    from weighbridge.value import ModelValue


ROUNDED = 1
"""A rounded number is held only against ways of this cost."""
MOST = 6
HEAD_LEFT_OUT = mark("output head, left out")
OF_CONVOLUTIONS = mark("biases of convolutions, in place of norms")
"""What mmpretrain's figures of ConvNeXt hold: one for each output of a convolution with a bias, and nothing for its norms over channels."""
ATTENTION_LEFT_OUT = mark("attention, left out")
IN_TRAINING_NORMS = mark("norms in training mode")
IN_MEANS = mark("means over feature maps")
TRAINING_TOKEN = mark("FLOPs of a forward and a backward pass, for each token")


class FlopsMatch(NamedTuple):
    """A way of counting arithmetic that gives a number.

    Attributes:
        key: The convention.
        how: ``exact``, ``rounded`` and so on, as for parameters.
        value: What it gives.
        unit: What it counts.
        steps: What it comes about from; the pieces add up to *value*.
        cost: How far-fetched it is.
    """

    key: str
    how: str
    value: int
    unit: str
    steps: tuple[Piece, ...]
    cost: int


class FlopsReconciliation(NamedTuple):
    """What explains a number of FLOPs: the ways that give it, simplest first; or the nearest."""

    number: str
    class_name: str
    forward_matmul: int
    matches: tuple[FlopsMatch, ...]
    nearest: FlopsMatch | None
    residual: int


def reconcile_flops(model: ModelValue, given: Inputs, number: str | int) -> FlopsReconciliation:
    """Find the conventions in which one pass of *model* costs *number*.

    Args:
        model: A model made from a config.
        given: What is put into it.
        number: An int, or text such as ``17581972224`` or ``17.58G``.

    Raises:
        UsageError: *number* is no number, or the model's arithmetic is not known.

    >>> from weighbridge import model
    >>> found = reconcile_flops(model("vit-base-patch16-224"), Inputs(images=1), 17581972224).matches[0]
    >>> found.key, [tuple(step) for step in found.steps]
    ('fvcore', [('products with weights', 16848500736), ('products between activations', 715327488), ('norms', 18912000), ('output head, left out', -768000)])
    """
    of = default_pass(model, given)
    ways = sorted(_flops_conventions(of), key=lambda way: way.cost)
    found: dict[int, FlopsMatch] = {}
    meanings = readings(str(number))
    for reading in meanings:
        least = 99
        for way in ways:
            if reading.low <= way.value <= reading.high and (reading.how == "exact" or way.cost <= min(least, ROUNDED)):
                least = min(least, way.cost)
                found.setdefault(way.value, way._replace(how=reading.how))
    matches = tuple(sorted(found.values(), key=lambda way: way.cost))[:MOST]
    wanted = round(meanings[0].value)
    nearest = None if matches else min(ways, key=lambda way: (abs(way.value - wanted), way.cost), default=None)
    torch = 2 * (of.sum(weights) + of.sum(products))
    return FlopsReconciliation(str(number), model.class_name, torch, matches, nearest, wanted - nearest.value if nearest else 0)


def _flops_conventions(of: Pass) -> Iterator[FlopsMatch]:
    """Yield what people count: each convention whole, without head, without attention; the other unit; one token of many."""
    head = _head_work(of, weights)
    for order, custom in enumerate(CUSTOMS):
        try:
            pieces = tuple(piece for piece in custom.pieces(of) if piece.amount)
        except UsageError:
            continue  # a tool that cannot count this model gave no figure of it
        each = sum(piece.amount for piece in pieces if piece.what == WITH_WEIGHTS) // max(of.sum(weights), 1)
        variants = [(pieces, 0)]
        if head and each:
            variants.append(((*pieces, Piece(HEAD_LEFT_OUT, -each * head)), 1))
        between = sum(piece.amount for piece in pieces if piece.what == BETWEEN)
        if between:
            variants += [((*steps, Piece(ATTENTION_LEFT_OUT, -between)), cost + 1) for steps, cost in tuple(variants)]
        biases = of.sum(convolution_biases) if custom.key == "fvcore" else 0
        if biases:
            plain = (*(piece for piece in pieces if piece.what != IN_NORMS), Piece(OF_CONVOLUTIONS, biases))
            variants += [(plain, 2), *([((*plain, Piece(HEAD_LEFT_OUT, -each * head)), 2)] if head else [])]
        if custom.key == "fvcore":
            variants += [(steps, cost) for steps, cost in _in_training(of, pieces, head)]
        for steps, cost in variants:
            yield from _units(of, custom, steps, cost, order)


def _in_training(of: Pass, pieces: tuple[Piece, ...], head: int) -> Iterator[tuple[tuple[Piece, ...], int]]:
    """Yield fvcore's count of a convolutional network in training mode, as mmpretrain's figures of EfficientNet are: 5 an element of a batch norm, 1 of a mean."""
    batch = of.ledger(batch_norms)
    if batch.amount:
        products = (piece for piece in pieces if piece.what != IN_NORMS)
        steps = (*products, Piece(IN_TRAINING_NORMS, of.sum(training_norms)), Piece(IN_MEANS, pooled_elements(batch)))
        yield steps, 2
        yield (*steps, Piece(HEAD_LEFT_OUT, -head - _head_work(of, training_norms))), 2


def _units(of: Pass, custom: FlopsConvention, steps: tuple[Piece, ...], cost: int, order: int) -> Iterator[FlopsMatch]:
    value = sum(piece.amount for piece in steps)
    yield FlopsMatch(custom.key, "exact", value, custom.unit, steps, cost)
    if custom.unit == MULTIPLY_ADDS:
        doubled = tuple(Piece(piece.what, 2 * piece.amount) for piece in steps)
        yield FlopsMatch(custom.key, "exact", 2 * value, FORWARD, doubled, cost + 1)
    if custom.unit == TRAINING and of.tokens > 1 and value % of.tokens == 0:
        shared = tuple(Piece(piece.what, piece.amount // of.tokens) for piece in steps)
        yield FlopsMatch(custom.key, "exact", value // of.tokens, TRAINING_TOKEN, shared, cost)


def _head_work(of: Pass, cost: Callable[[Part, Tensor | Operation, Size], Size]) -> int:
    """Return what output heads cost."""
    entry = of.ledger(cost)
    top = [child for child in entry.children if child.part.name in TOP_HEADS and child.part.kind == "linear"]
    inner = [found for child in entry.children if child not in top for _, found in _outermost_heads(child)]
    return sum(found.amount for found in (*top, *inner) if isinstance(found.amount, int))


def _outermost_heads(entry: Entry) -> Iterator[tuple[str, Entry]]:
    if _is_head(entry.part):
        yield entry.name, entry
        return
    for child in entry.children:
        yield from _outermost_heads(child)


def _is_head(part: Part) -> bool:
    return part.kind in HEADS or part.name in HEAD_NAMES or part.name.endswith("classifier")


def training_norms(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return what fvcore counts for norms of a model in training mode, where a batch norm is like any other."""
    return 5 * amount if isinstance(node, Tensor) and node.role == "gain" and part.kind in NORMS else 0


def batch_norms(part: Part, node: Tensor | Operation, amount: Size) -> Size:
    """Return one for each element that goes through a batch norm."""
    return amount if isinstance(node, Tensor) and node.role == "gain" and part.kind == "batch_norm" else 0


def pooled_elements(entry: Entry) -> int:
    """Return the elements of feature maps of which means are taken: before each gate (squeeze and excitation), and of the last map.

    Args:
        entry: A model, with what goes through each of its batch norms.
    """
    return _before_gates(entry) + _last_map(entry)


def _before_gates(entry: Entry) -> int:
    total = sum(_before_gates(child) for child in entry.children)
    for before, child in zip(entry.children, entry.children[1:], strict=False):
        if child.part.kind == "gate":
            total += as_int(before.amount)
    return total * as_int(entry.times)


def _last_map(entry: Entry) -> int:
    for child in reversed([child for child in entry.children if not _is_head(child.part)]):
        found = as_int(child.amount) if child.part.kind == "batch_norm" else _last_map(child)
        if found:
            return found
    return 0
