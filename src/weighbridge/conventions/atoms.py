"""A model's parameters by role and component, as counting conventions need them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import prod

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.sizes import as_int
from weighbridge.core.tree import Part, Tensor, positions
from weighbridge.explain.part_titles import role_name
from weighbridge.explain.semantic_tree import HEADS, NORMS, Leaf, Pair, join_path, leaves, leaves_of

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

EMBEDDINGS = {"Word embeddings": "word", "Position embeddings": "position", "Token type embeddings": "type"}
"""From what a table is called to its component."""

POSITIONS = frozenset("position_embeddings position_embedding pos_embed positional_embedding".split())
"""Position tables that are a parameter of the module they stand in, as vision transformers have them."""
STATISTICS = frozenset(("running_mean", "running_var"))
"""Buffers of a batch norm that Keras and TensorFlow count as (non-trainable) parameters."""
ROUTERS = frozenset(("gate", "router"))
"""Maps that choose experts, which stay in higher precision."""
MOST_HEADS = 24
"""Heads that are told apart: all of a file with more are one component."""
HEADS_TOGETHER = "head:heads"
SENSES = frozenset(("vision", "audio", "text"))
"""Kinds of towers."""


class Atom(NamedTuple):
    """The parameters of one role in one module.

    Attributes:
        component: ``word``, ``position``, ``type``, ``embedding`` (another table), ``embedding_norm``, ``layer_norm``,
            ``norm`` (outside layers), ``attention``, ``cross_attention``, ``feed_forward``, ``experts``, ``mixer``,
            ``convolution``, ``pooler``, ``head:PATH`` or ``other``.
        role: As in the tree.
        path: The module, repeats folded.
        layer: The path and first index of the outermost repeated part it stands in, or the empty string.
        each: Elements in one copy of that part (or in all, outside layers).
        copies: Copies of that part.
        rows: Rows of a table, outputs of a head; for anything else 0.
        frozen: Whether the reference marks it as not trainable, such as Whisper's sinusoidal positions.
        sense: ``vision``, ``audio`` or ``text`` if it stands in such a tower, else the empty string.
        outputs: Outputs of a linear map, in all copies.
        blocks: Blocks of 128 × 128 that cover a linear map, in all copies; a router is kept whole.
    """

    component: str
    role: str
    path: str
    layer: str
    each: int
    copies: int
    rows: int
    frozen: bool
    sense: str
    outputs: int
    blocks: int

    @property
    def total(self) -> int:
        """Elements in all copies."""
        return self.each * self.copies

    @property
    def of_norm(self) -> bool:
        """Whether these are gains or shifts of a norm; a state space's decay rates and the scale of CLIP's logits are gains of none."""
        return self.role in ("gain", "shift") and self.component.startswith(("norm", "layer_norm", "embedding_norm", "head:"))


class Parts(NamedTuple):
    """A tree in atoms: what it owns, what shares another's storage, and what it saves without learning it.

    Attributes:
        atoms: What it owns.
        tied: What shares another's storage.
        buffers: Elements of saved buffers.
        statistics: Of these, the running means and variances of batch norms.
    """

    atoms: tuple[Atom, ...]
    tied: tuple[Atom, ...]
    buffers: int
    statistics: int

    @property
    def unique(self) -> int:
        """Each tied tensor once."""
        return sum(atom.total for atom in self.atoms)


@lru_cache(maxsize=8)
def parts_of(model: ModelValue) -> Parts:
    """Return the atoms of a model's tree, cached."""
    return _parts(model.tree, leaves_of(model) if model.description is None else leaves(Pair(model.tree, model.tree)))


def parts(tree: Part) -> Parts:
    """Return the atoms of a tree of ints.

    >>> from weighbridge import model
    >>> parts(model("bert-base-uncased").tree).unique
    109482240
    """
    return _parts(tree, leaves(Pair(tree, tree)))


def _parts(tree: Part, owners: Iterable[Leaf]) -> Parts:
    heads: set[str] = set()
    found = [(atom, tensor.tied_to is not None) for leaf in owners for atom, tensor in _atoms(leaf, heads)]
    if len(heads) > MOST_HEADS:
        found = [(atom._replace(component=HEADS_TOGETHER) if atom.component in heads else atom, tied) for atom, tied in found]
    owned = tuple(atom for atom, tied in found if not tied)
    tied = tuple(atom for atom, tied in found if tied)
    return Parts(owned, tied, *_buffers(tree))


