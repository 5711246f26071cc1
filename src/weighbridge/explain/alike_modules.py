"""Which modules one line of a derivation stands for: those that are alike, loose vectors each by itself."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.core.polynomials import polynomial
from weighbridge.explain.part_titles import LINES, NAMES, VOCABULARY_HEAD
from weighbridge.explain.scope import roles_of
from weighbridge.explain.semantic_tree import Leaf, Pair, join_path


def by_tensor(leaf: Leaf) -> Iterator[Leaf]:
    """Yield a module; if it holds loose vectors (a class token, a table of positions), each of them by itself."""
    tensors = leaf.pair.tensors()
    name = tensors[0][0].name if len(tensors) == 1 and not (leaf.pair.part.name or leaf.pair.children()) else "weight"
    if name not in ("weight", "bias", leaf.path.rpartition(".")[2]):
        yield leaf._replace(path=join_path(leaf.path, name))  # a part without a name of its own has its tensor's
        return
    loose = all(ours.role != "weight" and ours.name != "bias" for ours, _ in tensors)
    named = leaf.topic in NAMES and all(ours.name in NAMES[leaf.topic] for ours, _ in tensors)  # XLNet's q, k, v, o stand in no module
    if not (loose or named) or leaf.pair.part.kind in LINES or (len(tensors) < 2 and not leaf.pair.children()):
        yield leaf
        return
    for ours, theirs in tensors:
        both = [tensor._replace(name="weight") if named and tensor.role == "weight" else tensor for tensor in (ours, theirs)]
        alone = Pair(leaf.pair.part._replace(children=(both[0],)), leaf.pair.symbolic._replace(children=(both[1],)))
        yield leaf._replace(path=join_path(leaf.path, ours.name), pair=alone)


def likeness(leaf: Leaf) -> object:
    """Return what modules have in common that one line stands for: kind, tensors and, of a loose vector, what its name says."""
    names = role_names(leaf) if leaf.path.rpartition(".")[2] == leaf.pair.tensors()[0][0].name else ("",)
    return leaf.pair.part.kind, tuple(
        (names if all(names) else ours.name, ours.role, ours.tied_to, tuple(polynomial(size) for size in theirs.shape))
        for ours, theirs in leaf.pair.tensors()
    )


def module_paths(leaf: Leaf) -> tuple[str, ...]:
    """Name a module, or, where it holds other modules too, its own tensors."""
    if leaf.path and not leaf.pair.children():
        return (leaf.path,)
    return tuple(join_path(leaf.path, ours.name) for ours, _ in leaf.pair.tensors())


def role_names(leaf: Leaf) -> tuple[str, ...]:
    """Return what a module's names say of its role; a head of the vocabulary only where it has that many outputs, or more than inputs."""
    if leaf.pair.part.kind == "experts" and len(leaf.pair.tensors()) > 1:
        return ("",)  # it holds all matrices of all experts, whatever it is called
    names = roles_of(leaf, leaf.topic)
    matrices = [(ours.shape, theirs.shape) for ours, theirs in leaf.pair.tensors() if len(ours.shape) == 2]
    named = all(getattr(theirs[0], "word", "") == "vocab" or int(str(ours[0])) > int(str(ours[1])) for ours, theirs in matrices)
    return names if VOCABULARY_HEAD not in names or named else ("",)
