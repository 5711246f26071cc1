"""The candidates of a search: hidden size by hidden size, every width and depth counted as columns, and those within the budget costed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.accounts.cache import UNKNOWN as UNDESCRIBED
from weighbridge.blueprints.describe import from_config
from weighbridge.columns import ACCOUNTS, cache_per_token, forward_flops, measure, memory
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Size, as_int
from weighbridge.core.tree import Part
from weighbridge.designs.budget import Budget
from weighbridge.designs.costs import BITS, Workload
from weighbridge.designs.space import LAYERS, MLP, ConfigTemplate

if TYPE_CHECKING:
    from weighbridge.accounts.inputs import Inputs


CANDIDATES = 30_000_000
"""Designs that are counted in one search; with more the ranges are to be narrowed."""
KEPT = 200_000
"""Designs within the budget that are sorted; a search that finds more keeps those nearest to it."""


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


class Candidates:
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
                        "more than {candidates:,} designs; narrow the ranges of layers or MLP, or take a larger multiple than {multiple_of}",
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
                return np.array([as_int(account(self._tree(hidden, *pair))) for pair in pairs])
            except UsageError:
                self.costs[name] = None
        return np.zeros(len(layers), dtype=np.int64)

    def _tree(self, hidden: int, layers: int, width: int) -> Part:
        return from_config(self.drawing.config(hidden, width or None, layers), "design", None, None).tree
