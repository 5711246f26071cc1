"""What a section of a derivation stands for: the modules in it, its formula, and what is asked of them before a sentence is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from weighbridge.core.formula import Symbol, letters
from weighbridge.core.polynomials import Opaque, Polynomial, polynomial
from weighbridge.core.sizes import Size, as_int
from weighbridge.core.tree import Attend, Part, Tensor
from weighbridge.explain.part_titles import DOWN, LINES, UP, WORD_EMBEDDINGS, line_title, role_name
from weighbridge.explain.semantic_tree import TOPICS, Leaf, Pair


class Scope(NamedTuple):
    """What a section stands for.

    Attributes:
        topic: What it is for, a key of :data:`SENTENCES`.
        leaves: The modules in it that own tensors.
        holders: The parts in which they stand: where operations without parameters are looked for.
        formula: The section's closed formula, of one copy.
        values: What each letter stands for; empty for a checkpoint.
        part: The part itself, where the section is one.
        rotary: The paths of the model's attention with rotary positions.
        rotated: From the path of an attention and the width of its heads to how many dimensions are rotated, where these are a part.
    """

    topic: str
    leaves: tuple[Leaf, ...]
    holders: tuple[Pair, ...]
    formula: Polynomial
    values: dict[str, int]
    part: Part | None = None
    rotary: tuple[str, ...] = ()
    rotated: Callable[[str, int], int | None] | None = None

    def attends(self) -> list[tuple[Attend, Attend]]:
        """Return every attention inside, in ints and in symbols."""
        return [(ours, theirs) for holder in self.holders for ours, theirs in _attends(holder)]

    def kinds(self) -> set[str]:
        """Return the kinds of the modules that own tensors."""
        return {leaf.pair.part.kind for leaf in self.leaves}

    def tensors(self) -> list[tuple[Tensor, Tensor]]:
        """Return the parameters, in ints and in symbols."""
        return [both for leaf in self.leaves for both in leaf.pair.tensors()]

    def roles(self) -> set[str]:
        """Return the roles of the parameters."""
        return {ours.role for ours, _ in self.tensors()}

    def names(self) -> set[str]:
        """Return what the modules do in attention, a feed-forward network or an embedding, as far as their names tell."""
        return {role_of(leaf, self.topic) for leaf in self.leaves}


def role_of(leaf: Leaf, topic: str) -> str:
    """Return what a module does, as its name says; a map is called up or down by its widths, unless its own name has the word.

    >>> from weighbridge.explain.semantic_tree import leaf_at
    >>> leaf = leaf_at("ffn.linear_2", Pair(part := Part("linear_2", (Tensor("weight", (768, 3072)),), "linear"), part), ())
    >>> role_of(leaf, "feed_forward")
    'down'
    """
    name = role_name(topic, leaf.path)
    if not name and topic == "embedding" and _is_vocabulary(leaf):
        return WORD_EMBEDDINGS
    if leaf.path.endswith(".w1") and leaf.around and not any(pair.part.name == "w3" for pair in leaf.around[-1].children()):
        name = UP  # the gate is w1 where w3 goes up; of two maps inwards Qwen's gate is the other one
    if name not in (UP, DOWN) or any(word in piece.split("_") for piece in leaf.path.split(".")[-2:] for word in ("up", "down")):
        return name
    found = widths(leaf.pair.tensors())
    if found is None:
        return name
    into, out = found
    return UP if out > into else DOWN if out < into else ""


def _is_vocabulary(leaf: Leaf) -> bool:
    """Tell whether a table called just ``embeddings`` has a row for each token of the vocabulary, by the letter of its rows."""
    tables = [theirs.shape[0] for ours, theirs in leaf.pair.tensors() if ours.role == "embedding"]
    return leaf.path.endswith("embeddings") and len(tables) == 1 and isinstance(tables[0], Symbol) and tables[0].word == "vocab"


def roles_of(leaf: Leaf, topic: str) -> tuple[str, ...]:
    """Return what a module does, as its name says, else what the names of its bare tensors say, where no kind has a title.

    >>> from weighbridge.explain.semantic_tree import leaf_at
    >>> leaf = leaf_at("head.attention", Pair(part := Part("attention", (Tensor("in_proj_weight", (9, 3)), Tensor("in_proj_bias", (9,))), ""), part), ())
    >>> roles_of(leaf, "pooler")
    ('query, key and value in one',)
    """
    name, tensors = role_of(leaf, topic), leaf.pair.tensors()
    if name or line_title(leaf.pair.part.kind, tuple(ours.role for ours, _ in tensors)) != LINES["other"]:
        return (name,)
    names = tuple(dict.fromkeys(role_name(topic, f"{leaf.path}.{ours.name}") for ours, _ in tensors))
    return names if all(names) else ("",)


def widths(tensors: list[tuple[Tensor, Tensor]]) -> tuple[int, int] | None:
    """Return the inputs and outputs of a linear map, or of a convolution over one place alone; None of anything else."""
    weights = [ours for ours, _ in tensors if ours.role == "weight"]
    if len(weights) != 1 or len(weights[0].shape) < 2:
        return None
    out, into, *kernel = map(as_int, weights[0].shape)
    if any(size != 1 for size in kernel):
        return None
    turned = any(ours.role == "bias" and ours.shape == weights[0].shape[1:] and into != out for ours, _ in tensors)
    return (out, into) if turned else (into, out)


def _attends(pair: Pair) -> Iterator[tuple[Attend, Attend]]:
    own = (node for node in pair.part.children if isinstance(node, Attend))
    symbolic = (node for node in pair.symbolic.children if isinstance(node, Attend))
    yield from zip(own, symbolic, strict=True)
    for child in pair.children():
        yield from _attends(child)


def letters_of(size: Size) -> set[str]:
    """Return the letters on which a size depends: those that cancel out are left out, those inside a rounded quotient are not."""
    return set().union(*(letters(_as_written(atom)) for monomial in polynomial(size).terms for atom, _ in monomial))


def _as_written(atom: Symbol | Opaque) -> Size:
    return atom.quotient if isinstance(atom, Opaque) else atom


def holders(leaves: Iterable[Leaf], topic: str) -> tuple[Pair, ...]:
    """Return the outermost parts of a topic around some modules, each once."""
    found: dict[int, Pair] = {}
    for leaf in leaves:
        around = [pair for pair in (*leaf.around, leaf.pair) if TOPICS.get(pair.part.kind) == topic]
        if around:
            found.setdefault(id(around[0].part), around[0])
    return tuple(found.values())
