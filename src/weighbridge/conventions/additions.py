"""What other libraries and authors count beside a class's parameters, or in another number than its config says.

Each is a count that somebody uses, named beside it. Where a number can be anything (labels, rows of a table), only those that
people use are tried: a difference that merely divides evenly is no explanation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt

from weighbridge.conventions.atoms import Atom, Parts
from weighbridge.conventions.pieces import Piece
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark

LABELS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 19, 20, 21, 28, 35, 37, 80, 81, 90, 91, 92, 100, 101, 150, 151, 171, 200, 365, 397, 400, 527, 600,
          700, 1000, 1001, 11221, 21841, 21843)  # fmt: skip
"""Classes of the data sets that heads are published for: GLUE, CIFAR, Cityscapes, VOC, COCO, ADE20k, Places, Kinetics, AudioSet, ImageNet."""
GRIDS = tuple(side * side for side in range(7, 65))
"""Patches of a square image."""
ROWS = 64
"""Spare rows of a vocabulary come in multiples that hardware likes."""


ONLY_THE_END_LEFT_OUT = tuple(
    """position-offset biases norms embedding-norm embeddings word-embeddings position-embeddings type-embeddings layer-norms final-norm shifts
    attention-biases feed-forward-biases qkv-biases fixed-positions cross-attention""".split()
)
"""Beside a table of another size people leave out a head or a pooler, and nothing from within."""


class Addition(NamedTuple):
    """Something that is counted beside a class's parameters, or that is larger or smaller than its config says.

    Attributes:
        key: Its anchor in docs/counting-rules.md.
        piece: What, and how many; negative where fewer are counted.
        cost: How far-fetched it is.
        bars: Keys of omissions that make no sense beside it.
        common: Whether other things are often left out beside it.
        partner: Another thing that the same library counts as well.
    """

    key: str
    piece: Piece
    cost: int
    bars: tuple[str, ...] = ()
    common: bool = False
    partner: Piece | None = None


def additions(taken: Parts, atoms: Sequence[Atom], *, main: bool) -> Iterator[Addition]:
    """Yield what may be counted beside *atoms*, a class or a part of one.

    Args:
        taken: The class, for its buffers.
        atoms: What of it is counted.
        main: Whether it is the class that is asked about; of others only what is common is tried.
    """
    statistics = _statistics(taken, atoms)
    if statistics is not None:
        yield Addition("statistics", statistics, 1, common=True)
    yield from _key_biases(atoms)
    yield from _pooler(atoms)
    if main:
        yield from _position_ids(atoms)
        yield from _labels(atoms, statistics)
        yield from _vocabulary(atoms)
        yield from _images(atoms)
        yield from _scales(atoms)
        yield from _packed_layers(atoms)
        yield from _dense_layers(atoms)


def _statistics(taken: Parts, atoms: Sequence[Atom]) -> Piece | None:
    """Return batch norms' running means and variances: Keras's ``count_params`` and TensorFlow's ``variables`` include them."""
    whole = sum(atom.total for atom in atoms) == taken.unique
    return Piece(mark("running means and variances of batch norms"), taken.statistics) if taken.statistics and whole else None


