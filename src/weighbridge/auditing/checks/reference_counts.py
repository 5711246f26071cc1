"""What each component of a model holds, in every convention that people count it by: as numbers and as formulas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.accounts.parameters import tally_of, unique_of
from weighbridge.auditing.checks.model_cells import ATTENTION, FEED, Cell, list_cells
from weighbridge.auditing.claims import OmittedCount, Reason, because
from weighbridge.auditing.text.polynomial_terms import symbol
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark
from weighbridge.core.polynomials import ONE, Coefficient, Monomial, Polynomial
from weighbridge.explain.semantic_tree import leaves_of, pair
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class ComponentCount(NamedTuple):
    """What a component holds in one convention."""

    number: Fraction
    formula: Polynomial
    convention: Reason
    exact: bool


class ReferenceCounts(NamedTuple):
    """A model's components and the counts of its classes.

    Attributes:
        cells: Its tensors, by component.
        components: What each component holds, in every convention.
        classes: The count of every class of its family.
        class_name, reference: The class that is held against the text, and its count.
        omissions: What may be left out of the whole, by how much that is; :func:`find_omissions` lists it once.
        simple: Whether its layers are one stack of attention and feed-forward, so that each component is one thing.
        recognised: Formulas that were found to be a component's before, in which convention.
        active: The parameters that work on one token.
        numbers: What all components hold, in every convention.
        tensors: The elements of each tensor.
    """

    cells: tuple[Cell, ...]
    components: dict[str, list[ComponentCount]]
    classes: dict[str, int]
    class_name: str
    reference: int
    omissions: dict[int, tuple[OmittedCount, ...]]
    simple: bool
    recognised: dict[tuple[str, Polynomial], ComponentCount | None]
    active: int
    numbers: frozenset[Fraction]
    tensors: frozenset[int]


@lru_cache(maxsize=64)
def reference_counts_of(model: ModelValue) -> ReferenceCounts:
    """Take a model apart into what texts speak of.

    >>> from weighbridge import model
    >>> [h.number for h in reference_counts_of(model("bert-base-uncased")).components["pooler"]]
    [Fraction(590592, 1), Fraction(589824, 1)]
    """
    values = pair(model)[2]
    cells = tuple(list_cells(leaves_of(model)))
    components = {name: _distinct(found) for name, found in _components(cells, values)}
    tally = tally_of(model)
    reference, active = int(tally.unique), int(tally.active)  # type: ignore[arg-type]
    name = model.class_name or model.kind
    numbers = frozenset(one.number for found in components.values() for one in found)
    tensors = frozenset(cell.number for cell in cells)
    return ReferenceCounts(cells, components, _classes(model), name, reference, {}, _is_simple(cells), {}, active, numbers, tensors)


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


_TABLES = ("word", "position", "type")

_SINGLE: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("word", "position", "type", "pooler", "query", "key", "value", "out", "up", "down", "gate")},
    "qkv": ("query", "key", "value"),
    "attention": ATTENTION,
    "ffn": FEED,
}

_BARE = mark("without biases")

_LAYERS = mark("in all {layers} layers")


class _Sum(NamedTuple):
    """A part of a model: which places, with biases or without, in one layer or in all."""

    number: int
    formula: Polynomial


_Sums = dict[tuple[str, bool, bool], _Sum]
"""What the cells of a place hold: by the place, whether they are biases, and whether all copies count; worked out once for many questions."""


def _sums_of(cells: Iterable[Cell]) -> _Sums:
    groups: dict[tuple[str, bool], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.place, cell.bias), []).append(cell)
    return {(*key, every): _sum_of(group, every=every) for key, group in groups.items() for every in (False, True)}


def _sum_of(cells: list[Cell], *, every: bool) -> _Sum:
    terms: dict[Monomial, Coefficient] = {}
    for cell in cells:
        formula = cell.formula * cell.all_copies if every and cell.all_copies != ONE else cell.formula
        for monomial, coefficient in formula.terms.items():
            terms[monomial] = terms.get(monomial, 0) + coefficient
    return _Sum(sum(cell.number * cell.copies if every else cell.number for cell in cells), Polynomial(terms))


def _sum(sums: _Sums, places: tuple[str, ...], *, biases: bool = True, every: bool = False) -> _Sum:
    number, formula = 0, Polynomial({})
    for place in dict.fromkeys(places):
        for bias in (False, True)[: 1 + biases]:
            found = sums.get((place, bias, every))
            if found is not None:
                number, formula = number + found.number, formula + found.formula
    return _Sum(number, formula)


def _components(cells: tuple[Cell, ...], values: dict[str, int]) -> Iterator[tuple[str, list[ComponentCount]]]:
    layers = max((cell.copies for cell in cells), default=1)
    sums, norms = _sums_of(cells), tuple(cell for cell in cells if cell.place == "layer_norm")
    half = _sums_of(norms[: len(norms) // 2])
    for name in ("word", "position", "type", "pooler", "head", "final_norm", "embedding_norm"):
        yield name, _plain(sums, (name,))
    yield "tables", _plain(sums, _TABLES)
    yield (
        "embeddings",
        [*_plain(sums, (*_TABLES, "embedding_norm")), _component_count(_sum(sums, _TABLES), because(mark("without its norm")))],
    )
    for name, places in (
        ("query", ("query",)),
        ("key", ("key",)),
        ("value", ("value",)),
        ("out", ("out",)),
        ("qkv", ("query", "key", "value")),
    ):
        yield name, _scopes(sums, places, layers)
    for name, places in (("up", ("up",)), ("down", ("down",)), ("gate", ("gate",))):
        yield name, _scopes(sums, places, layers)
    yield "ffn", [*_scopes(sums, FEED, layers), *_with_norm(sums, half, FEED, layers)]
    yield "attention", list(_attention(sums, half, layers, values))
    yield "norm", list(_norms(cells, norms, layers))
    layer = list(_layer(cells, layers))
    yield "layer", layer
    yield "encoder", [h for h in layer if h.number >= _sum(sums, ("up",), every=True).number]


def _plain(sums: _Sums, places: tuple[str, ...]) -> list[ComponentCount]:
    return [_component_count(_sum(sums, places)), _component_count(_sum(sums, places, biases=False), because(_BARE))]


def _scopes(sums: _Sums, places: tuple[str, ...], layers: int, reason: Reason = ()) -> list[ComponentCount]:
    """In one layer and in all, with biases and without."""
    found = []
    for every in (False, True):
        scope = because(_LAYERS, layers=layers) if every else ()
        found.append(_component_count(_sum(sums, places, every=every), reason + scope, exact=not reason))
        found.append(_component_count(_sum(sums, places, biases=False, every=every), reason + because(_BARE) + scope))
    return found


def _with_norm(sums: _Sums, norms: _Sums, places: tuple[str, ...], layers: int) -> list[ComponentCount]:
    """With the one norm that stands beside it in the layer: half of the *norms*."""
    with_norm = {key: found for key, found in sums.items() if key[0] in places} | norms
    found = []
    for every in (False, True):
        scope = because(_LAYERS, layers=layers) if every else ()
        found.append(
            _component_count(_sum(with_norm, (*places, "layer_norm"), every=every), because(mark("with its norm")) + scope, exact=True)
        )
    return found


def _attention(sums: _Sums, norms: _Sums, layers: int, values: dict[str, int]) -> Iterator[ComponentCount]:
    yield from _scopes(sums, ATTENTION, layers)
    yield from _with_norm(sums, norms, ATTENTION, layers)
    projections = ("query", "key", "value")
    yield from _scopes(sums, projections, layers, because(mark("without the output projection")))
    heads = values.get("A")
    if heads:
        for biases in (True, False):
            whole = _sum(sums, projections, biases=biases)
            one = whole.formula.over(Polynomial({((symbol("A"), 1),): 1}))
            each = Polynomial({(): Fraction(1, heads)}) * whole.formula if one is None else one
            bare = () if biases else because(_BARE)
            yield ComponentCount(Fraction(whole.number, heads), each, because(mark("for each head")) + bare, False)


def _norms(cells: tuple[Cell, ...], norms: tuple[Cell, ...], layers: int) -> Iterator[ComponentCount]:
    outside = tuple(cell for cell in cells if cell.place in ("embedding_norm", "final_norm"))
    names = ("layer_norm", "embedding_norm", "final_norm")
    first, within, beyond = _sums_of(norms[:2]), _sums_of(norms), _sums_of(outside)
    for found in (first, within, beyond):
        yield _component_count(_sum(found, names), exact=True)
    yield _component_count(_sum(within, names, every=True), because(_LAYERS, layers=layers), exact=True)
    yield _component_count(_sum(first, names, every=True), because(_LAYERS, layers=layers), exact=True)
    yield _component_count(_sum(within | beyond, names, every=True), because(mark("all norms of the model")), exact=True)
    yield _component_count(_sum(_sums_of(norms[:1]), names), because(mark("gains only")))


def _layer(cells: tuple[Cell, ...], layers: int) -> Iterator[ComponentCount]:
    layered = _sums_of(cell for cell in cells if cell.layered)
    places = tuple({place for place, _, _ in layered})
    matrices = tuple(place for place in places if place != "layer_norm")
    for every in (False, True):
        scope = because(_LAYERS, layers=layers) if every else ()
        yield _component_count(_sum(layered, places, every=every), scope, exact=True)
        yield _component_count(_sum(layered, places, biases=False, every=every), because(mark("without linear biases")) + scope)
        yield _component_count(_sum(layered, matrices, biases=False, every=every), because(mark("matrices only")) + scope)
        yield _component_count(_sum(layered, matrices, every=every), because(mark("without norms")) + scope)


def _component_count(found: _Sum, convention: Reason = (), *, exact: bool | None = None) -> ComponentCount:
    return ComponentCount(Fraction(found.number), found.formula, convention, not convention if exact is None else exact)


def _distinct(found: list[ComponentCount]) -> list[ComponentCount]:
    """Keep the first convention for each number; exact ones come first."""
    kept: dict[Fraction, ComponentCount] = {}
    for holding in sorted(found, key=lambda h: (not h.exact, len(h.convention))):
        if holding.number:
            kept.setdefault(holding.number, holding)
    return list(kept.values())


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
