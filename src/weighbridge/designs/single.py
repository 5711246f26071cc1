"""One unknown: the whole solutions of its polynomial, or each value counted where there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import islice, pairwise, product
from typing import Any, NamedTuple

from weighbridge.config.bind import LARGEST
from weighbridge.core.messages import mark
from weighbridge.designs.interpolation import Terms, evaluate, in_one
from weighbridge.designs.problem import MeasuredConfig, Problem, hits_of, nearest_configs
from weighbridge.designs.roots import crossings, in_ints, value_at, value_of

MOST = 1_000
"""Solutions that are listed."""
COUNTED = 2_000
"""Up to this value of an unknown every config is counted, so that no coincidence of sizes is missed."""
WALKED, IN_A_ROW = 20_000, 4_096
"""Values that are counted one by one where no polynomial describes the model, and how many in a row that make no model end that."""
NODES = 1_200_000
"""Parts and tensors of trees that one search counts, about: of a large model fewer values are tried."""
BEYOND = 64
"""Values in a row that come to more than twice what was asked for end it too."""

EXACT = mark("{measure} = {equation}: all its integer solutions were found exactly, and each was counted again from its own config")
FITTED = mark(
    "{measure} = {equation} through what was counted, and every other config that was tried gives it; its integer solutions were counted"
    " again. A fit is no proof that there are no others"
)
WALK = mark(
    "no polynomial in {keys} describes {measure}; each value from {low:,} to {high:,} was counted, which is no proof for what lies beyond"
)
CONSTANT = mark("{measure} does not depend on {keys}: it is {value:,} whatever they are")


class Outcome(NamedTuple):
    """What a search came to.

    Attributes:
        solutions: Configs within the targets, nearest first.
        nearest: Without any, the nearest on both sides.
        equation: The polynomial, as text; empty where there is none.
        proof: What was searched and how, as a template with values.
        proven: Whether that shows that there are no others.
        refused: Values that solve the equation but make no model, each with the reason.
        cut: Whether there are more than are listed.
    """

    solutions: tuple[MeasuredConfig, ...]
    nearest: tuple[MeasuredConfig, ...]
    equation: str
    proof: tuple[str, dict[str, Any]]
    proven: bool
    refused: tuple[tuple[dict[str, int], str], ...] = ()
    cut: bool = False


def solve_one(problem: Problem) -> Outcome:
    """Find every value of one unknown that meets the targets."""
    terms, proven = problem.formula()
    return walk(problem) if terms is None else of_polynomial(problem, terms, proven=proven)


def of_polynomial(problem: Problem, terms: Terms, *, proven: bool, counted: int = COUNTED) -> Outcome:
    """Solve a polynomial in one unknown; each solution is counted from its own config, and so are all values up to *counted*."""
    if not any(any(powers) for powers in terms):
        return answer_without_unknowns(problem, terms, proven=proven)
    values, around, more = candidates(problem, terms, counted)
    hits, refused, left = hits_of(problem, ([value] for value in values), MOST)
    refused = [entry for entry in refused if problem.budget.holds(int(evaluate(terms, list(entry[0].values()))))][:20]
    nearest = () if hits else nearest_configs(problem, ([value] for value in around))
    details = {"measure": problem.measure, "equation": problem.equation(terms)}
    cut = more or (left and len(hits) == MOST)
    return Outcome(tuple(hits), nearest, details["equation"], (EXACT if proven else FITTED, details), proven, tuple(refused), cut)


def candidates(problem: Problem, terms: Terms, counted: int = COUNTED) -> tuple[list[int], list[int], bool]:
    """Return what may solve a polynomial, nearest first; values about these, for the nearest that make a model; and whether there are more."""
    coefficients = in_one(terms)
    low, step, budget = problem.least(0), problem.step[0], problem.budget
    high = max(low, _root_bound(coefficients, budget.high))
    edges, reach = (set(problem.numbers(high)), 130) if counted else (set(), 16)
    for edge in {budget.low, budget.target, budget.high}:
        edges.update(crossings(coefficients, edge, low, high))
    ordered = sorted(edges | {low, high})
    inside, more = _candidate_values(coefficients, problem, ordered)
    every = range(low, high + 1) if high <= counted else ()
    values = {value for value in (*inside, *ordered, *every) if value % step == 0 and low <= value <= high}
    around = {base + offset * step for value in edges | {low} for base in (value // step * step,) for offset in range(-reach, reach + 1)}

    scale, ints = in_ints(coefficients)

    def distance(value: int) -> tuple[int, int]:
        return abs(value_of(ints, value) - budget.target * scale), value

    return (
        sorted(values, key=distance),
        sorted((value for value in around if low <= value <= high + reach * step), key=distance)[: 4 * reach],
        more,
    )


def _candidate_values(coefficients: Sequence[Fraction], problem: Problem, edges: list[int]) -> tuple[list[int], bool]:
    """Return values between neighbouring edges at which the polynomial is within the budget: of many those by the edges, one of which is nearest."""
    found: list[int] = []
    more = False
    for start, end in pairwise(edges):
        if end - start > 1 and problem.budget.holds(int(value_at(coefficients, (start + end) // 2))):
            step = problem.step[0]
            values = range(-(-start // step) * step, end, step)
            more = more or len(values) > 2 * MOST
            found += {*values[:MOST], *values[-MOST:]} if len(values) > 2 * MOST else values
    return found, more


def walk(problem: Problem, most: int = WALKED) -> Outcome:
    """Count one config after another, where no polynomial tells."""
    low, step = problem.least(0), problem.step[0]
    counts: dict[int, int] = {}
    high, beyond, none = low, 0, 0
    for value in islice(range(low, int(LARGEST), step), min(most, max(COUNTED, NODES // problem.nodes))):
        number, high = problem.count([value]), value
        none = none + 1 if number is None else 0
        if number is not None:
            counts[value] = number
            beyond = beyond + 1 if number > 2 * problem.budget.high else 0
        if beyond > BEYOND or none > IN_A_ROW:
            break
    target = problem.budget.target
    near = sorted(counts, key=lambda value: (abs(counts[value] - target), value))
    within = [[value] for value in near if problem.budget.holds(counts[value])]
    hits, _, left = hits_of(problem, within, MOST)
    sides = [
        max((v for v in near if counts[v] <= target), key=lambda v: counts[v], default=None),
        min((v for v in near if counts[v] >= target), key=lambda v: counts[v], default=None),
    ]
    nearest = () if hits else nearest_configs(problem, ([value] for value in sides if value is not None))
    details = {"measure": problem.measure, "keys": problem.keys[0], "low": low, "high": high}
    return Outcome(tuple(hits), nearest, "", (WALK, details), False, (), left)


def answer_without_unknowns(problem: Problem, terms: Terms, *, proven: bool) -> Outcome:
    """Answer where no unknown changes anything: with the config's own values, or the first others that make a model."""
    value = int(next(iter(terms.values()), Fraction(0)))
    details = {"measure": problem.measure, "keys": ", ".join(problem.keys), "value": value}
    met = problem.budget.holds(value)
    choices = islice(free_values(problem, [number or 0 for number in problem.own], range(len(problem.keys))), MOST + 1 if met else 1)
    hits, _, left = hits_of(problem, choices, MOST)
    nearest = (
        () if hits else nearest_configs(problem, islice(free_values(problem, [n or 0 for n in problem.own], range(len(problem.keys))), 1))
    )
    return Outcome(tuple(hits), nearest, str(value), (CONSTANT, details), proven, (), left)


def free_values(problem: Problem, choice: Sequence[int], free: Sequence[int], reach: int = COUNTED) -> Iterator[list[int]]:
    """Yield a choice with the unknowns that change nothing at each value that makes a model: the one it has first, then from the smallest up."""
    axes = [
        [
            value
            for value in dict.fromkeys((number, *range(problem.least(index), reach + 1, problem.step[index])))
            if value % problem.step[index] == 0 and value >= problem.least(index)
        ]
        if index in free
        else [number]
        for index, number in enumerate(choice)
    ]
    for tried in islice(product(*axes), 20 * MOST):
        if problem.count(tried) is not None:
            yield list(tried)


def _root_bound(coefficients: Sequence[Fraction], target: int) -> int:
    """Return a number beyond which the polynomial stays on one side of *target*: Cauchy's bound on its roots."""
    lead = abs(coefficients[-1])
    largest = max(abs(coefficients[0] - target), *(abs(c) for c in coefficients[:-1]))
    return min(int(LARGEST), int(largest / lead) + 2)
