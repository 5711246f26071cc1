"""What a derivation says of a part in words: each sentence is chosen by a fact of the tree, so that none is said where it is not true.

A sentence here is a claim. ``tests/property/sentence_checks.py`` recomputes each of them, for every described type, from the list
of tensors and from the config changed by one, and fails on a sentence that it cannot check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from weighbridge.core.formula import Symbol, letters
from weighbridge.core.messages import Text, mark
from weighbridge.core.polynomials import polynomial
from weighbridge.core.sizes import as_int, product
from weighbridge.core.tree import Part, State
from weighbridge.explain.attention_sentences import (
    attention_sentences,
    attention_title,
    cross_attention_sentences,
    latent_attention_sentences,
)
from weighbridge.explain.part_titles import WORD_EMBEDDINGS, role_name
from weighbridge.explain.scope import Scope, role_of
from weighbridge.explain.semantic_tree import NORMS, Leaf


def sentences(scope: Scope) -> tuple[str, ...]:
    """Return what is true of a section, in English, in the order in which it is said.

    >>> from weighbridge import model
    >>> section = model("llama-3-8b").explain().root.parts[1].parts[0]
    >>> section.title, section.says[1]
    ('Grouped-query attention', '32 query heads share 8 key-value heads, 4 to each: keys and values are mapped to 8 heads only.')
    """
    write = SENTENCES.get(scope.topic)
    return (*write(scope), *_spectrogram(scope)) if write else ()


def section_name(scope: Scope, usual: str) -> str:
    """Return the title of a section that is usually called *usual*.

    >>> from weighbridge.core.polynomials import Polynomial
    >>> section_name(Scope("convolution", (), (), Polynomial({}), {}), "Convolution")
    'Convolution'
    """
    if scope.topic == "attention":
        return attention_title(scope, usual)
    if scope.topic == "layer":
        return _layers_title(scope)
    if scope.topic == "experts" and scope.part is not None and scope.part.experts is not None and scope.part.repeat is not None:
        return mark("Experts")
    if scope.topic in ("convolution", "embedding") and scope.kinds() == {"convolution"} and _is_of_patches(scope):
        return mark("Patch embedding")
    return usual


def _layers_title(scope: Scope) -> str:
    attention = bool(scope.attends()) or {"attention", "feed_forward"} <= {leaf.topic for leaf in scope.leaves}
    if scope.part is not None and (scope.part.repeat is None or (scope.part.repeat == 1 and isinstance(scope.part.repeat, int))):
        return mark("Transformer layer") if attention else mark("Layer")
    return mark("Transformer layers") if attention else mark("Layers")


def _spectrogram(scope: Scope) -> Iterator[str]:
    """Say what enters a part whose first map is as wide as a spectrogram's frame."""
    weights = ((ours, theirs) for ours, theirs in scope.tensors() if ours.role == "weight" and len(theirs.shape) > 1)
    for ours, theirs in islice(weights, 1):  # what a later map takes in is not what enters the part
        width = theirs.shape[1]
        if isinstance(width, Symbol) and width.word == "mels":
            yield Text(mark("Its input is a spectrogram, with {bins} mel bins in each frame."), bins=f"{as_int(ours.shape[1]):,}")


def _feed_forward(scope: Scope) -> Iterator[str]:
    if not scope.kinds() <= {"linear"} | NORMS or "linear" not in scope.kinds():
        return
    if any(len(ours.shape) > 2 for ours, _ in scope.tensors()):
        return
    yield mark("Each position passes through the same maps independently.")
    widths = {name: sum(_elements(leaf) for leaf in scope.leaves if role_of(leaf, scope.topic) == name) for name in scope.names()}
    inner, back = sum(widths.get(name, 0) for name in ("up", "gate", "gate and up in one")), widths.get("down", 0)
    if inner + back != sum(map(_elements, scope.leaves)) or not back:
        return
    if inner == 2 * back and widths.keys() & {"gate", "gate and up in one"}:
        yield mark(
            "Gated: the input is mapped twice to the inner width, one result gates the other, and the product is mapped back: three maps, where a plain network has two."
        )
    elif inner == back and not widths.keys() & {"gate", "gate and up in one"} and role_of(scope.leaves[0], scope.topic) == "up":
        yield mark("One linear map widens to the inner width, one leads back; the activation between them has no parameters.")


