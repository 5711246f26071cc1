"""All designs of one architecture within a budget, searched through its own blueprint as columns of sizes.

A design is a choice of hidden size, MLP width and number of layers; heads follow from the hidden size and the width of a
head. Every candidate is counted exactly, and every one within the budget is costed; nothing is fitted or interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from weighbridge.accounts.flops import flops
from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import from_config
from weighbridge.columns.column import require_numpy
from weighbridge.config.bind import find_sub_config
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.core.suggestions import did_you_mean
from weighbridge.designs.advice import Advice, Tokens, advise, compute_optimal_tokens
from weighbridge.designs.budget import Budget
from weighbridge.designs.candidates import Candidates, Row
from weighbridge.designs.costs import BITS, Workload, costs_of, inputs_of
from weighbridge.designs.front import pareto_front
from weighbridge.designs.space import LAYERS, MLP, ConfigTemplate, Space
from weighbridge.value import ModelValue

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
    candidates = Candidates(drawing, budget, given, workload)
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
        like.class_name,
        budget,
        designs,
        len(rows),
        candidates.tried,
        tuple(drawing.refused),
        drawing.part,
        tuple(rows[index] for index in sorted(front)),
        tuple(others[:: max(1, len(others) // POINTS)]),
    )


def _check(sort: str, limit: int, budget: Budget) -> None:
    if sort not in SORTS:
        raise UsageError(
            Text(
                "sort: {sort!r} is not an order; {did_you_mean}",
                sort=sort,
                did_you_mean=did_you_mean(sort, SORTS) or Text("known: {names}", names=", ".join(SORTS)),
            )
        )
    if type(limit) is not int or limit < 1:
        raise UsageError(Text("limit: expected a whole number from 1 up, found {limit!r:.40}", limit=limit))
    if budget.high > 10**16:
        raise UsageError(Text("params: {target:,} is above the largest target that can be searched for (10^16)", target=budget.target))


def words_of(like: ModelValue, config: Mapping[str, Any], part: str = "") -> dict[str, int]:
    """Return the sizes of a design by our words: the first of each, where an encoder and a decoder have their own.

    >>> from weighbridge import model
    >>> words_of(model({"model_type": "gpt2"}), {"n_embd": 768, "n_layer": 12})
    {'hidden': 768, 'layers': 12}
    """
    assert like.description is not None
    fields, raw = like.description.family.fields, config
    if part:
        inner = find_sub_config(next(field for field in fields if field.key == part), config)
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
    return Design(config, as_int(tally(model.tree).unique), measured)


def _tokens(entry: Design, drawing: ConfigTemplate) -> tuple[Tokens, ...]:
    """Return how many tokens fits suggest; the arithmetic without embeddings and head is that of the type's base class."""
    body = from_config({**entry.config, "architectures": [drawing.known.base]}, "design", None, None)
    try:
        forward = as_int(flops(body.tree, {"seq": CONTEXT, "decoder": CONTEXT}).forward_matmul)
    except UsageError:  # what sees more than tokens
        forward = 0
    return compute_optimal_tokens(entry.parameters, entry.measured["non_embedding"], 3 * forward // CONTEXT)


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
