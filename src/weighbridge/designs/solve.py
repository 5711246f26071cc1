"""One or two unknown sizes of a config, solved exactly for a number of parameters.

The blueprint itself is the equation (:mod:`weighbridge.designs.problem`): its whole solutions are isolated without rounding
(:mod:`~weighbridge.designs.single`, :mod:`~weighbridge.designs.pairs`), and each is then counted once more from its own config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text
from weighbridge.designs.budget import Budget
from weighbridge.designs.costs import Workload
from weighbridge.designs.pairs import solve_pair
from weighbridge.designs.problem import MeasuredConfig, Problem
from weighbridge.designs.single import solve_one
from weighbridge.value import ModelValue


class Solution(NamedTuple):
    """What the unknowns can be.

    Attributes:
        keys: The unknowns' key paths.
        targets: From each measure to what it was to be.
        solutions: Configs within the targets, nearest first (at most :data:`~weighbridge.designs.single.MOST`).
        nearest: Without solutions, the nearest configs that exist: one below, one above.
        equation: The polynomial in the unknowns, as text; empty if none describes the model.
        proof: What was searched and how, as a template with values.
        proven: Whether that shows that there are no others; False where only a part was searched.
        refused: Values that solve the equation but make no model, each with the reason.
        cut: Whether there are more solutions than are listed.
    """

    keys: tuple[str, ...]
    targets: dict[str, Budget]
    solutions: tuple[MeasuredConfig, ...]
    nearest: tuple[MeasuredConfig, ...]
    equation: str
    proof: tuple[str, dict[str, Any]]
    proven: bool
    refused: tuple[tuple[dict[str, int], str], ...] = ()
    cut: bool = False


def solve(
    model: ModelValue,
    keys: Sequence[str],
    targets: Mapping[str, Budget],
    *,
    step: Mapping[str, int] | None = None,
    workload: Workload | None = None,
) -> Solution:
    """Find every value of one or two sizes of *model*'s config that meets the targets.

    Args:
        model: Made from a config; its class is the one that is counted.
        keys: One or two key paths of sizes, such as ``num_hidden_layers`` or ``text_config.hidden_size``.
        targets: From a measure (:data:`~weighbridge.designs.problem.MEASURES`) to its budget; the first is the equation, the others must hold too.
        step: For a key, the number that its value must be a multiple of.
        workload: Batch, length and types for arithmetic, cache and memory.

    Raises:
        UsageError: No config, no such size, or more than two unknowns.

    >>> from weighbridge import model
    >>> from weighbridge.designs.budget import parse_budget
    >>> found = solve(model("bert-base-uncased"), ["num_hidden_layers"], {"parameters": parse_budget("109482240")})
    >>> found.solutions[0].values, found.equation
    ({'num_hidden_layers': 12}, '7087872*num_hidden_layers + 24427776')
    """
    if not 1 <= len(keys) <= 2 or len(set(keys)) != len(keys):
        raise UsageError(Text("expected one or two unknowns, found {count}: {names:.150}", count=len(keys), names=", ".join(keys)))
    problem = Problem(model, tuple(keys), dict(targets), dict(step or {}), workload or Workload())
    return Solution(problem.keys, problem.targets, *(solve_one if len(keys) == 1 else solve_pair)(problem))