def _experts(scope: Scope) -> Iterator[str]:
    chosen = [part for holder in scope.holders for part in _parts(holder.part) if part.experts is not None and part.active is not None]
    routed = any("router" in role_name("experts", leaf.path) for leaf in scope.leaves)
    counts = {(as_int(part.experts), as_int(part.active)) for part in chosen}
    if len(counts) == 1:
        experts, active = counts.pop()
        if routed and active < experts:
            text = mark("A router scores {experts} experts for each token and picks {active}; all {experts} are stored, {active} are used.")
            one = mark("A router scores {experts} experts for each token and picks 1; all {experts} are stored, 1 is used.")
        else:
            text = mark("Of {experts} experts, {active} process a token; all {experts} are stored.")
            one = mark("Of {experts} experts, 1 processes a token; all {experts} are stored.")
        text = one if active == 1 else text
        yield Text(text, experts=f"{experts:,}", active=f"{active:,}")
    shared = [leaf for leaf in scope.leaves if "shared_expert" in leaf.path and "shared_expert_gate" not in leaf.path]
    if shared:
        yield (
            mark("The shared expert processes every token.")
            if _is_one_expert(shared, scope)
            else mark("The shared experts process every token.")
        )


def _is_one_expert(shared: Sequence[Leaf], scope: Scope) -> bool:
    """Tell whether what all tokens use is one expert: by the number of such experts in its width, else by its name."""
    sizes = (size for leaf in shared for _, theirs in leaf.pair.tensors() for size in theirs.shape)
    symbols = (atom for size in sizes for monomial in polynomial(size).terms for atom, _ in monomial if isinstance(atom, Symbol))
    numbers = {scope.values[symbol.letter] for symbol in symbols if symbol.key.endswith("shared_experts")}
    return numbers == {1} if numbers else all("shared_experts" not in leaf.path for leaf in shared)


def _norm(scope: Scope) -> Iterator[str]:
    kinds, roles = scope.kinds(), scope.roles()
    if not kinds <= NORMS - {"scale", "layer_scale", "norm"}:
        return
    alike = all({ours.role for ours, _ in leaf.pair.tensors()} == roles for leaf in scope.leaves)
    if kinds == {"rms_norm"} and roles == {"gain"}:
        yield mark("Each vector is divided by its root mean square, then each component is multiplied by a learned gain.")
    elif kinds == {"layer_norm"} and roles == {"gain"}:
        yield mark("Each vector is centred and divided by its standard deviation, then each component is multiplied by a learned gain.")
    elif kinds == {"layer_norm"} and roles == {"gain", "shift"} and alike:
        yield mark(
            "Each vector is centred and divided by its standard deviation, then multiplied by learned gains and moved by learned shifts."
        )


def _embedding(scope: Scope) -> Iterator[str]:
    tables = [leaf for leaf in scope.leaves if leaf.pair.part.kind == "embedding"]
    if tables and scope.kinds() - NORMS == {"embedding"}:
        several, roles = len(tables) > 1, {role_of(leaf, "embedding") for leaf in tables}
        tokens = role_of(tables[0], "embedding") == WORD_EMBEDDINGS
        if several and WORD_EMBEDDINGS in roles and len({ours.shape[-1] for leaf in tables for ours, _ in leaf.pair.tensors()}) == 1:
            if "Page-layout embeddings" in roles:  # a word's box has two edges in each direction
                yield mark("Lookup tables: each position takes rows from each, and the rows are added.")
            else:
                yield mark("Lookup tables: each position takes one row from each, and the rows are added.")
        elif not several and tokens:
            yield mark("A lookup table: each token takes its row.")
    elif _is_of_patches(scope) and "convolution" in scope.kinds():
        yield mark("An image is cut into patches, and one convolution maps each patch to a vector.")


def _is_of_patches(scope: Scope) -> bool:
    """Tell whether a convolution has kernels as large as a patch, by the letter of its shape."""
    sizes = [
        letters(size)
        for leaf in scope.leaves
        if leaf.pair.part.kind == "convolution"
        for _, theirs in leaf.pair.tensors()
        for size in theirs.shape[2:]
        if not isinstance(size, int)
    ]
    return bool(sizes) and any("patch" in leaf.path for leaf in scope.leaves)


