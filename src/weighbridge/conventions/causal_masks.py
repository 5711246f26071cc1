"""The masks that files of older decoders hold in every layer: a square of ones for the positions that a token may see, a buffer until transformers 4.31.

The Hub shows GPT-2 with 137,022,720 for that reason, and Pythia and GPT-NeoX with their rotary frequencies besides. In the files of GPT-Neo only
layers that see everything have one. Source: the register of these classes' buffers in transformers 4.30 (gpt2, gpt_neo, gptj, codegen, gpt_neox,
openai), and the elements of the published files.
"""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.conventions.atoms import Parts
from weighbridge.conventions.pieces import Piece
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.messages import mark

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

SIDES = {
    "gpt2": ("n_positions", 1024),
    "openai-gpt": ("n_positions", 512),
    "gpt_neo": ("max_position_embeddings", 2048),
    "gptj": ("n_positions", 2048),
    "codegen": ("n_positions", 2048),
    "gpt_neox": ("max_position_embeddings", 2048),
}
"""The key of a mask's side by model type, and what the class has by itself."""

MASKS = mark("causal masks of the layers")


def mask_pieces(model: ModelValue, taken: Parts) -> Iterator[tuple[Piece, ...]]:
    """Yield what the files hold: the masks, with the rotary frequencies that stand beside them, and a head of its own, if one is tied."""
    if model.description is None or model.model_type not in SIDES:
        return
    raw, sizes = model.description.raw, model.description.sizes
    key, default = SIDES[model.model_type]
    side, layers = raw.get(key, default), getattr(sizes, "layers", None)
    if type(side) is not int or type(layers) is not int:
        return
    if model.model_type == "gpt_neo":
        layers -= sizes.windowed
    beside = [Piece(MASKS, layers * side * side)]
    if model.model_type == "gpt_neox":
        share = raw.get("rotary_pct", 0.25)
        turned = int(sizes.head_dim * share) if isinstance(share, (int, float)) and 0 <= share <= 1 else 0
        beside.append(Piece(mark("rotary frequencies of every layer"), layers * (turned // 2)))
    yield tuple(beside)
    head = sum(atom.total for atom in taken.tied if atom.role == "weight")
    if head:
        yield (*beside, Piece(mark("a head of its own"), head))
