"""What each component of a model holds, in every convention that people count it by: as a number and as a formula."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial

from weighbridge.auditing.checks.model_cells import ATTENTION, FEED, Cell
from weighbridge.auditing.claims import Reason, because
from weighbridge.auditing.text.polynomial_terms import symbol
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.messages import mark
from weighbridge.core.polynomials import Coefficient, Monomial, Polynomial


class ComponentCount:
    """What a component holds in one convention: as a number, and as a formula that is made when it is asked for."""

    def __init__(self, number: Fraction, make: Callable[[], Polynomial], convention: Reason, exact: bool) -> None:
        self.number, self.convention, self.exact, self._make = number, convention, exact, make

    @cached_property
    def formula(self) -> Polynomial:
        """The number in the model's letters."""
        return self._make()


_TABLES = ("word", "position", "type")


_BARE = mark("without biases")


_LAYERS = mark("in all {layers} layers")


class _Sum(NamedTuple):
    """A part of a model: which tensors, in one layer or in all."""

    number: int
    cells: tuple[Cell, ...]
    every: bool

    def formula(self) -> Polynomial:
        """The number in the model's letters."""
        terms: dict[Monomial, Coefficient] = {}
        for cell in self.cells:
            formula = cell.formula * cell.all_copies if self.every and cell.repeats else cell.formula
            for monomial, coefficient in formula.terms.items():
                terms[monomial] = terms.get(monomial, 0) + coefficient
        return Polynomial(terms)


_Sums = dict[tuple[str, bool, bool], _Sum]
"""What the cells of a place hold: by the place, whether they are biases, and whether all copies count; worked out once for many questions."""


def _sums_of(cells: Iterable[Cell]) -> _Sums:
    groups: dict[tuple[str, bool], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.place, cell.bias), []).append(cell)
    return {(*key, every): _sum_of(group, every=every) for key, group in groups.items() for every in (False, True)}


def _sum_of(cells: list[Cell], *, every: bool) -> _Sum:
    return _Sum(sum(cell.number * cell.copies if every else cell.number for cell in cells), tuple(cells), every)


def _sum(sums: _Sums, places: tuple[str, ...], *, biases: bool = True, every: bool = False) -> _Sum:
    keys = ((place, bias, every) for place in dict.fromkeys(places) for bias in (False, True)[: 1 + biases])
    found = [sums[key] for key in keys if key in sums]
    return _Sum(sum(one.number for one in found), tuple(cell for one in found for cell in one.cells), every)


class Components(Mapping[str, Sequence[ComponentCount]]):
    """What each component of a model holds, once for each convention, exact ones first; worked out for those that are asked for."""

    def __init__(self, cells: tuple[Cell, ...], values: dict[str, int]) -> None:
        self._cells, self._values, self._sums = cells, values, _sums_of(cells)
        self._layers = max((cell.copies for cell in cells), default=1)
        self._norms = tuple(cell for cell in cells if cell.place == "layer_norm")
        self._known: dict[str, Sequence[ComponentCount]] = {}

    def __getitem__(self, name: str) -> Sequence[ComponentCount]:
        if name not in self._known:
            self._known[name] = keep_distinct(self._list(name))
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_COMPONENTS)

    def __len__(self) -> int:
        return len(_COMPONENTS)

    def _list(self, name: str) -> list[ComponentCount]:
        sums, layers = self._sums, self._layers
        if name in _SCOPED:
            return _scopes(sums, _SCOPED[name], layers)
        if name == "ffn":
            return [*_scopes(sums, FEED, layers), *_with_norm(sums, _sums_of(self._norms[: len(self._norms) // 2]), FEED, layers)]
        if name == "attention":
            return list(_attention(sums, _sums_of(self._norms[: len(self._norms) // 2]), layers, self._values))
        if name == "norm":
            return list(_norms(self._cells, self._norms, layers))
        if name == "layer":
            return list(_layer(self._cells, layers))
        if name == "encoder":
            return [h for h in _layer(self._cells, layers) if h.number >= _sum(sums, ("up",), every=True).number]
        if name == "embeddings":
            return [
                *_plain_counts(sums, (*_TABLES, "embedding_norm")),
                _component_count(_sum(sums, _TABLES), because(mark("without its norm"))),
            ]
        return _plain_counts(sums, _PLAIN[name])


_PLAIN = {name: (name,) for name in ("word", "position", "type", "pooler", "head", "final_norm", "embedding_norm")} | {"tables": _TABLES}
_SCOPED = {name: (name,) for name in ("query", "key", "value", "out", "up", "down", "gate")} | {"qkv": ("query", "key", "value")}
_COMPONENTS = (
    *_PLAIN,
    "embeddings",
    "query",
    "key",
    "value",
    "out",
    "qkv",
    "up",
    "down",
    "gate",
    "ffn",
    "attention",
    "norm",
    "layer",
    "encoder",
)


def _plain_counts(sums: _Sums, places: tuple[str, ...]) -> list[ComponentCount]:
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
            bare = () if biases else because(_BARE)
            yield ComponentCount(
                Fraction(whole.number, heads), partial(_for_each_head, whole, heads), because(mark("for each head")) + bare, False
            )


def _for_each_head(whole: _Sum, heads: int) -> Polynomial:
    formula = whole.formula()
    one = formula.over(Polynomial({((symbol("A"), 1),): 1}))
    return Polynomial({(): Fraction(1, heads)}) * formula if one is None else one


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


def keep_distinct(found: Iterable[ComponentCount]) -> list[ComponentCount]:
    """Keep the first convention for each number; exact ones come first."""
    kept: dict[Fraction, ComponentCount] = {}
    for holding in sorted(found, key=lambda h: (not h.exact, len(h.convention))):
        if holding.number:
            kept.setdefault(holding.number, holding)
    return list(kept.values())
