"""All designs of one architecture within a budget, searched through its own blueprint as columns of sizes.

A design is a choice of hidden size, MLP width and number of layers; heads follow from the hidden size and the width of a
head. Every candidate is counted exactly; nothing is fitted or interpolated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.accounts.flops import flops
from weighbridge.accounts.parameters import count
from weighbridge.blueprints.describe import from_config
from weighbridge.columns import measure
from weighbridge.config.fields import did_you_mean
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.messages import Text
from weighbridge.designs.advice import Advice, Tokens, advise, compute_optimal_tokens
from weighbridge.designs.budget import Budget
from weighbridge.designs.costs import Workload, costs_of, whole
from weighbridge.value import ModelValue

if TYPE_CHECKING:
    pass

CANDIDATES = 30_000_000
"""Designs that are counted in one search; with more the ranges are to be narrowed."""
KEPT = 200_000
"""Designs within the budget that are sorted; a search that finds more keeps those nearest to it."""
EXAMINED = 2_000
"""Designs that are costed one by one, where a cost selects or sorts them."""
COSTLY = ("flops", "cache", "memory")
"""Orders for which every design is costed."""
SORTS = ("fit", "depth", "width", "aspect", "flops", "cache", "memory")


class Space(NamedTuple):
    """Which designs are searched.

    Attributes:
        multiple_of: Of which the hidden size and the MLP width are multiples.
        head_dim: Width of a head; None is that of the model the designs are like.
        gqa: Query heads to each key-value head; None is as there.
        vocab: Rows of the vocabulary; None is as there.
        layers: Fewest and most layers.
        mlp_ratio: Narrowest and widest MLP, in hidden sizes.
    """

    multiple_of: int = 64
    head_dim: int | None = None
    gqa: int | None = None
    vocab: int | None = None
    layers: tuple[int, int] = (1, 128)
    mlp_ratio: tuple[Fraction, Fraction] = (Fraction(2), Fraction(4))


class Design(NamedTuple):
    """One design: a config that can be weighed as it is, and what it measures.

    Attributes:
        config: Ready as a ``config.json``.
        parameters: Unique parameters of its class.
        measured: Further measures by name: ``active``, ``flops`` and what else was asked for.
        advice: Which customs it follows or breaks.
        tokens: How many training tokens published fits suggest.
        pareto: Whether no other design found has at least as many parameters and costs no more in anything.
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
    """

    class_name: str
    budget: Budget
    designs: tuple[Design, ...]
    within: int
    tried: int
    refused: tuple[tuple[int, str], ...] = ()


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
    if sort not in SORTS:
        raise UsageError(
            Text(
                "sort: {sort!r} is no order; {did_you_mean}",
                sort=sort,
                did_you_mean=did_you_mean(sort, SORTS) or "known: " + ", ".join(SORTS),
            )
        )
    workload = workload or Workload()
    drawing = _Drawing(like, budget, space or Space())
    rows = _Rows(drawing)
    kept = rows.within()
    wanted = dict(limits or {})
    fitting: list[Design] = []
    for row in _sort(kept, drawing, sort)[:EXAMINED]:
        entry = drawing.design(row, workload, wanted, sort)
        if all(entry.measured[name] <= most for name, most in wanted.items()):
            fitting.append(entry)
        if len(fitting) == limit and sort not in COSTLY:
            break
    chosen = _sorted_by_cost(fitting, sort)[:limit]
    front = _front(chosen)
    advised = [
        entry._replace(advice=advise(words_of(like, entry.config)), tokens=drawing.tokens(entry), pareto=index in front)
        for index, entry in enumerate(chosen)
    ]
    return Search(like.class_name, budget, tuple(advised), len(kept), rows.tried, tuple(drawing.refused))


def words_of(like: ModelValue, config: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a design by our words.

    >>> from weighbridge import model
    >>> words_of(model({"model_type": "gpt2"}), {"n_embd": 768, "n_layer": 12})
    {'hidden': 768, 'layers': 12}
    """
    assert like.description is not None
    fields = like.description.family.fields
    return {field.word: config[field.key] for field in fields if field.kind == "size" and type(config.get(field.key)) is int}