def _convolution(scope: Scope) -> Iterator[str]:
    if _is_of_patches(scope):
        yield mark("An image is cut into patches, and one convolution maps each patch to a vector.")
        return
    kernels = [ours.shape[2:] for ours, _ in scope.tensors() if ours.role == "weight" and len(ours.shape) > 2]
    if kernels and all(any(as_int(side) > 1 for side in kernel) for kernel in kernels):
        yield mark("Neighbouring positions are mixed by learned kernels.")
    elif kernels and all(all(as_int(side) == 1 for side in kernel) for kernel in kernels):
        yield mark("Kernels of size 1: a linear map of each position separately.")


def _mixer(scope: Scope) -> Iterator[str]:
    states = [node for holder in scope.holders for part in _parts(holder.part) for node in part.children if isinstance(node, State)]
    if scope.attends():
        return
    if any(state.name == "recurrent_state" for state in states):
        yield mark(
            "Positions are mixed by a recurrence instead of attention: all that is kept of the text so far is a state of fixed size."
        )
    else:
        yield mark("Positions are mixed without attention.")


def _layer(scope: Scope) -> Iterator[str]:
    part = scope.part
    if part is None or not isinstance(part.repeat, int):
        return
    if part.repeat > 1 and all(ours.tied_to is None for ours, _ in scope.tensors()):
        yield mark("Layers of the same shape, each with parameters of its own.")
    elif part.repeat > 1:
        yield mark("Layers of the same shape; what they share is counted where it stands first.")
    if isinstance(part.executions, int) and part.executions > part.repeat:
        text = mark("Stored {stored} times, run {run} times: all runs share the parameters.")
        once = mark("Stored once, run {run} times: all runs share the parameters.")
        yield Text(once if part.repeat == 1 else text, stored=f"{part.repeat:,}", run=f"{part.executions:,}")


_NO_LAYERS = NORMS | {"embedding", "linear"}
"""Kinds of which several copies are no stack of layers: they stand side by side."""


def _stack(scope: Scope) -> Iterator[str]:
    part = scope.part
    repeated = part is not None and any(inner.repeat is not None and inner.kind not in _NO_LAYERS for inner in _parts(part))
    if repeated:
        yield mark("A stack of layers.")


def _decoder(scope: Scope) -> Iterator[str]:
    own = [ours for ours, _ in scope.attends() if ours.causal]
    if own:
        yield mark("A stack of layers that generates one token after another: a position sees itself and those before it.")
    else:
        yield from _stack(scope)


def _pooler(scope: Scope) -> Iterator[str]:
    if scope.kinds() == {"linear"} and len(scope.leaves) == 1:
        yield mark("A linear map of one vector that stands for the whole input.")


def _head(scope: Scope) -> Iterator[str]:
    outputs = {theirs.shape[0] for ours, theirs in scope.tensors() if len(ours.shape) == 2}
    if len(scope.leaves) == 1 and all(isinstance(size, Symbol) and size.word == "vocab" for size in outputs) and outputs:
        yield mark("Gives each token of the vocabulary a score (a logit).")
    else:
        yield mark("Turns hidden vectors into the outputs of the task.")


def _group(scope: Scope) -> Iterator[str]:
    part = scope.part
    if part is not None and isinstance(part.executions, int) and isinstance(part.repeat, int) and part.executions > part.repeat:
        yield from _layer(scope)


SENTENCES: dict[str, Callable[[Scope], Iterator[str]]] = {
    "attention": attention_sentences,
    "cross_attention": cross_attention_sentences,
    "latent_attention": latent_attention_sentences,
    "feed_forward": _feed_forward,
    "experts": _experts,
    "norm": _norm,
    "embedding": _embedding,
    "table": _embedding,
    "convolution": _convolution,
    "mixer": _mixer,
    "layer": _layer,
    "stack": _stack,
    "encoder": _stack,
    "decoder": _decoder,
    "pooler": _pooler,
    "head": _head,
    "group": _group,
    "vision": lambda scope: iter((mark("Turns an image into vectors."),)),
    "audio": lambda scope: iter((mark("Turns sound into vectors."),)),
    "text": lambda scope: iter((mark("Turns text into vectors."),)),
    "projector": lambda scope: iter(
        (mark("Maps vectors into the space in which another part of the model takes them, or in which they are compared."),)
    ),
}
"""By topic, what may be said of a part; each function says only what holds of the tree."""


def _elements(leaf: Leaf) -> int:
    """Count the elements of a module's matrices."""
    return sum(as_int(product(ours.shape)) for ours, _ in leaf.pair.tensors() if ours.role == "weight")


def _parts(part: Part) -> Iterator[Part]:
    yield part
    for child in part.children:
        if isinstance(child, Part):
            yield from _parts(child)
