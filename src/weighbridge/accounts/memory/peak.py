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
from weighbridge.core.length import evaluate
from weighbridge.core.tree import Attend, Part, Tensor, walk

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from weighbridge.accounts.inputs import Inputs
    from weighbridge.accounts.memory.activations import Activations
    from weighbridge.accounts.memory.tape import Row, Segment
    from weighbridge.core.length import Stream

WITHOUT_GRADIENT = frozenset(("embedding", "index", "topk", "nll_loss", "clamp", "mask", "checkpoint"))
"""Calls whose kept storage is one of indices, or nothing flows through it."""

FLOWING = {("linear", ""): 1, ("mul", ""): 3, ("mul", "norm"): 4, ("mul", "activation"): 2, ("pow", "activation"): 4, ("pow", "norm"): 4}
"""Gradients of a kept storage's size that are held at once, by call and by kind of module: of a linear map the one that goes out, of a product the
one that comes in and two that go out (in a norm the shortcut's too), of a square two steps between; of others one that comes in and one that goes out."""

STEPS = {
    "adam": (2, 1), "adamw": (2, 1), "amsgrad": (2, 1), "nadam": (2, 1), "adadelta": (2, 1), "adamax": (1, 0), "radam": (5, 0),
    "rmsprop": (1, 1), "adagrad": (1, 1), "adafactor": (1, 1), "muon": (2.5, 0),
}  # fmt: skip
"""New tensors that a step makes of one parameter at a time, and how many of the one before are still named (torch 2.13.0, optim/)."""


def backward_peak(
    kept: Activations, whole: Activations, tree: Part, size: int, *, lengths: Mapping[str, int], made: int = 0, masks: int = 0
) -> int:
    """Return the most that a forward and its backward hold beside weights and states.

    Args:
        kept: What the forward keeps.
        whole: What it keeps where nothing is computed again.
        tree: The model, whose gradients come in while what is kept goes.
        size: Bytes of an element of a gradient.
        lengths: What is put in: what nothing is put into has no gradients.
        made: Bytes of the masks of attention, which a forward holds.
        masks: Bytes of what is handed to all layers, which those that are computed again keep.
    """
    inside = {id(part) for one in kept.segments for _, part in walk(one.part)}
    outside = _outside_places(tree, inside, kept.rows, lengths)
    stays = masks if kept is not whole else 0
    held, gradients, most = kept.bytes + stays, 0, kept.bytes + made
    # layers that differ in what they keep may be alike where it is computed again
    ends = {one.end: (one, next(full for full in reversed(whole.segments) if full.part == one.part)) for one in kept.segments}
    place = len(kept.rows)
    while place:
        if place not in ends:
            place -= 1
            gradients += size * outside.get(place, 0)
            most = max(most, held + gradients + _gradient_bytes(kept.rows[place]))
            held -= kept.rows[place].bytes * kept.rows[place].times
            continue
        one, full = ends.pop(place)
        learned, again_added = size * _learned_elements(one.part, lengths), 0
        shared = (
            one.part.executions is not None
        )  # one layer that runs many times: from its second run on, gradients are added to those that are there
        if shared:
            again_added = 2 * size * _largest(one.part)
        rows, again = kept.rows[one.start : one.end], whole.rows[full.start : full.end]
        each = sum(row.bytes for row in rows)
        for later in {0, min(1, one.times - 1), one.times - 1}:
            there = learned + again_added if shared and later else 0 if shared else later * learned
            most = max(most, held - later * each + gradients + there + _layer(again, each, one, 0 if shared and later else size, lengths))
        held -= one.times * each
        gradients += learned if shared else one.times * learned
        place = one.start
    return max(most, size * (trainable(tree) - unreached_elements(tree, lengths) + 2 * _largest_shared(tree)))