def _position_ids(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield position ids: a buffer of one number per position, in files until transformers 4.31 and among KerasHub's weights."""
    tables = [atom for atom in atoms if atom.component == "position" and atom.rows]
    every = sum(atom.rows for atom in tables)
    seen = sum(atom.rows for atom in tables if atom.sense == "vision")
    if every:
        yield Addition("position-ids", Piece(mark("position ids"), every), 1, common=True)
    if seen and seen != every:
        yield Addition("position-ids", Piece(mark("position ids of the image tower"), seen), 1, common=True)
        yield Addition("position-ids", Piece(mark("position ids of the text tower"), every - seen), 1, common=True)


def _labels(atoms: Sequence[Atom], statistics: Piece | None) -> Iterator[Addition]:
    """Yield heads with another number of labels than the config gives: the backbone is published once, its heads for many data sets."""
    heads = [atom for atom in atoms if atom.component.startswith("head:") and atom.rows]
    if not heads:
        return
    last = heads[-1].component
    outputs = heads[-1].rows
    width = sum(atom.total // atom.rows for atom in heads if atom.component == last and atom.rows == outputs)
    for labels in LABELS:
        if labels != outputs and outputs <= max(LABELS) and width:
            piece = Piece(f"{labels:,} labels instead of {outputs:,}", (labels - outputs) * width)
            yield Addition("labels", piece, 2, ("head",), partner=statistics)


def _vocabulary(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield vocabularies without the spare rows that training adds, or with some: 64 at a time, or one token more or less."""
    table = max((atom for atom in atoms if atom.component == "word" and atom.rows), key=lambda atom: atom.rows, default=None)
    if table is None:
        return
    rows = table.rows
    width = sum(
        atom.total // atom.rows for atom in atoms if atom.rows == rows and (atom.component == "word" or atom.component.startswith("head:"))
    )
    for other in dict.fromkeys((rows - 1, rows + 1, *(rows // ROWS * ROWS + step * ROWS for step in (-2, -1, 0, 1)))):
        if other > 0 and other != rows:
            piece = Piece(f"a vocabulary of {other:,} instead of {rows:,}", (other - rows) * width)
            yield Addition("vocabulary-rows", piece, 2, ("embeddings", "word-embeddings", "head", "biases"))


def _images(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield position tables resized to images of another size, and tables kept a second time, resized (DINOv2 in KerasHub)."""
    tables = [atom for atom in atoms if atom.component == "position" and atom.rows and atom.sense in ("vision", "")]
    if len(tables) != 1:
        return
    table = tables[0]
    tokens = min(
        (extra for extra in (0, 1, 2, 5) if extra < table.rows and isqrt(table.rows - extra) ** 2 == table.rows - extra), default=None
    )
    if tokens is None or table.role != "embedding":
        return
    yield Addition(
        "positions-twice", Piece(mark("the position table a second time, resized"), table.total), 2, ONLY_THE_END_LEFT_OUT, common=True
    )
    for patches in GRIDS:
        rows = patches + tokens
        if rows != table.rows:
            piece = Piece(f"a position table of {rows:,} rows instead of {table.rows:,}", (rows - table.rows) * (table.total // table.rows))
            yield Addition("positions-resized", piece, 2, ONLY_THE_END_LEFT_OUT, common=True)


def _scales(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield int8 quantization's scales: one per output of each linear map, one per row of each word table (Keras's ``quantize``)."""
    linear = sum(atom.outputs for atom in atoms if atom.role == "weight")
    words = sum(atom.rows for atom in atoms if atom.component == "word")
    if linear and words:
        yield Addition("scales", Piece(mark("int8 scales, one per output and per row"), linear + words), 2)


PACKED = mark("linear maps packed two weights to a byte")


def _packed_layers(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield what ``numel()`` gives once bitsandbytes has packed the linear maps of the layers two weights to a byte; the head stays whole."""
    weights = sum(atom.total for atom in atoms if atom.outputs and atom.layer and not atom.component.startswith("head:"))
    words = any(atom.component == "word" for atom in atoms)
    if weights and words and weights % 2 == 0:
        yield Addition("packed", Piece(PACKED, -weights // 2), 1, ("layers",))


def _pooler(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield a pooler like BERT's for an encoder that has none: KerasHub gives ELECTRA one, the files of XLM-R hold one beside the head for masked words."""
    table = next((atom for atom in atoms if atom.component == "position" and atom.rows), None)
    encoder = any(atom.component == "type" for atom in atoms) and not any(atom.component == "pooler" for atom in atoms)
    hidden = next((atom.total for atom in atoms if atom.component == "layer_norm" and atom.role == "gain" and atom.copies == 1), 0)
    hidden = hidden or next((atom.each for atom in atoms if atom.component == "layer_norm" and atom.role == "gain"), 0)
    if table is not None and encoder and hidden:
        yield Addition("pooler-added", Piece(mark("a pooler of H² + H"), hidden * hidden + hidden), 2, ("pooler",), common=True)


def _dense_layers(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield the linear maps that sentence-transformers puts behind the pooling of an encoder: H² (GTR), or there and back, H to 4H to H (EmbeddingGemma)."""
    word = next((atom for atom in atoms if atom.component == "word" and atom.rows), None)
    if word is None or any(atom.component.startswith("head:") for atom in atoms):
        return
    hidden = word.total // word.rows
    yield Addition("dense", Piece(mark("a dense layer after pooling, H²"), hidden * hidden), 2)
    if hidden > 768:
        yield Addition("dense", Piece(mark("a dense layer after pooling, H × 768"), hidden * 768), 2)
    yield Addition("dense", Piece(mark("two dense layers after pooling, H to 4H to H"), 8 * hidden * hidden), 2)


KEYS = {"query": "key", "q_proj": "k_proj", "to_q": "to_k", "q": "k"}
"""What the map to keys is called beside that to queries."""


def _key_biases(atoms: Sequence[Atom]) -> Iterator[Addition]:
    """Yield biases of keys where only queries and values have some: torchvision's Swin V2 and MTEB's VideoMAE have the keys' too, at zero."""
    biased = {atom.path for atom in atoms if atom.role == "bias"}
    every = 0
    for atom in atoms:
        outer, _, name = atom.path.rpartition(".")
        if atom.role == "bias" and name in KEYS and f"{outer}.{KEYS[name]}" not in biased:
            every += atom.total
    if every:
        yield Addition("key-biases", Piece(mark("biases of keys, kept at zero"), every), 1)