def _atoms(leaf: Leaf, heads: set[str]) -> list[tuple[Atom, Tensor]]:
    """Make the atoms of one module; *heads* are those that were met so far."""
    layer, copies, inner = _layer(leaf)
    kinds = leaf.kinds
    general = _component(leaf, kinds, bool(layer), heads)
    sense = next((kind for kind in kinds if kind in SENSES), "")
    routes = leaf.path.rpartition(".")[2] in ROUTERS
    found = []
    for tensor, _ in leaf.pair.tensors():
        shape, size, outputs, blocks = tensor.shape, inner, 0, 0
        for length in shape:
            size = size * as_int(length)
        component = "position" if general == "embedding" and tensor.name in POSITIONS else general
        rows = _rows(component, tensor)
        if tensor.role == "weight" and len(shape) >= 2:
            outputs = copies * inner
            for length in shape[:-1]:
                outputs = outputs * as_int(length)
            blocks = copies * inner * _blocks(tensor) if outputs and not routes else 0
        found.append((Atom(component, tensor.role, leaf.path, layer, size, copies, rows, tensor.frozen, sense, outputs, blocks), tensor))
    return found


def _blocks(tensor: Tensor) -> int:
    *others, height, width = map(as_int, tensor.shape)
    return prod(others) * -(-height // 128) * -(-width // 128)


def _rows(component: str, tensor: Tensor) -> int:
    """Return the rows of a table or of a head's weight or bias."""
    shape = tensor.shape
    if component in ("word", "position", "type") and len(shape) >= 2:
        return as_int(shape[-2])
    return as_int(shape[0]) if component.startswith("head:") and shape else 0


def _layer(leaf: Leaf) -> tuple[str, int, int]:
    """Return the outermost repeated part, its copies, and the copies of the module inside one of them."""
    path, copies, inner, layer = "", 1, 1, ""
    if not leaf.is_repeated:
        return layer, copies, inner
    for pair in (*leaf.around, leaf.pair):
        path = join_path(path, pair.part.name)
        repeat = pair.part.repeat
        if repeat is None:
            continue
        if layer:
            inner *= as_int(repeat)
        else:
            # Layers of two kinds (dense and with experts) share a path; where the first copy stands tells them apart.
            layer, copies = f"{path}.{next(iter(positions(pair.part)), 0)}", as_int(repeat)
    return layer, copies, inner


def _component(leaf: Leaf, kinds: tuple[str, ...], in_layer: bool, heads: set[str]) -> str:
    part = leaf.pair.part
    topic = leaf.topic
    topic = "attention" if topic == "latent_attention" else topic
    if topic == "head" or not HEADS.isdisjoint(kinds):
        if len(heads) > MOST_HEADS:
            return HEADS_TOGETHER
        heads.add(head := "head:" + _head(leaf))
        return head
    if part.kind in NORMS:
        return "layer_norm" if in_layer else "embedding_norm" if "embeddings" in kinds else "norm"
    if topic == "embedding":
        return EMBEDDINGS.get(role_name("embedding", leaf.path), "embedding")
    return topic


def _head(leaf: Leaf) -> str:
    """Name the head a module belongs to: ``cls.predictions``, ``classifier``, ``esm.contact_head``."""
    pieces = leaf.path.split(".")
    depth = next((depth for depth, pair in enumerate(leaf.around) if pair.part.kind in HEADS), 1)
    if depth > 1:
        return ".".join(pieces[:depth])
    outer = leaf.around[1].part if len(leaf.around) > 1 else leaf.pair.part
    return ".".join(pieces[:2]) if outer.kind == "head" and len(pieces) > 1 else pieces[0]


def _buffers(part: Part) -> tuple[int, int]:
    """Count the elements of saved buffers: of all, and of the statistics of batch norms."""
    every = statistics = 0
    for node in part.children:
        if isinstance(node, Part):
            inside = _buffers(node)
            every, statistics = every + inside[0], statistics + inside[1]
        elif isinstance(node, Tensor) and node.role == "buffer":
            size = prod(map(as_int, node.shape))
            every, statistics = every + size, statistics + (size if node.name in STATISTICS else 0)
    copies = 1 if part.repeat is None else as_int(part.repeat)
    return every * copies, statistics * copies
