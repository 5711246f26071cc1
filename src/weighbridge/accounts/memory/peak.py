"""The most memory that one training step holds at once: an estimate from what its forward keeps, freed in the order of the backward pass.

Backward walks the kept storages from the last to the first. At each, what is kept before it is still held, with the gradients of the
parameters behind it, and with the gradients that flow through it: one that comes in and one that goes out. After it the optimizer makes
new tensors for one parameter after another. Oracle: ``torch.distributed._tools.mem_tracker.MemTracker`` under fake tensors.
"""

from __future__ import annotations

from weighbridge.accounts.memory.optimizers import trainable
from weighbridge.accounts.memory.tape import elements
from weighbridge.accounts.memory.weights import owned_tensors
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.tree import Part, Tensor, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weighbridge.accounts.memory.activations import Activations
    from weighbridge.accounts.memory.tape import Row

WITHOUT_GRADIENT = frozenset(("embedding", "index", "topk", "nll_loss", "clamp", "mask", "checkpoint"))
"""Calls whose kept storage is one of indices, or nothing flows through it."""

FLOWING = {"linear": 1, "mul": 4}
"""Gradients of a kept storage's size that are held at once: of a linear map the one that goes out, of a product the one that comes in, two that
go out and, of gates, one that waits for its sum; of others one that comes in and one that goes out."""

STEPS = {
    "adam": (2, 1), "adamw": (2, 1), "amsgrad": (2, 1), "nadam": (2, 1), "adadelta": (2, 1), "adamax": (1, 0), "radam": (5, 0),
    "rmsprop": (1, 1), "adagrad": (1, 1), "adafactor": (1, 1), "muon": (2.5, 0),
}  # fmt: skip
"""New tensors that a step makes of one parameter at a time, and how many of the one before are still named (torch 2.13.0, optim/)."""


def backward_peak(kept: Activations, whole: Activations, tree: Part, size: int) -> int:
    """Return the most that a forward and its backward hold beside weights and states.

    Args:
        kept: What the forward keeps.
        whole: What it keeps where nothing is computed again.
        tree: The model, whose gradients come in while what is kept goes.
        size: Bytes of an element of a gradient.
    """
    inside = {id(part) for one in kept.segments for _, part in walk(one.part)}
    outside = _outside(tree, inside)
    held, gradients, most = kept.bytes, 0, 0
    # layers that differ in what they keep may be alike where it is computed again
    ends = {one.end: (one, next(full for full in reversed(whole.segments) if full.part == one.part)) for one in kept.segments}
    place, reached = len(kept.rows), False
    while place:
        if place not in ends:
            place -= 1
            most = max(most, held + gradients + _gradient_bytes(kept.rows[place]))
            held -= kept.rows[place].bytes * kept.rows[place].times
            continue
        one, full = ends.pop(place)
        gradients += 0 if reached else size * outside
        reached = True
        learned = size * _learned_elements(one.part)
        adding = 0
        if (
            one.part.executions is not None
        ):  # one layer that runs many times: from its second run on, gradients are added to those that are there
            gradients, learned, adding = gradients + learned, 0, 2 * size * _largest(one.part)
        rows, again = kept.rows[one.start : one.end], whole.rows[full.start : full.end]
        each = sum(row.bytes for row in rows)
        for later in {0, min(1, one.times - 1), one.times - 1}:
            start = held - later * each + gradients + later * learned + (adding if later else 0)
            most = max(most, start + _layer(again, each, one.width, learned))
        held -= one.times * each
        gradients += one.times * learned
        place = one.start
    return max(most, size * (trainable(tree) + 2 * _largest_shared(tree)))


def step_peak(tree: Part, optimizer: str, size: int, *, together: bool = False) -> int:
    """Return the most that an optimizer's step makes new: for one parameter after another, or, on a GPU, for all *together*."""
    own, before = STEPS.get(optimizer, (0, 0))
    learned = [entry for entry in owned_tensors(tree) if _has_gradient(entry.tensor)]
    counts = [elements(entry.tensor.shape) for entry in learned]
    if together:
        return size * sum(count * entry.copies for count, entry in zip(counts, learned, strict=True)) if own else 0
    return int(max((own * size * now + before * size * last for last, now in zip([0, *counts], counts, strict=False)), default=0))


def _layer(rows: Sequence[Row], kept: int, width: int, learned: int) -> int:
    """Return the most that the backward of one layer holds beside what it begins with: what it computes again, and what flows."""
    held, most = sum(row.bytes for row in rows) - kept, 0
    for done, row in enumerate(reversed(rows)):
        gradients = learned * done // len(rows)
        most = max(most, held + gradients + _gradient_bytes(row) + 2 * width)
        held -= row.bytes
    return most


def _gradient_bytes(row: Row) -> int:
    if row.call in WITHOUT_GRADIENT:
        return 0
    return (FLOWING.get(row.call, 2) - (row.module.endswith(".activation") and row.call == "mul")) * row.bytes


def _learned_elements(part: Part) -> int:
    """Count the learned elements of one copy of a part."""
    plain = part._replace(repeat=None)
    return sum(entry.copies * elements(entry.tensor.shape) for entry in owned_tensors(plain) if _has_gradient(entry.tensor))


def _largest(part: Part) -> int:
    return max((elements(entry.tensor.shape) for entry in owned_tensors(part) if _has_gradient(entry.tensor)), default=0)


def _has_gradient(tensor: Tensor) -> bool:
    return tensor.role != "buffer" and not tensor.frozen


def unreached_elements(part: Part, lengths: Mapping[str, int]) -> int:
    """Count the learned elements of parts that need an input that is not put in: torch makes no gradients for them.

    >>> from weighbridge import model
    >>> bert = model({"model_type": "bert", "is_decoder": True, "add_cross_attention": True}, "BertModel")
    >>> unreached_elements(bert.tree, {"seq": 16}), unreached_elements(bert.tree, {"seq": 16, "encoder": 8})
    (28366848, 0)
    """
    if part.requires is not None and part.requires not in lengths:
        return trainable(part)
    inside = sum(unreached_elements(node, lengths) for node in part.children if isinstance(node, Part))
    return inside * (part.repeat if isinstance(part.repeat, int) else 1)


def _outside(tree: Part, inside: set[int]) -> int:
    """Count the learned elements outside the layers, without tables, whose gradients come last."""
    return sum(elements(tensor.shape) for tensor in _tensors_outside(tree, inside) if tensor.role != "embedding")


def _tensors_outside(part: Part, inside: set[int]) -> Iterator[Tensor]:
    for node in part.children:
        if isinstance(node, Tensor) and node.tied_to is None and _has_gradient(node):
            yield node
        elif isinstance(node, Part) and id(node) not in inside:
            yield from _tensors_outside(node, inside)


def _largest_shared(tree: Part) -> int:
    """Count the elements of the largest tensor that is used in two places: its gradients are added to a third."""
    shared = (node for _, part in walk(tree) for node in part.children if isinstance(node, Tensor) and node.tied_to is not None)
    return max((elements(node.shape) for node in shared if _has_gradient(node)), default=0)
