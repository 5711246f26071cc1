"""What each component of a model holds, in every convention that people count it by: as numbers and as formulas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property, lru_cache

from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.auditing.checks.component_counts import ComponentCount, keep_distinct, list_components
from weighbridge.auditing.checks.model_cells import ATTENTION, FEED, Cell, list_cells
from weighbridge.auditing.claims import OmittedCount
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.polynomials import Polynomial
from weighbridge.explain.semantic_tree import leaves_of, pair
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class _Components(NamedTuple):
    """A model's components and the counts of its classes.

    Attributes:
        cells: Its tensors, by component.
        components: What each component holds, in every convention.
        class_name, reference: The class that is held against the text, and its count.
        omissions: What may be left out of the whole, by how much that is; :func:`find_omissions` lists it once.
        simple: Whether its layers are one stack of attention and feed-forward, so that each component is one thing.
        recognized: Formulas that were found to be a component's before, in which convention.
        active: The parameters that work on one token.
        numbers: What all components hold, in every convention.
        tensors: The elements of each tensor.
        model: The model.
    """

    cells: tuple[Cell, ...]
    components: dict[str, list[ComponentCount]]
    class_name: str
    reference: int
    omissions: dict[int, tuple[OmittedCount, ...]]
    simple: bool
    recognized: dict[tuple[str, Polynomial], ComponentCount | None]
    active: int
    numbers: frozenset[Fraction]
    tensors: frozenset[int]
    model: ModelValue


class ReferenceCounts(_Components):
    """What texts speak of in a model; each is itself, and equal to no other."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @cached_property
    def classes(self) -> dict[str, int]:
        """The count of every class of the model's family with the same config."""
        return _classes(self.model)


@lru_cache(maxsize=256)
def reference_counts_of(model: ModelValue) -> ReferenceCounts:
    """Take a model apart into what texts speak of.

    >>> from weighbridge import model
    >>> [h.number for h in reference_counts_of(model("bert-base-uncased")).components["pooler"]]
    [Fraction(590592, 1), Fraction(589824, 1)]
    """
    values = pair(model)[2]
    cells = tuple(list_cells(leaves_of(model)))
    components = {name: keep_distinct(found) for name, found in list_components(cells, values)}
    tally = tally_of(model)
    reference, active = int(tally.unique), int(tally.active)  # type: ignore[arg-type]
    name = model.class_name or model.kind
    numbers = frozenset(one.number for found in components.values() for one in found)
    tensors = frozenset(cell.number for cell in cells)
    return ReferenceCounts(cells, components, name, reference, {}, _is_simple(cells), {}, active, numbers, tensors, model)


def component_numbers(model: ModelValue) -> frozenset[Fraction]:
    """Return the counts of all that a model is made of, as texts speak of it.

    >>> from weighbridge import model
    >>> Fraction(7_087_872) in component_numbers(model("bert-base-uncased"))
    True
    """
    return reference_counts_of(model).numbers


class ReferenceTable(Mapping[str, ReferenceCounts]):
    """The models of a text, by context, each taken apart when it is first asked for: most of a long text's are only named."""

    def __init__(self, models: Mapping[str, ModelValue]) -> None:
        self._models = models
        self._known: dict[str, ReferenceCounts] = {}

    def __getitem__(self, context: str) -> ReferenceCounts:
        if context not in self._known:
            self._known[context] = reference_counts_of(self._models[context])
        return self._known[context]

    def __contains__(self, context: object) -> bool:
        return context in self._models

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

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