def mask_bytes(tree: Part, given: Inputs, size: int, *, made: bool = False) -> int:
    """Return the bytes of the masks of causal attention that is computed step by step: one for each window, of every query and key.

    Where a config has a window that no layer uses, its mask is *made* all the same, and handed to none.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> mask_bytes(model("gpt2").tree, Inputs(batch=2, seq=16), 4), mask_bytes(model("bert-base-uncased").tree, Inputs(), 4)
    (2048, 0)
    """
    known = {"one": 1, "batch": given.batch, **given.lengths()}
    masks: set[tuple[int, bool]] = set()

    def look(part: Part, stream: Stream) -> None:
        if part.requires is not None and part.requires not in known:
            return
        stream = stream if part.stream is None else part.stream
        for node in part.children:
            if isinstance(node, Part):
                look(node, stream)
            elif isinstance(node, Attend) and node.causal:
                tokens = evaluate(stream, known)
                idle = node.windowed == 0 and not made
                kinds = {False} if node.window is None or idle else {True} if node.windowed is None else {True, False}
                masks.update((tokens, limited) for limited in kinds if isinstance(tokens, int))

    look(tree, "seq")
    return sum(given.batch * tokens * tokens * size for tokens, _ in masks)


def bias_bytes(tree: Part, given: Inputs, size: int) -> int:
    """Return the bytes of tables of relative positions (T5) that a first layer hands on to all others, with zeros where an encoder is looked at.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> bias_bytes(model("t5-small").tree, Inputs(seq=4), 4) == 4 * 8 * 4 * 4 * (1 + 1 + 2)
    True
    """
    known = {"one": 1, **given.lengths()}
    total = 0

    def look(part: Part, stream: Stream) -> None:
        nonlocal total
        stream = stream if part.stream is None else part.stream
        tokens = evaluate(stream, known) if part.name == "relative_attention_bias" else None
        for node in part.children:
            if isinstance(node, Part):
                if node.repeat in (None, 1):
                    look(node, stream)
            elif isinstance(node, Tensor) and isinstance(tokens, int):
                heads = elements(node.shape[-1:])
                total += size * heads * tokens * (tokens + (2 * given.seq if stream == "decoder" else 0))

    look(tree, "seq")
    return total


def step_peak(tree: Part, optimizer: str, size: int, *, together: bool = False) -> int:
    """Return the most that an optimizer's step makes new: for one parameter after another, or, on a GPU, for all *together*."""
    own, before = STEPS.get(optimizer, (0, 0))
    learned = [entry for entry in owned_tensors(tree) if _has_gradient(entry.tensor)]
    counts = [elements(entry.tensor.shape) for entry in learned]
    if together:
        return size * sum(count * entry.copies for count, entry in zip(counts, learned, strict=True)) if own else 0
    return int(max((own * size * now + before * size * last for last, now in zip([0, *counts], counts, strict=False)), default=0))


def _layer(rows: Sequence[Row], kept: int, one: Segment, size: int, lengths: Mapping[str, int]) -> int:
    """Return the most that the backward of one layer holds beside what it begins with: what it computes again, what flows, and its gradients."""
    held, gradients, most = sum(row.bytes for row in rows) - kept, 0, 0
    coming = _gradient_places(one.part, rows, lengths)
    for place in reversed(range(len(rows))):
        gradients += size * coming.get(place, 0)
        most = max(most, held + gradients + _gradient_bytes(rows[place]) + 2 * one.width)
        held -= rows[place].bytes
    return most


def _gradient_places(layer: Part, rows: Sequence[Row], lengths: Mapping[str, int]) -> dict[int, int]:
    """Return how many elements of a layer get their gradients where backward comes to a row: the first that their module keeps, or one around it."""
    return _by_place(_named_tensors(layer._replace(repeat=None), "", lengths), rows)


def _outside_places(tree: Part, inside: set[int], rows: Sequence[Row], lengths: Mapping[str, int]) -> dict[int, int]:
    """Return the same of what is outside the layers: a head's gradients come first, those of embeddings last."""
    return _by_place(_named_tensors(tree, "", lengths, inside), rows)


def _by_place(tensors: Iterator[tuple[str, int]], rows: Sequence[Row]) -> dict[int, int]:
    found: dict[int, int] = {}
    for path, count in tensors:
        place = _first_row(path, rows)
        found[place] = found.get(place, 0) + count
    return found


def _first_row(path: str, rows: Sequence[Row]) -> int:
    while path:
        for place, row in enumerate(rows):
            if f".{path}." in f".{row.module}.":
                return place
        path = path.rpartition(".")[0]
    return 0


