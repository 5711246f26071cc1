"""All designs of one architecture within a budget, searched through its own blueprint as columns of sizes.

A design is a choice of hidden size, MLP width and number of layers; heads follow from the hidden size and the width of a
head. Every candidate is counted exactly, and every one within the budget is costed; nothing is fitted or interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.accounts.cache import UNKNOWN as UNDESCRIBED
from weighbridge.accounts.flops import flops
from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import from_config
from weighbridge.columns import ACCOUNTS, cache_per_token, forward_flops, measure, memory
from weighbridge.columns.column import require_numpy
from weighbridge.config.bind import within
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Size
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part
from weighbridge.designs.advice import Advice, Tokens, advise, compute_optimal_tokens
from weighbridge.designs.budget import Budget
from weighbridge.designs.costs import BITS, Workload, costs_of, inputs_of, whole
from weighbridge.designs.front import pareto_front
from weighbridge.designs.space import LAYERS, MLP, ConfigTemplate, Space
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs

CANDIDATES = 30_000_000
"""Designs that are counted in one search; with more the ranges are to be narrowed."""
KEPT = 200_000
"""Designs within the budget that are sorted; a search that finds more keeps those nearest to it."""
EXAMINED = 2_000
"""Designs whose memory is added up one by one, where it selects or sorts them."""
POINTS = 1_000
"""Designs off the front that a picture shows."""
SORTS = ("fit", "depth", "width", "aspect", "flops", "cache", "memory")
CONTEXT = 2048
"""Tokens over which the arithmetic of one is averaged, for fits of training tokens."""


class Design(NamedTuple):
    """One design: a config that can be weighed as it is, and what it measures.

    Attributes:
        config: Ready as a ``config.json``.
        parameters: Unique parameters of its class.
        measured: Further measures by name: ``active``, ``flops`` and what else was asked for.
        advice: Which customs it follows or breaks.
        tokens: How many training tokens published fits suggest.
        pareto: Whether no other design within the budget costs less in something and no more in anything: arithmetic, cache a token, bytes
            of training without activations.
    """

    config: dict[str, Any]
    parameters: int
    measured: dict[str, int]
    advice: tuple[Advice, ...] = ()
    tokens: tuple[Tokens, ...] = ()
    pareto: bool = False


class Row(NamedTuple):
    """One candidate within the budget.

    Attributes:
        hidden, mlp, layers: Its sizes; no MLP width to choose is 0.
        parameters, active: Of its class.
        flops, cache, training: FLOPs of a forward pass, bytes of cache that a token adds, and bytes of weights, gradients, copies and AdamW's
            states in mixed precision; 0 where they are not described.
    """

    hidden: int
    mlp: int
    layers: int
    parameters: int
    active: int
    flops: int
    cache: int
    training: int


class Search(NamedTuple):
    """What a search found.

    Attributes:
        class_name: The class that was counted.
        budget: What the parameters were to be.
        designs: Those asked for, in the order asked for.
        within: How many designs are within the budget.
        tried: How many were counted.
        refused: Hidden sizes that make no model of this type, with the reason.
        part: The sub-config that was searched, if the model is made of several.
        front: The Pareto front of all designs within the budget.
        others: Some of those that are not on it, for a picture.
    """

    class_name: str
    budget: Budget
    designs: tuple[Design, ...]
    within: int
    tried: int
    refused: tuple[tuple[int, str], ...] = ()
    part: str = ""
    front: tuple[Row, ...] = ()
    others: tuple[Row, ...] = ()


def design(
    like: ModelValue,
    budget: Budget,
    space: Space | None = None,
    *,
    limits: Mapping[str, int] | None = None,
    workload: Workload | None = None,
    sort: str = "fit",
    limit: int = 20,
) -> Search:
    """Find the designs of one architecture whose parameters are within a budget.

    Args:
        like: A model of the architecture; what is not searched (activation, ties, vocabulary) stays as there.
        budget: Parameters.
        space: Which designs are searched.
        limits: Upper limits of further measures: ``active``, ``flops``, ``cache``, ``memory``, ``bytes``.
        workload: Batch, length and types for the measures that need them.
        sort: One of :data:`SORTS`, the best first.
        limit: How many designs to return.

    Raises:
        UsageError: A model that has no hidden size or no layers, a range without values, a measure that nobody knows.

    >>> from weighbridge import model
    >>> from weighbridge.designs.budget import parse_budget
    >>> found = design(model({"model_type": "llama", "vocab_size": 32000}), parse_budget("124M±0.1%"), Space(head_dim=64), limit=1)
    >>> model(found.designs[0].config).count().unique == found.designs[0].parameters
    True
    """
    _check(sort, limit, budget)
    require_numpy()
    drawing, workload = ConfigTemplate(like, space or Space()), workload or Workload()
    given, wanted = inputs_of(like, workload), dict(limits or {})
    workload = workload._replace(seq=given.seq)
    candidates = _Candidates(drawing, budget, given, workload)
    rows = candidates.within()
    front = pareto_front([(row.flops, row.cache, row.training) for row in rows])
    stars = {rows[index] for index in front}
    fitting = [row for row in rows if all(amount <= wanted[name] for name, amount in _cheap_measures(row, workload) if name in wanted)]
    chosen = _weigh_rows(_sort(fitting, budget, sort), drawing, workload, wanted, sort, limit)
    designs = tuple(
        entry._replace(advice=advise(words_of(like, entry.config, drawing.part)), tokens=_tokens(entry, drawing), pareto=row in stars)
        for row, entry in chosen
    )
    others = [row for index, row in enumerate(rows) if index not in front]
    return Search(
        like.class_name, budget, designs, len(rows), candidates.tried, tuple(drawing.refused), drawing.part,
        tuple(rows[index] for index in sorted(front)), tuple(others[:: max(1, len(others) // POINTS)]),
    )  # fmt: skip


def _check(sort: str, limit: int, budget: Budget) -> None:
    if sort not in SORTS:
        raise UsageError(
            Text(
                "sort: {sort!r} is no order; {did_you_mean}",
                sort=sort,
                did_you_mean=did_you_mean(sort, SORTS) or Text("known: {names}", names=", ".join(SORTS)),
            )
        )
    if type(limit) is not int or limit < 1:
        raise UsageError(Text("limit: expected a whole number from 1 up, found {limit!r:.40}", limit=limit))
    if budget.high > 10**16:
        raise UsageError(Text("params: {target:,} are more than any design is searched for (10^16)", target=budget.target))


def words_of(like: ModelValue, config: Mapping[str, Any], part: str = "") -> dict[str, int]:
    """Return the sizes of a design by our words: the first of each, where an encoder and a decoder have their own.

    >>> from weighbridge import model
    >>> words_of(model({"model_type": "gpt2"}), {"n_embd": 768, "n_layer": 12})
    {'hidden': 768, 'layers': 12}
    """
    assert like.description is not None
    fields, raw = like.description.family.fields, config
    if part:
        inner = within(next(field for field in fields if field.key == part), config)
        assert inner is not None
        fields, raw = inner.fields, inner.raw
    found = {field.word: raw[field.key] for field in fields if field.kind == "size" and type(raw.get(field.key)) is int}
    for words in (LAYERS, MLP):
        first = next((word for word in words if word in found), words[0])
        if first in found:
            found.setdefault(words[0], found[first])
    return found


def _cheap_measures(row: Row, workload: Workload) -> Iterator[tuple[str, int]]:
    """Yield the measures that every candidate has."""
    yield "active", row.active
    for name, amount in (("flops", row.flops), ("cache", row.cache)):
        if amount:
            yield name, amount
    if workload.dtype in BITS:
        yield "bytes", -(-row.parameters * BITS[workload.dtype] // 8)


def _weigh_rows(
    rows: Sequence[Row], drawing: ConfigTemplate, workload: Workload, wanted: Mapping[str, int], sort: str, limit: int
) -> list[tuple[Row, Design]]:
    """Weigh rows one by one, in their order, until there are as many as asked for; where memory orders them, the first of them all."""
    fitting: list[tuple[Row, Design]] = []
    memory_decides = sort == "memory"
    for row in rows[:EXAMINED] if memory_decides or "memory" in wanted else rows:
        entry = _weigh(row, drawing, workload, wanted, sort)
        if all(entry.measured[name] <= most for name, most in wanted.items()):
            fitting.append((row, entry))
        if len(fitting) == limit and not memory_decides:
            break
    if memory_decides:
        fitting.sort(key=lambda pair: pair[1].measured["memory"])
    return fitting[:limit]


def _weigh(row: Row, drawing: ConfigTemplate, workload: Workload, limits: Mapping[str, int], sort: str) -> Design:
    """Weigh one design from its own config, in everything that was asked for."""
    config = drawing.config(row.hidden, row.mlp or None, row.layers)
    model = from_config(config, "design", None, None)
    names = [*limits, *([sort] if sort in ("flops", "cache", "memory") else [])]
    try:
        measured = costs_of(model, workload, (*names, "cache"))
    except UsageError:  # a cache that is not described
        measured = costs_of(model, workload, names)
    if row.training:
        measured["training"] = row.training
    return Design(config, whole(tally(model.tree).unique), measured)


def _tokens(entry: Design, drawing: ConfigTemplate) -> tuple[Tokens, ...]:
    """Return how many tokens fits suggest; the arithmetic without embeddings and head is that of the type's base class."""
    body = from_config({**entry.config, "architectures": [drawing.known.base]}, "design", None, None)
    try:
        forward = whole(flops(body.tree, {"seq": CONTEXT, "decoder": CONTEXT}).forward_matmul)
    except UsageError:  # what sees more than tokens
        forward = 0
    return compute_optimal_tokens(entry.parameters, entry.measured["non_embedding"], 3 * forward // CONTEXT)


class _Candidates:
    """The candidates, one hidden size at a time, and those within the budget."""

    def __init__(self, drawing: ConfigTemplate, budget: Budget, given: Inputs, workload: Workload) -> None:
        self.drawing, self.budget = drawing, budget
        self.tried = 0
        model_type = drawing.known.model_type
        self.costs: dict[str, Callable[[Part], Size] | None] = {
            "active": ACCOUNTS["active"],
            "flops": forward_flops(given.seq, given.batch),
        }
        self.costs["cache"] = (
            None
            if model_type in UNDESCRIBED
            else cache_per_token(given.seq, workload.dtype if BITS.get(workload.dtype, 0) >= 8 else "bfloat16")
        )
        self.costs["training"] = memory(training=True, dtype="bfloat16", precision="mixed")

    def within(self) -> list[Row]:
        """Return all that fit, nearest to the budget first."""
        space = self.drawing.space
        found: list[Row] = []
        for hidden in self._hidden_sizes():
            widths = self._widths(hidden)
            try:
                layers = self._layers(hidden, widths)
                if layers is not None:
                    found.extend(self._count_all(hidden, widths, *layers))
            except ConfigError as error:
                self._refuse(hidden, error)
            if self.tried > CANDIDATES:
                raise UsageError(
                    Text(
                        "over {candidates:,} designs; narrow the ranges of layers or MLP, or take a larger multiple than {multiple_of}",
                        candidates=CANDIDATES,
                        multiple_of=space.multiple_of,
                    )
                )
            if len(found) > 2 * KEPT:
                found = self._nearest(found)
        return self._nearest(found)

    def _nearest(self, rows: list[Row]) -> list[Row]:
        return sorted(rows, key=lambda row: (abs(row.parameters - self.budget.target), row))[:KEPT]

    def _refuse(self, hidden: int, error: ConfigError) -> None:
        if len(self.drawing.refused) < 100:
            self.drawing.refused.append((hidden, str(error)))

    def _hidden_sizes(self) -> Iterator[int]:
        """Yield hidden sizes until the smallest model of the next is too large."""
        drawing, step = self.drawing, self.drawing.step
        misses = 0
        for hidden in range(step, 10**6, step):
            try:
                least = drawing.count(hidden, self._widths(hidden)[0], drawing.space.layers[0])
            except UnknownArchitecture:
                raise
            except ConfigError as error:
                self._refuse(hidden, error)
                misses += 1
                if misses > 64:  # this architecture takes no such widths at all
                    return
                continue
            if least > self.budget.high:
                return
            yield hidden

    def _widths(self, hidden: int) -> list[int | None]:
        drawing, multiple = self.drawing, self.drawing.space.multiple_of
        if drawing.first(MLP) is None:
            return [None]
        narrow, wide = (ratio * hidden for ratio in drawing.space.mlp_ratio)
        first = -(-narrow // multiple) * multiple
        widths = list(range(int(first), int(wide) + 1, multiple))
        return list(widths) or [max(multiple, int(first))]

    def _layers(self, hidden: int, widths: list[int | None]) -> tuple[int, int] | None:
        """Return the fewest and the most layers that can be within the budget; more layers are always more parameters."""
        least, most = self.drawing.space.layers
        low = self._first(lambda layers: self.drawing.count(hidden, widths[-1], layers) >= self.budget.low, least, most)
        high = self._first(lambda layers: self.drawing.count(hidden, widths[0], layers) > self.budget.high, least, most)
        return (low, high - 1) if low <= min(high - 1, most) else None

    @staticmethod
    def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
        """Return the first number at which something holds from then on, or ``high + 1``."""
        high += 1
        while low < high:
            middle = (low + high) // 2
            if holds(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _count_all(self, hidden: int, widths: list[int | None], fewest: int, most: int) -> Iterator[Row]:
        """Count every number of layers with every width as columns, and cost those within the budget."""
        import numpy as np

        drawing = self.drawing
        layers = np.arange(fewest, min(most, drawing.space.layers[1]) + 1)
        each_layers = np.tile(layers, len(widths))
        each_width = np.repeat(np.array([width or 0 for width in widths]), len(layers))
        self.tried += len(each_layers)
        numbers = self._measure(hidden, each_layers, each_width, ("parameters",))["parameters"]
        fits = np.flatnonzero((numbers >= self.budget.low) & (numbers <= self.budget.high))
        if not len(fits):
            return
        chosen_layers, chosen_widths = each_layers[fits], each_width[fits]
        costs = {name: self._cost(hidden, chosen_layers, chosen_widths, name) for name in self.costs}
        columns = (chosen_widths, chosen_layers, numbers[fits], *(costs[name] for name in ("active", "flops", "cache", "training")))
        for values in zip(*(column.tolist() for column in columns), strict=True):
            yield Row(hidden, *values)

    def _measure(self, hidden: int, layers: Any, widths: Any, accounts: Any) -> dict[str, Any]:
        drawing = self.drawing
        config = drawing.config(hidden, int(widths[0]) or None, int(layers[0]))
        columns = drawing.paths(LAYERS, layers) | (drawing.paths(MLP, widths) if widths[0] else {})
        return measure(drawing.known.model_type, {**config, **columns}, accounts, drawing.like.class_name)

    def _cost(self, hidden: int, layers: Any, widths: Any, name: str) -> Any:
        """Return a cost of each design; zeros where it is not described, now and from then on."""
        import numpy as np

        account = self.costs[name]
        if account is not None:
            try:
                return self._measure(hidden, layers, widths, {name: account})[name]
            except (AssertionError, TypeError):  # columns cannot tell how many layers have a window
                pairs = zip(layers.tolist(), widths.tolist(), strict=True)
                return np.array([whole(account(self._tree(hidden, *pair))) for pair in pairs])
            except UsageError:
                self.costs[name] = None
        return np.zeros(len(layers), dtype=np.int64)

    def _tree(self, hidden: int, layers: int, width: int) -> Part:
        return from_config(self.drawing.config(hidden, width or None, layers), "design", None, None).tree


def _sort(rows: list[Row], budget: Budget, sort: str) -> list[Row]:
    """Order designs by what is known of all of them; memory follows when they are weighed."""
    keys: dict[str, Callable[[Row], Any]] = {
        "depth": lambda row: (-row.layers, abs(row.parameters - budget.target)),
        "width": lambda row: (-row.hidden, abs(row.parameters - budget.target)),
        # Kaplan et al. 2020, figure 5: the loss is flat about a width of a hundred times the depth.
        "aspect": lambda row: (abs(Fraction(row.hidden, row.layers) - 100), abs(row.parameters - budget.target)),
        "flops": lambda row: (row.flops, abs(row.parameters - budget.target)),
        "cache": lambda row: (row.cache, abs(row.parameters - budget.target)),
        "memory": lambda row: (row.training, row.flops),
    }
    return sorted(rows, key=keys[sort]) if sort in keys else rows
