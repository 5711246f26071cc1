"""What people leave out when they count, and the parts that they count separately."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weighbridge.conventions.atoms import Atom, Parts
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

TABLES = ("word", "position", "type", "embedding")
"""The components that are embedding tables."""


class Omission(NamedTuple):
    """Something people leave out: its anchor in docs/counting-rules.md, its name, what it covers."""

    key: str
    what: str
    covers: Callable[[Atom], bool]
    cost: int = 1


QKV = frozenset("q_proj k_proj v_proj q k v query key value qkv qkv_proj c_attn query_key_value Wqkv in_proj".split())
"""What the maps to queries, keys and values are called."""
OFFSET = Omission("position-offset", mark("two spare rows of the position table"), lambda atom: False)
"""Covers a part of one table (``views._spare``); it goes before norms of the same size."""
OMISSIONS = (
    OFFSET,
    Omission("biases", mark("linear biases"), lambda atom: atom.role == "bias"),
    Omission("norms", mark("norms"), lambda atom: atom.of_norm),
    Omission("embedding-norm", mark("embedding norm"), lambda atom: atom.component == "embedding_norm"),
    Omission("pooler", mark("pooler"), lambda atom: atom.component == "pooler"),
    Omission("embeddings", mark("embedding tables"), lambda atom: atom.component in TABLES),
    Omission("word-embeddings", mark("word embeddings"), lambda atom: atom.component == "word"),
    Omission("position-embeddings", mark("position embeddings"), lambda atom: atom.component == "position" and atom.sense in ("", "text")),
    Omission("type-embeddings", mark("token type embeddings"), lambda atom: atom.component == "type"),
    Omission("layer-norms", mark("norms of the layers"), lambda atom: atom.component == "layer_norm", 2),
    Omission("final-norm", mark("norm outside the layers"), lambda atom: atom.component == "norm", 2),
    Omission("shifts", mark("norm shifts"), lambda atom: atom.role == "shift", 2),
    Omission("attention-biases", mark("attention biases"), lambda a: a.role == "bias" and a.component == "attention", 2),
    Omission("feed-forward-biases", mark("feed-forward biases"), lambda a: a.role == "bias" and a.component == "feed_forward", 2),
    Omission("qkv-biases", mark("query, key and value biases"), lambda atom: atom.role == "bias" and atom.path.rpartition(".")[2] in QKV),
    Omission("fixed-positions", mark("fixed position tables"), lambda atom: atom.frozen and atom.component == "position"),
    Omission("cross-attention", mark("cross-attention"), lambda atom: atom.component == "cross_attention", 2),
)


def traits(atom: Atom) -> tuple[object, ...]:
    """Return all that an omission looks at: it covers both or neither of two atoms of the same traits.

    >>> from weighbridge import model
    >>> from weighbridge.conventions.atoms import parts_of
    >>> traits(parts_of(model("bert-base-uncased")).atoms[0])
    ('word', 'embedding', '', False, False)
    """
    return atom.component, atom.role, atom.sense, atom.frozen, atom.path.rpartition(".")[2] in QKV


LABELS = {
    "embeddings": mark("embeddings"),
    "layers": mark("repeated layers"),
    "pooler": mark("pooler"),
    "head": mark("output head"),
    "other": mark("other modules"),
}
"""The coarse parts of a model, in which a difference between two classes is listed."""
SCOPES = {
    "layers": mark("the layers"),
    "layer": mark("one layer"),
    "embeddings": mark("the embeddings"),
    "attention": mark("the attention of all layers"),
    "attention-one": mark("the attention of one layer"),
    "feed_forward": mark("the feed-forward networks of all layers"),
    "feed_forward-one": mark("the feed-forward network of one layer"),
    "layer_norm-one": mark("the norms of one layer"),
    "layer_norm": mark("the norms of all layers"),
    "image-tower": mark("the image tower with its projection"),
    "text-tower": mark("the text tower with its projection"),
    "audio-tower": mark("the audio tower with its projection"),
    "active": mark("the active parameters"),
    "pooler": mark("the pooler"),
    "tables": mark("the embedding tables"),
    "word": mark("the word embeddings"),
}
TWICE_NOT_WITHOUT = frozenset(("embeddings", "word-embeddings"))
"""Who counts tied tensors under every name does not leave out the tables that they are."""


def tower_and_head_omissions(taken: Parts) -> Iterator[Omission]:
    """Yield what can be left out of this model alone: the tower beside its text, and each of its heads."""
    senses = {atom.sense for atom in taken.atoms}
    if "vision" in senses and len(senses) > 1:
        yield Omission("tower", mark("the image tower"), lambda atom: atom.sense == "vision")
    if "audio" in senses and len(senses) > 1:
        yield Omission("tower", mark("the audio tower"), lambda atom: atom.sense == "audio")
    for head in dict.fromkeys(atom.component for atom in taken.atoms if atom.component.startswith("head:")):
        yield Omission("head", head.removeprefix("head:"), lambda atom, head=head: atom.component == head)  # type: ignore[misc]