def _named_tensors(part: Part, path: str, lengths: Mapping[str, int], without: Container[int] = ()) -> Iterator[tuple[str, int]]:
    """Yield the elements of each tensor of a part that gets a gradient with the path of its module; parts *without* are left out by their identity."""
    for node in part.children:
        if isinstance(node, Tensor) and node.tied_to is None and _has_gradient(node):
            yield path, elements(node.shape)
        elif isinstance(node, Part) and id(node) not in without and _is_reached(node, lengths):
            times = node.repeat if isinstance(node.repeat, int) else 1
            for inner, count in _named_tensors(node, f"{path}.{node.name}" if path and node.name else path or node.name, lengths, without):
                yield inner, times * count


def _gradient_bytes(row: Row) -> int:
    """Return the bytes of the gradients that are held at once where backward comes to a row."""
    if row.call in WITHOUT_GRADIENT:
        return 0
    inside = "activation" if row.module.endswith(".activation") else "norm" if "norm" in row.module.lower() else ""
    return FLOWING.get((row.call, inside), FLOWING.get((row.call, ""), 2)) * row.seen


def _learned_elements(part: Part, lengths: Mapping[str, int]) -> int:
    """Count the elements of one copy of a part that get gradients."""
    return sum(count for _, count in _named_tensors(part._replace(repeat=None), "", lengths))


def _is_reached(part: Part, lengths: Mapping[str, int]) -> bool:
    return part.requires is None or part.requires in lengths


def _largest(part: Part) -> int:
    return max((elements(entry.tensor.shape) for entry in owned_tensors(part) if _has_gradient(entry.tensor)), default=0)


def _has_gradient(tensor: Tensor) -> bool:
    return tensor.role != "buffer" and not tensor.frozen


def prune_unreached(part: Part, lengths: Mapping[str, int]) -> Part:
    """Return a part without those that need an input that is not put in."""
    kept = [
        prune_unreached(node, lengths) if isinstance(node, Part) else node
        for node in part.children
        if not isinstance(node, Part) or _is_reached(node, lengths)
    ]
    return part._replace(children=tuple(kept))


def input_bytes(tree: Part, given: Inputs, size: int) -> int:
    """Return the bytes of what is put in, labels of 64 bits too: pixels or frames of sound of *size* bytes, or indices of tokens.

    >>> from weighbridge import model
    >>> from weighbridge.accounts.inputs import Inputs
    >>> input_bytes(model("vit-base-patch16-224").tree, Inputs(batch=2), 4) == 4 * 2 * 3 * 224 * 224 + 8 * 2
    True
    >>> input_bytes(model("gpt2").tree, Inputs(batch=2, seq=64), 4) == 2 * 8 * 2 * 64
    True
    """
    parts = [part for _, part in walk(tree)]
    decodes = any(part.stream == "decoder" for part in parts)
    decoder = given.seq if given.decoder_seq is None else given.decoder_seq
    words = 16 * decoder if decodes else 8
    for part in parts:
        weights = [node.shape for node in part.children if isinstance(node, Tensor) and node.name == "weight"]
        places = evaluate(part.stream, given.lengths()) if part.kind in ("convolution", "projection") and part.stream is not None else None
        if weights and len(weights[0]) > 2 and isinstance(places, int):
            one = elements(weights[0][1:]) if len(weights[0]) == 4 else elements(weights[0][1:2])
            return given.batch * (places * one * size + words)
    return given.batch * (8 * given.seq + words if decodes else 16 * given.seq)


def unreached_elements(part: Part, lengths: Mapping[str, int]) -> int:
    """Count the learned elements of parts that need an input that is not put in: torch makes no gradients for them.

    >>> from weighbridge import model
    >>> bert = model({"model_type": "bert", "is_decoder": True, "add_cross_attention": True}, "BertModel")
    >>> unreached_elements(bert.tree, {"seq": 16}), unreached_elements(bert.tree, {"seq": 16, "encoder": 8})
    (28366848, 0)
    """
    if not _is_reached(part, lengths):
        return trainable(part)
    inside = sum(unreached_elements(node, lengths) for node in part.children if isinstance(node, Part))
    return inside * (part.repeat if isinstance(part.repeat, int) else 1)


def _largest_shared(tree: Part) -> int:
    """Count the elements of the largest tensor that is used in two places: its gradients are added to a third."""
    shared = (node for _, part in walk(tree) for node in part.children if isinstance(node, Tensor) and node.tied_to is not None)
    return max((elements(node.shape) for node in shared if _has_gradient(node)), default=0)
