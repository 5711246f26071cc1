"""What a published file, or another library's class of the same model, holds beside the reference library's: a few model types, each looked into.

Source: the header of the file of Phi-4-multimodal (5,574,460,384 elements); keras_hub 0.32.0, models/{gemma3n,mobilenetv5,t5gemma2}; mteb 2.26.24 and the Hub's ``safetensors.total``, which are taken from headers of files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weighbridge.conventions.atoms import Atom
from weighbridge.conventions.pieces import Piece
from weighbridge.core.messages import mark

VISION_RANK, SPEECH_RANK = 256, 320
"""Ranks of Phi-4-multimodal's adapters (arXiv 2503.01743, section 3), which its file holds beside every map of a layer of text."""


def gemma3n(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield KerasHub's keys and values of layers that take another's (transformers 4.57 has them too), and biases in front of its image encoder's norms."""
    text = [atom for atom in atoms if ".language_model.layers" in atom.path]
    maps = {name: [atom for atom in text if atom.path.endswith(f".self_attn.{name}")] for name in ("q_proj", "k_proj", "v_proj", "k_norm")}
    if not all(maps.values()):
        return
    layers = sum(atom.copies for atom in maps["q_proj"]) - sum(atom.copies for atom in maps["k_proj"])
    shared = Piece(
        mark("keys and values of layers that take another's"), layers * sum(maps[name][0].each for name in ("k_proj", "v_proj", "k_norm"))
    )
    blocks = [atom for atom in atoms if ".vision_tower." in atom.path and atom.role == "gain" and "conv_stem" not in atom.path]
    normed = sum(atom.total for atom in blocks if atom.path.rpartition(".")[2].startswith("bn"))
    yield shared, Piece(mark("biases of convolutions before norms"), normed)


def t5gemma2(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield KerasHub's word table of the decoder's own, where its vectors for the end of an image are not counted."""
    table = next((atom for atom in atoms if atom.component == "word" and atom.rows), None)
    if table is not None:
        width = table.total // table.rows
        yield (Piece(mark("a word table of the decoder's own, no vector for the end of an image"), table.total - width),)


def phi4_multimodal(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield the two adapters of the file: a map down and one up beside every map of every layer of text."""
    maps = [atom for atom in atoms if atom.role == "weight" and atom.path.startswith("model.layers.")]
    sides = sum(atom.outputs + atom.total * atom.copies // atom.outputs for atom in maps if atom.outputs)
    yield tuple(
        Piece(what, rank * sides)
        for what, rank in ((mark("vision adapter of rank 256"), VISION_RANK), (mark("speech adapter of rank 320"), SPEECH_RANK))
    )


def jina_embeddings_v3(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield the adapters of its five tasks, of rank 4 (arXiv 2409.10173): beside every table and every map of the file, where queries, keys and values are one map."""
    own = [atom for atom in atoms if not atom.component.startswith("head:")]
    maps = [atom for atom in own if atom.role == "weight" and atom.outputs]
    sides = sum(atom.outputs for atom in maps)
    sides += sum(
        atom.total * atom.copies // atom.outputs for atom in maps if atom.path.rpartition(".")[2] not in ("k_proj", "v_proj")
    )  # they share the input of the queries
    sides += sum(atom.rows + atom.total // atom.rows for atom in own if atom.role == "embedding" and atom.rows)
    yield (Piece(mark("five adapters of rank 4"), 5 * 4 * sides),)


def qwen2_5_omni(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield the rotary frequencies that the file holds for the transformer that makes spectrograms: half of a head, of 64."""
    yield (Piece(mark("rotary frequencies of the transformer that makes spectrograms"), 32),)


def speecht5(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield the fixed positions that the files of SpeechT5 hold: of 450 text tokens and 4 rows more, beside a head of its own; or of 600 tokens and 1,876 frames."""
    table = next((atom for atom in atoms if atom.component == "word" and atom.rows), None)
    if table is None:
        return
    width = table.total // table.rows
    yield Piece(mark("fixed positions"), 454 * width), Piece(mark("a head of its own"), table.total)
    yield (Piece(mark("fixed positions"), (600 + 1876) * width),)


def qwen3_5(atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield the layer for multi-token prediction that every file of Qwen3.5 and 3.6 holds: a layer with full attention, a map of two states into one, three norms."""
    inside = [atom for atom in atoms if ".language_model.layers" in atom.path]
    full = next((atom.layer for atom in inside if ".self_attn." in atom.path), None)
    width = next((atom.each for atom in atoms if atom.path.endswith("language_model.norm")), 0)
    if full is not None and width:
        layer = sum(atom.each for atom in inside if atom.layer == full)
        yield (Piece(mark("a layer for multi-token prediction, its tables shared"), layer + 2 * width * width + 3 * width),)


TYPES: dict[str, Callable[[Sequence[Atom]], Iterator[tuple[Piece, ...]]]] = {
    "gemma3n": gemma3n,
    "t5gemma2": t5gemma2,
    "phi4_multimodal": phi4_multimodal,
    "jina_embeddings_v3": jina_embeddings_v3,
    "qwen2_5_omni": qwen2_5_omni,
    "speecht5": speecht5,
    "qwen3_5": qwen3_5,
    "qwen3_5_moe": qwen3_5,
}
"""By model type."""


def extra_pieces(model_type: str | None, atoms: Sequence[Atom]) -> Iterator[tuple[Piece, ...]]:
    """Yield what others hold beside a class.

    >>> from weighbridge import model
    >>> from weighbridge.conventions.atoms import parts_of
    >>> [piece.amount for piece in next(extra_pieces("phi4_multimodal", parts_of(model("phi-4-multimodal-instruct")).atoms))]
    [369098752, 461373440]
    """
    if model_type in TYPES:
        yield from TYPES[model_type](atoms)