class _Drawing:
    """The fields that a design sets, and how a config is written from a choice of them."""

    def __init__(self, like: ModelValue, budget: Budget, space: Space) -> None:
        if like.description is None:
            raise UsageError(Text("{source}: a design needs a config to start from; a file's header has only numbers", source=like.source))
        self.like, self.budget, self.space = like, budget, space
        self.known, self.raw, self.sizes = like.description
        self.fields = {field.word: field for field in self.known.fields if field.kind == "size"}
        for word, what in (("hidden", "hidden size"), ("layers", "number of layers")):
            if word not in self.fields:
                raise UsageError(
                    Text(
                        "{model_type}: no {what} of its own, so there is nothing to search (a model made of several?)",
                        model_type=self.known.model_type,
                        what=what,
                    )
                )
        self.head_dim = space.head_dim or _whole(getattr(self.sizes, "head_dim", None))
        self.gqa = space.gqa or self._own_gqa()
        self.refused: list[tuple[int, str]] = []
        _check(space, self)

    def _own_gqa(self) -> int:
        heads, kv_heads = _whole(getattr(self.sizes, "heads", None)), _whole(getattr(self.sizes, "kv_heads", None))
        return heads // kv_heads if heads and kv_heads and "kv_heads" in self.fields and heads % kv_heads == 0 else 1

    @property
    def step(self) -> int:
        """What every hidden size is a multiple of, so that heads come out whole."""
        heads = self.head_dim * self.gqa if self.head_dim and "heads" in self.fields else 1
        return lcm(self.space.multiple_of, heads)

    def keys(self, hidden: int) -> dict[str, int]:
        """Return what follows from a hidden size, by config key."""
        keys = {self.fields["hidden"].key: hidden}
        if self.space.vocab is not None:
            keys[self._key("vocab")] = self.space.vocab
        if "heads" in self.fields and self.head_dim:
            heads = hidden // self.head_dim
            keys[self.fields["heads"].key] = heads
            if "kv_heads" in self.fields:
                keys[self.fields["kv_heads"].key] = heads // self.gqa
            if "head_dim" in self.fields:
                keys[self.fields["head_dim"].key] = self.head_dim
        return keys

    def _key(self, word: str) -> str:
        if word not in self.fields:
            raise UsageError(Text("{model_type}: no {word} to set", model_type=self.known.model_type, word=word))
        return self.fields[word].key

    def config(self, hidden: int, mlp: int | None, layers: int) -> dict[str, Any]:
        """Write a design as a config."""
        chosen = self.keys(hidden) | {self.fields["layers"].key: layers}
        if mlp is not None:
            chosen[self.fields["mlp"].key] = mlp
        if "decoder_layers" in self.fields:
            chosen[self.fields["decoder_layers"].key] = layers
        aliases = {alias for word in self._set_words() for alias in self.fields[word].aliases}
        kept = {key: value for key, value in self.raw.items() if key not in aliases and key not in _PER_LAYER}
        return {"model_type": self.known.model_type, **kept, "architectures": [self.like.class_name], **chosen}

    def _set_words(self) -> list[str]:
        return [
            word for word in ("hidden", "layers", "decoder_layers", "mlp", "heads", "kv_heads", "head_dim", "vocab") if word in self.fields
        ]

    def count(self, hidden: int, mlp: int | None, layers: int) -> int:
        """Count one design."""
        return whole(count(from_config(self.config(hidden, mlp, layers), "design", None, None).tree))

    def design(self, row: tuple[int, int, int, int], workload: Workload, limits: Mapping[str, int], sort: str) -> Design:
        """Weigh one design from its own config, in everything that was asked for."""
        hidden, mlp, layers, parameters = row
        config = self.config(hidden, mlp or None, layers)
        tree = from_config(config, "design", None, None)
        names = [*limits, *([sort] if sort in COSTLY else [])]
        try:
            measured = costs_of(tree, workload, (*names, "cache"))
        except UsageError:  # a cache that is not described
            measured = costs_of(tree, workload, names)
        return Design(config, parameters, measured)

    def tokens(self, entry: Design) -> tuple[Tokens, ...]:
        """Return how many tokens fits suggest; the arithmetic without embeddings and head is that of the type's base class."""
        body = from_config({**entry.config, "architectures": [self.known.base]}, "design", None, None)
        try:
            forward = whole(flops(body.tree, {"seq": CONTEXT, "decoder": CONTEXT}).forward_matmul)
        except UsageError:  # what sees more than tokens
            forward = 0
        return compute_optimal_tokens(entry.parameters, entry.measured["non_embedding"], 3 * forward // CONTEXT)


CONTEXT = 2048
"""Tokens over which the arithmetic of one is averaged, for fits of training tokens."""
_PER_LAYER = frozenset("layer_types layers_block_type per_layer_config mlp_layer_types".split())
"""Lists with an entry a layer: a design with another number of layers takes the default of its class."""


def _check(space: Space, drawing: _Drawing) -> None:
    for name, value in (("multiple-of", space.multiple_of), ("head-dim", space.head_dim), ("gqa", space.gqa), ("vocab", space.vocab)):
        if value is not None and (type(value) is not int or not 1 <= value <= 10**9):
            raise UsageError(Text("{name}: expected a whole number from 1 up, found {value!r:.40}", name=name, value=value))
    least, most = space.layers
    if not 1 <= least <= most <= 10_000:
        raise UsageError(Text("layers: expected a range within 1 to 10,000, found {least} to {most}", least=least, most=most))
    narrow, wide = space.mlp_ratio
    if not 0 < narrow <= wide <= 64:
        raise UsageError(Text("mlp-ratio: expected a range within 0 to 64, found {narrow} to {wide}", narrow=narrow, wide=wide))
    if space.gqa is not None and space.gqa > 1 and "kv_heads" not in drawing.fields:
        raise UsageError(Text("gqa: {model_type} has no key-value heads of its own", model_type=drawing.known.model_type))


def _whole(value: object) -> int | None:
    return value if type(value) is int else None


class _Rows:
    """The candidates, one hidden size at a time, and those within the budget."""

    def __init__(self, drawing: _Drawing) -> None:
        self.drawing = drawing
        self.tried = 0

    def within(self) -> list[tuple[int, int, int, int]]:
        """Return hidden size, MLP width (0 where there is none to choose), layers and parameters of all that fit."""
        drawing, space = self.drawing, self.drawing.space
        found: list[tuple[int, int, int, int]] = []
        for hidden in self._hidden_sizes():
            widths = self._widths(hidden)
            try:
                layers = self._layers(hidden, widths)
                if layers is not None:
                    found.extend(self._counted(hidden, widths, *layers))
            except ConfigError as error:
                if len(drawing.refused) < 100:
                    drawing.refused.append((hidden, str(error)))
            if self.tried > CANDIDATES:
                raise UsageError(
                    Text(
                        "over {candidates:,} designs; narrow the ranges of layers or MLP, or take a larger multiple than {multiple_of}",
                        candidates=CANDIDATES,
                        multiple_of=space.multiple_of,
                    )
                )
            if len(found) > 2 * KEPT:
                found = _nearest(found, drawing.budget.target)
        return _nearest(found, drawing.budget.target)

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
                if len(drawing.refused) < 100:
                    drawing.refused.append((hidden, str(error)))
                misses += 1
                if misses > 64:  # this architecture takes no such widths at all
                    return
                continue
            if least > drawing.budget.high:
                return
            yield hidden

    def _widths(self, hidden: int) -> list[int | None]:
        drawing, multiple = self.drawing, self.drawing.space.multiple_of
        if "mlp" not in drawing.fields:
            return [None]
        narrow, wide = (ratio * hidden for ratio in drawing.space.mlp_ratio)
        first = -(-narrow // multiple) * multiple
        widths = list(range(int(first), int(wide) + 1, multiple))
        return list(widths) or [max(multiple, int(first))]

    def _layers(self, hidden: int, widths: list[int | None]) -> tuple[int, int] | None:
        """Return the fewest and the most layers that can be within the budget; more layers are always more parameters."""
        least, most = self.drawing.space.layers
        low = self._first(lambda layers: self.drawing.count(hidden, widths[-1], layers) >= self.drawing.budget.low, least, most)
        high = self._first(lambda layers: self.drawing.count(hidden, widths[0], layers) > self.drawing.budget.high, least, most)
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

    def _counted(self, hidden: int, widths: list[int | None], fewest: int, most: int) -> Iterator[tuple[int, int, int, int]]:
        import numpy as np

        drawing = self.drawing
        layers = np.arange(fewest, min(most, drawing.space.layers[1]) + 1)
        self.tried += len(layers) * len(widths)
        config = drawing.config(hidden, widths[0], fewest)
        keys = {drawing.fields["layers"].key: np.tile(layers, len(widths))}
        if "decoder_layers" in drawing.fields:
            keys[drawing.fields["decoder_layers"].key] = np.tile(layers, len(widths))
        if widths[0] is not None:
            keys[drawing.fields["mlp"].key] = np.repeat(np.array(widths), len(layers))
        numbers = measure(drawing.known.model_type, {**config, **keys}, ("parameters",), drawing.like.class_name)["parameters"]
        fits = np.flatnonzero((numbers >= drawing.budget.low) & (numbers <= drawing.budget.high))
        chosen = np.repeat(np.array([width or 0 for width in widths]), len(layers))
        for index in fits:
            yield hidden, int(chosen[index]), int(np.tile(layers, len(widths))[index]), int(numbers[index])


def _nearest(rows: list[tuple[int, int, int, int]], target: int) -> list[tuple[int, int, int, int]]:
    return sorted(rows, key=lambda row: (abs(row[3] - target), row))[:KEPT]


def _sort(rows: list[tuple[int, int, int, int]], drawing: _Drawing, sort: str) -> list[tuple[int, int, int, int]]:
    """Order designs by what is known before they are costed."""
    keys: dict[str, Callable[[tuple[int, int, int, int]], Any]] = {
        "depth": lambda row: (-row[2], abs(row[3] - drawing.budget.target)),
        "width": lambda row: (-row[0], abs(row[3] - drawing.budget.target)),
        # Kaplan et al. 2020, figure 5: the loss is flat about a width of a hundred times the depth.
        "aspect": lambda row: (abs(Fraction(row[0], row[2]) - 100), abs(row[3] - drawing.budget.target)),
    }
    return sorted(rows, key=keys[sort]) if sort in keys else rows


def _sorted_by_cost(designs: list[Design], sort: str) -> list[Design]:
    return sorted(designs, key=lambda entry: entry.measured[sort]) if sort in ("flops", "cache", "memory") else designs


def _front(designs: list[Design]) -> set[int]:
    """Return the indices of the designs that no other one beats: as many parameters, and no cost higher."""

    def beats(one: Design, other: Design) -> bool:
        costs = [(one.measured[name], other.measured[name]) for name in other.measured if name in one.measured]
        no_worse = one.parameters >= other.parameters and all(a <= b for a, b in costs)
        return no_worse and (one.parameters > other.parameters or any(a < b for a, b in costs))

    return {i for i, entry in enumerate(designs) if not any(beats(other, entry) for other in designs)}
