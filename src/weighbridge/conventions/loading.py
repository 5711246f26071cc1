"""Three numbers of one model: as built from its config, as loaded from its published file, as an older release builds it.

transformers 5.23.0 decides a tie twice. When a class is built, its config's ``tie_word_embeddings`` and ``_tied_weights_keys`` decide
(``PreTrainedModel.get_expanded_tied_weights_keys``), and the configs of some families set the flag to True whatever was
given (``configuration_t5.py``: "force it for T5 family"). When a file is loaded, a tie whose two tensors are both in
the file with different values is dropped (``PreTrainedModel.tie_weights``). A published config that says
``tie_word_embeddings: false`` belongs to a file with a head of its own.
"""

from __future__ import annotations

from weighbridge.accounts.parameters import count, unique_of
from weighbridge.conventions.quantized_counts import quantizer_change, stated_quantizer
from weighbridge.conventions.transformers_4_57 import older_tree
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.interfaces import Mapping
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Part, Row, Tensor, list_rows, walk

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

RELEASE = "5.23.0"
"""The release of transformers that blueprints describe."""
OLDER = "4.57"
"""The last series of version 4."""


class Loading(NamedTuple):
    """What loading, or an older release, makes of a class.

    Attributes:
        built: Unique parameters as built from the config.
        loaded: As loaded from the file that the config was published with.
        older: As version 4.57 builds it from the same config.
        separate: The tensors that are tied when built, and of their own when loaded.
        quantizer: Parameters more or less that the config's quantizer makes: scales, values that share an element, matrices that are
            buffers; None where what it makes of the matrices is not counted (then *loaded* counts them as they were before).
        differs: Whether the three are not one.
    """

    built: int
    loaded: int
    older: int
    separate: tuple[str, ...]
    quantizer: int | None
    differs: bool


def loading_of(model: ModelValue, built: Size | None = None) -> Loading | None:
    """Return the three counts of a model made from a config; None for a model from a file or a module.

    Args:
        built: Its unique parameters, where they have been counted already.

    >>> from weighbridge import model
    >>> counts = loading_of(model("flan-t5-base"))
    >>> counts.built, counts.loaded, counts.separate
    (222903552, 247577856, ('lm_head.weight',))
    """
    if model.description is None:
        return None
    if not isinstance(built, int):
        built = unique_of(model)
    rows = untied_heads(model)
    change = quantizer_change(model) if stated_quantizer(model) else 0
    loaded = built + sum(_elements(row) for row in rows) + (change or 0)
    tree = older_tree(model)
    older = built if tree is model.tree else count(tree)
    assert isinstance(older, int)
    return Loading(built, loaded, older, tuple(row.name for row in rows), change, not built == loaded == older)


def untied_heads(model: ModelValue) -> tuple[Row, ...]:
    """Return the heads that are tied when *model* is built although its config says that they are not."""
    if model.description is None or not says_untied(model.description.raw):
        return ()
    rows = list_rows(model.tree)
    tables = {row.name for row in rows if row.role == "embedding"}
    return tuple(row for row in rows if row.role == "weight" and row.tied_to in tables)


def count_loaded(tree: Part, raw: Mapping[str, object], built: Size) -> Size:
    """Return how many parameters a class of *built* ones has once it is loaded; the sizes of its tree may be columns.

    >>> from weighbridge import model
    >>> flan = model("flan-t5-base")
    >>> count_loaded(flan.tree, flan.description.raw, 222903552)
    247577856
    """
    if not says_untied(raw):
        return built
    parts = list(walk(tree))
    tables = {
        f"{path}.{node.name}" for path, part in parts for node in part.children if isinstance(node, Tensor) and node.role == "embedding"
    }
    for _, part in parts:
        for node in part.children:
            if isinstance(node, Tensor) and node.role == "weight" and node.tied_to in tables:
                built = built + product(node.shape)
    return built


def says_untied(raw: Mapping[str, object]) -> bool:
    """Tell whether a config, or the config of its text half, says that its head is no tie."""
    if "tie_word_embeddings" in raw:
        return raw["tie_word_embeddings"] is False
    return any(says_untied(inner) for key, inner in raw.items() if key in ("text_config", "decoder") and isinstance(inner, Mapping))


def _elements(row: Row) -> int:
    count = row.count
    assert isinstance(count, int)
    return count
