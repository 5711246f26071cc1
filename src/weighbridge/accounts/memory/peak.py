"""The most memory that one training step holds at once: an estimate from what its forward keeps, freed in the order of the backward pass.

Backward walks the kept storages from the last to the first. At each, what is kept before it is still held, with the gradients of the
parameters after it, and with the gradients that flow through it: one that comes in and one that goes out. After it the optimizer makes
new tensors for one parameter after another. Oracle: ``torch.distributed._tools.mem_tracker.MemTracker`` under fake tensors.
"""

from __future__ import annotations

from weighbridge.accounts.memory.optimizers import count_trainable
from weighbridge.accounts.memory.values import elements
from weighbridge.accounts.memory.weights import owned_tensors
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import evaluate
from weighbridge.core.tree import Attend, Part, Tensor, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.accounts.inputs import Inputs
    from weighbridge.core.length import Stream

STEPS = {
    "adam": (2, 1),
    "adamw": (2, 1),
    "amsgrad": (2, 1),
    "nadam": (2, 1),
    "adadelta": (2, 1),
    "adamax": (1, 0),
    "radam": (5, 0),
    "rmsprop": (1, 1),
    "adagrad": (1, 1),
    "asgd": (1, 0),
    "rprop": (3, 0),
    "adafactor": (1, 1),
    "muon": (2.5, 0),
}
"""New tensors that a step makes of one parameter at a time, and how many of the one before are still named (torch 2.13.0, optim/)."""


ONLY_USED = frozenset(("qwen2", "qwen3", "smollm3"))
"""Types that make the mask of a window only where a layer has one; the others make it where the config has a window."""

FROM_THE_START = frozenset(("adagrad",))
"""Optimizers that make their states before the first step, of parameters without gradients too."""


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

    def look(part: Part, stream: Stream, times: int) -> None:
        if part.requires is not None and part.requires not in known:
            return
        stream = stream if part.stream is None else part.stream
        for node in part.children:
            if isinstance(node, Part):
                look(node, stream, node.repeat if isinstance(node.repeat, int) else times)
            elif isinstance(node, Attend) and node.causal:
                tokens = evaluate(stream, known)
                idle = node.windowed == 0 and not made
                everywhere = node.windowed is None or (node.windowed == times and not made)
                kinds = {False} if node.window is None or idle else {True} if everywhere else {True, False}
                masks.update((tokens, limited) for limited in kinds if isinstance(tokens, int))

    look(tree, "seq", 1)
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


def _is_reached(part: Part, lengths: Mapping[str, int]) -> bool:
    return part.requires is None or part.requires in lengths


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


def position_bytes(tree: Part) -> int:
    """Return the bytes of the indices of positions and of types that BERT and its kin hold beside their tables, and save in no file.

    >>> from weighbridge import model
    >>> position_bytes(model("bert-base-uncased").tree), position_bytes(model("gpt2").tree)
    (8192, 0)
    """
    for _, part in walk(tree):
        tables = {node.name: node for node in part.children if isinstance(node, Part)}
        if part.name == "embeddings" and "word_embeddings" in tables and "position_embeddings" in tables:
            rows = next((node.shape[0] for node in tables["position_embeddings"].children if isinstance(node, Tensor)), 0)
            return elements((8, rows, 2 if "token_type_embeddings" in tables else 1))
    return 0


def unreached_elements(part: Part, lengths: Mapping[str, int]) -> int:
    """Count the learned elements of parts that need an input that is not put in: torch makes no gradients for them.

    >>> from weighbridge import model
    >>> bert = model({"model_type": "bert", "is_decoder": True, "add_cross_attention": True}, "BertModel")
    >>> unreached_elements(bert.tree, {"seq": 16}), unreached_elements(bert.tree, {"seq": 16, "encoder": 8})
    (28366848, 0)
    """
    if not _is_reached(part, lengths):
        return count_trainable(part)
    inside = sum(unreached_elements(node, lengths) for node in part.children if isinstance(node, Part))
    return inside * (part.repeat if isinstance(part.repeat, int) else 1)
