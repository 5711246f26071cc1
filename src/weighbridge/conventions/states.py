"""The trees that a class has once it is loaded, or built by an older release, beside the one that its blueprint describes."""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.conventions.loading import untied_heads
from weighbridge.conventions.transformers_4_57 import older_tree, untie
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class State(NamedTuple):
    """How a class is made other than from its config: loaded from its published file, or by an older release.

    Attributes:
        name: In words that follow "as".
        what: What it has beside the built class.
        cost: How far-fetched it is to count it so.
    """

    name: str
    what: str
    cost: int


BY_OLDER = State(mark("transformers 4.57 builds it"), mark("what that release ties or builds differently"), 0)
AS_LOADED = State(mark("loaded from its published file"), mark("a head of its own"), 0)


def states(model: ModelValue) -> Iterator[tuple[State, Part]]:
    """Yield the states of the model's class whose count differs from that of building it, each with its tree."""
    if untied_heads(model):
        yield AS_LOADED, untie(model.tree)
    elif (older := older_tree(model)) is not model.tree:
        yield BY_OLDER, older
