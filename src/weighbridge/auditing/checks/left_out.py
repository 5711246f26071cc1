"""What a count leaves out of the whole: the few things people leave out, tried together until nothing is left."""

from __future__ import annotations

from itertools import combinations

from weighbridge.auditing.checks.model_cells import Cell
from weighbridge.auditing.checks.reference_counts import ReferenceCounts
from weighbridge.auditing.claims import OmittedCount, Sentence
from weighbridge.core.messages import mark

_FEATURES: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    (mark("the pooler"), ("pooler",), False),
    (mark("the linear biases"), (), True),
    (mark("the embedding norm"), ("embedding_norm",), False),
    (mark("the layers' norms"), ("layer_norm",), False),
    (mark("the final norm"), ("final_norm",), False),
    (mark("the token type table"), ("type",), False),
    (mark("the position table"), ("position",), False),
    (mark("the word embeddings"), ("word",), False),
    (mark("the attention's output projection"), ("out",), False),
    (mark("the head"), ("head",), False),
)

"""What people leave out: places, or every linear bias."""


_MOST = 4
"""Things that may be left out together."""


def find_omissions(held: ReferenceCounts, number: int) -> tuple[OmittedCount, ...] | None:
    """Explain a count to the last parameter by what it leaves out of the whole; None if no few things explain it.

    >>> from weighbridge import model
    >>> from weighbridge.auditing.checks.reference_counts import reference_counts_of
    >>> [left.count for left in find_omissions(reference_counts_of(model("bert-base-uncased")), 108_808_704)]
    [590592, 82944]
    """
    if not held.omissions:
        held.omissions.update(_list_omissions(held))
    return held.omissions.get(held.reference - number)


def _list_omissions(held: ReferenceCounts) -> dict[int, tuple[OmittedCount, ...]]:
    """Return, by how much is left out, what leaves out so much: the fewest things that do."""
    features = [feature for feature in _FEATURES if any(_holds(feature, cell) for cell in held.cells)]
    owned = [{i for i, cell in enumerate(held.cells) if _holds(feature, cell)} for feature in features]
    found: dict[int, tuple[OmittedCount, ...]] = {0: ()}
    for size in range(1, _MOST + 1):
        for chosen in combinations(zip(features, owned, strict=True), size):
            parts, taken = [], set[int]()
            for feature, cells in chosen:
                own = cells - taken
                parts.append(OmittedCount(Sentence(feature[0]), sum(held.cells[i].number * held.cells[i].copies for i in own)))
                taken |= own
            if all(part.count for part in parts):
                found.setdefault(sum(part.count for part in parts), tuple(parts))
    return found


def _holds(feature: tuple[str, tuple[str, ...], bool], cell: Cell) -> bool:
    return cell.bias if feature[2] else cell.place in feature[1]
