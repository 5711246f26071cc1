"""Three numbers of one model: as built from its config, as loaded from its published file, as an older release builds it.

transformers 5.23.0 decides a tie twice. When a class is built, its config's ``tie_word_embeddings`` and ``_tied_weights_keys`` decide
(``PreTrainedModel.get_expanded_tied_weights_keys``), and the configs of some families set the flag to True whatever was
given (``configuration_t5.py``: "force it for T5 family"). When a file is loaded, a tie whose two tensors are both in
the file with different values is dropped (``PreTrainedModel.tie_weights``). A published config that says
``tie_word_embeddings: false`` belongs to a file with a head of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.parameters import unique_of
from weighbridge.core.messages import mark
from weighbridge.core.tree import Node, Part, Row, Tensor, flatten

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

RELEASE = "5.23.0"
"""The release of transformers that blueprints describe."""
OLDER = "4.57"
"""The last series of version 4."""


class State(NamedTuple):
    """A way in which a class comes about, other than being built from its config.

    Attributes:
        name: In words that follow "as".
        what: What it has beside the built class.
        cost: How far-fetched it is to count it so.
    """

    name: str
    what: str
    cost: int


AS_LOADED = State(mark("loaded from its published file"), mark("a head of its own"), 0)


class Loading(NamedTuple):
    """What loading, or an older release, makes of a class.

    Attributes:
        built: Unique parameters as built from the config.
        loaded: As loaded from the file that the config was published with.
        older: As version 4.57 builds it from the same config.
        separate: The tensors that are tied when built, and of their own when loaded.
        why: The reason, in words.
    """

    built: int
    loaded: int
    older: int
    separate: tuple[str, ...]
    why: str

    @property
    def differs(self) -> bool:
        """Whether the three are not one."""
        return not self.built == self.loaded == self.older


FORCED = mark(
    "the config says tie_word_embeddings: false; transformers {release} ties the head all the same when it builds the class, and unties it when it loads a file that holds another"
)


def loading(model: ModelValue) -> Loading | None:
    """Return the three counts of a model made from a config; None for a model from a file or a module.

    >>> from weighbridge import model
    >>> counts = loading(model("flan-t5-base"))
    >>> counts.built, counts.loaded, counts.separate
    (222903552, 247577856, ('lm_head.weight',))
    """
    if model.description is None:
        return None
    built = unique_of(model)
    rows = separate(model)
    loaded = built + sum(_elements(row) for row in rows)
    return Loading(built, loaded, loaded, tuple(row.name for row in rows), FORCED if rows else "")


def states(model: ModelValue) -> Iterator[tuple[State, Part]]:
    """Yield the ways in which the class of *model* comes about that give another number than building it, with the trees."""
    if separate(model):
        yield AS_LOADED, untied(model.tree)


def untied(tree: Part) -> Part:
    """Return a tree whose heads own their storage.

    >>> from weighbridge import count, model
    >>> from weighbridge.accounts.parameters import count as count_tree
    >>> count_tree(untied(model("flan-t5-base").tree))
    247577856
    """
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            children.append(untied(child))
        elif isinstance(child, Tensor) and _is_head(child):
            children.append(child._replace(tied_to=None))
        else:
            children.append(child)
    return tree._replace(children=tuple(children))


def separate(model: ModelValue) -> tuple[Row, ...]:
    """Return the heads that are tied when *model* is built although its config says that they are not."""
    if model.description is None or not _says_untied(model.description.raw):
        return ()
    return tuple(row for row in flatten(model.tree) if _is_head(row))


def _is_head(tensor: Tensor | Row) -> bool:
    return tensor.tied_to is not None and tensor.role == "weight" and len(tensor.shape) == 2


def _says_untied(raw: Mapping[str, object]) -> bool:
    """Tell whether a config, or the config of its text half, says that its head is no tie."""
    if "tie_word_embeddings" in raw:
        return raw["tie_word_embeddings"] is False
    return any(_says_untied(inner) for key, inner in raw.items() if key in ("text_config", "decoder") and isinstance(inner, Mapping))


def _elements(row: Row) -> int:
    count = row.count
    assert isinstance(count, int)
    return count
