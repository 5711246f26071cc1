"""What each component of a model holds, in every convention that people count it by: as numbers and as formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache

from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.auditing.checks.component_counts import ComponentCount, Components
from weighbridge.auditing.checks.model_cells import ATTENTION, FEED, Cell, list_cells
from weighbridge.auditing.claims import OmittedCount
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.polynomials import Polynomial
from weighbridge.explain.semantic_tree import leaves_of, pair
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.accounts.parameters import Tally
    from weighbridge.value import ModelValue


class ReferenceCounts:
    """What texts speak of in a model, each taken out of it when it is first asked for; each is itself, and equal to no other.

    Attributes:
        model: The model.
        class_name: The class that is held against the text.
        omissions: What may be left out of the whole, by how much that is; :func:`find_omissions` lists it once.
        recognized: Formulas that were found to be a component's before, in which convention.
    """

    def __init__(self, model: ModelValue) -> None:
        self.model, self.class_name = model, model.class_name or model.kind
        self.omissions: dict[int, tuple[OmittedCount, ...]] = {}
        self.recognized: dict[tuple[str, Polynomial], ComponentCount | None] = {}

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Its tensors, by component."""
        return tuple(list_cells(leaves_of(self.model)))

    @cached_property
    def components(self) -> Components:
        """What each component holds, in every convention."""
        return Components(self.cells, pair(self.model)[2])

    @property
    def reference(self) -> int:
        """The count of its class."""
        return int(self._tally.unique)  # type: ignore[arg-type]

    @property
    def active(self) -> int:
        """The parameters that work on one token."""
        return int(self._tally.active)  # type: ignore[arg-type]

    @cached_property
    def _tally(self) -> Tally:
        return tally_of(self.model)

    @cached_property
    def simple(self) -> bool:
        """Whether its layers are one stack of attention and feed-forward, so that each component is one thing."""
        return _is_simple(self.cells)

    @cached_property
    def numbers(self) -> frozenset[Fraction]:
        """What all components hold, in every convention."""
        return frozenset(one.number for found in self.components.values() for one in found)

    @cached_property
    def tensors(self) -> frozenset[int]:
        """The elements of each tensor."""
        return frozenset(cell.number for cell in self.cells)

    @cached_property
    def classes(self) -> dict[str, int]:
        """The count of every class of the model's family with the same config."""
        return _classes(self.model)


@lru_cache(maxsize=2048)
def reference_counts_of(model: ModelValue) -> ReferenceCounts:
    """Take a model apart into what texts speak of.

    >>> from weighbridge import model
    >>> [h.number for h in reference_counts_of(model("bert-base-uncased")).components["pooler"]]
    [Fraction(590592, 1), Fraction(589824, 1)]
    """
    return ReferenceCounts(model)


def component_numbers(model: ModelValue) -> frozenset[Fraction]:
    """Return the counts of all that a model is made of, as texts speak of it.

    >>> from weighbridge import model
    >>> Fraction(7_087_872) in component_numbers(model("bert-base-uncased"))
    True
    """
    return reference_counts_of(model).numbers


class ReferenceTable(Mapping[str, ReferenceCounts]):
    """The models of a text, by context, each taken apart when it is first asked for: most of a long text's are only named."""

    def __init__(self, models: Mapping[str | None, ModelValue]) -> None:
        self._models = models
        self._known: dict[str, ReferenceCounts] = {}

    def __getitem__(self, context: str) -> ReferenceCounts:
        if context not in self._known:
            self._known[context] = reference_counts_of(self._models[context])
        return self._known[context]

    def __contains__(self, context: object) -> bool:
        return context in self._models

    def __iter__(self) -> Iterator[str]:
        return (context for context in self._models if context is not None)

    def __len__(self) -> int:
        return len(self._models)


def _is_simple(cells: tuple[Cell, ...]) -> bool:
    layered = [cell for cell in cells if cell.layered]
    once = [(cell.place, cell.bias) for cell in layered if cell.place != "layer_norm"]
    plain = {*ATTENTION, *FEED, "layer_norm"}
    return len({cell.copies for cell in layered}) == 1 and len(set(once)) == len(once) and {cell.place for cell in layered} <= plain


def is_one_thing(held: ReferenceCounts, name: str) -> bool:
    """Tell whether a component is one thing in this model, so that a number which is none of its counts is wrong.

    The attention of a model with experts is; that of an encoder with a decoder may be any of three.
    """
    places = _SINGLE.get(name)
    if held.simple or places is None:
        return held.simple
    found = [cell for cell in held.cells if cell.place in places]
    plain = {cell.place for cell in held.cells if cell.layered} <= {*ATTENTION, *FEED, "layer_norm"}
    alone = len({(cell.place, cell.bias) for cell in found}) == len(found) and len({cell.copies for cell in found}) == 1
    return alone and (plain or not set(places) & set(FEED))


_SINGLE: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("word", "position", "type", "pooler", "query", "key", "value", "out", "up", "down", "gate")},
    "qkv": ("query", "key", "value"),
    "attention": ATTENTION,
    "ffn": FEED,
}


def _classes(model: ModelValue) -> dict[str, int]:
    """Return the unique parameters of every class of the model's family with the same config."""
    if model.description is None:
        return {}
    found: dict[str, int] = {}
    for name in model.description.family.classes:
        try:
            found[name] = unique_of(load(model.description.raw, name))
        except (WeighbridgeError, AssertionError, TypeError):
            continue
    return found
