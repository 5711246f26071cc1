"""Two unknowns: at each value of one, the other solves what is then a polynomial in it alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from heapq import nsmallest
from itertools import islice, zip_longest
from typing import Any

from weighbridge.config.bind import LARGEST
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark
from weighbridge.designs.interpolation import Terms, evaluate, in_one
from weighbridge.designs.problem import MeasuredConfig, Problem, hits_of, nearest_configs
from weighbridge.designs.roots import in_ints, value_of
from weighbridge.designs.single import BEYOND, FITTED, MOST, Outcome, answer_without_unknowns, candidates, free_values, of_polynomial, walk

PAIRS = 3_000_000
"""Values of the first unknown that are tried for two unknowns."""
CLOSE = 1_000
"""Pairs that are remembered for the nearest, on either side of the target."""
OUTER, NODES = 4_000, 1_000_000
"""Where there is no polynomial in both: values of the first unknown that are tried, and parts and tensors that are counted, about, before the search ends."""
INNER = 400
"""Values of the second that are counted at each first where it has no polynomial either."""

PAIRED = mark("{measure} = {equation}: solved for {second} at each {first} from {low:,} to {high:,}; beyond that it is always too many")
SLICED = mark(
    "no polynomial in both describes {measure}: at each {first} from {low:,} to {high:,} that makes a model, {how}. That is what was"
    " searched, and no proof for what lies beyond"
)
EXACTLY = mark("{second} was solved exactly for")
ONE_BY_ONE = mark("the first {most:,} values of {second} were counted")
ONLY_SECOND = mark("{measure} = {equation}: it does not depend on {free}, of which values up to 2,000 that make a model are listed")


def solve_pair(problem: Problem) -> Outcome:
    """Find every pair of values of two unknowns that meets the targets."""
    terms, proven = problem.formula()
    if terms is None:
        return _solve_slices(problem)
    free = [index for index in range(2) if not any(powers[index] for powers in terms)]
    if len(free) == 2:
        return answer_without_unknowns(problem, terms, proven=proven)
    if free:
        return _one_free(problem, terms, free[0], proven=proven)
    if any(coefficient < 0 for powers, coefficient in terms.items() if any(powers)):
        return _solve_slices(problem)
    return _solve_pairs(problem, terms, proven=proven)


def _one_free(problem: Problem, terms: Terms, free: int, *, proven: bool) -> Outcome:
    """Solve for the unknown that counts; the other takes any value that makes a model with it."""
    other = 1 - free
    own = problem.own[free]
    part = problem.slice_at(free, own if own is not None and own % problem.step[free] == 0 else problem.least(free))
    values, around, more = candidates(part or problem, {(powers[other],): coefficient for powers, coefficient in terms.items()})

    def choices(numbers: list[int]) -> Iterator[list[int]]:
        start = problem.own[free] or 0
        for number in numbers:
            if problem.budget.holds(int(evaluate(terms, _pair(other, number, 0)))):
                yield from free_values(problem, _pair(other, number, start), (free,))

    hits, _, left = hits_of(problem, choices(values), MOST)
    nearest: tuple[MeasuredConfig, ...] = ()
    if not hits:
        start = problem.own[free] or 0
        near = (found for number in around[:64] for found in islice(free_values(problem, _pair(other, number, start), (free,)), 1))
        nearest = nearest_configs(problem, near)
    details: dict[str, Any] = {"measure": problem.measure, "equation": problem.equation(terms), "free": problem.keys[free]}
    return Outcome(tuple(hits), nearest, details["equation"], (ONLY_SECOND if proven else FITTED, details), proven, (), more or left)


def _pair(place: int, number: int, other: int) -> list[int]:
    return [number, other] if place == 0 else [other, number]


def _solve_pairs(problem: Problem, terms: Terms, *, proven: bool) -> Outcome:
    """Solve a polynomial that grows with both for the second unknown at every value of the first: whichever has fewer values."""
    ranges = [_reach(problem, terms, index) for index in range(2)]
    first = 0 if ranges[0] // problem.step[0] <= ranges[1] // problem.step[1] else 1
    if problem.is_sparse(1 - first) and ranges[1 - first] // problem.step[1 - first] <= PAIRS // 10:
        first = 1 - first  # so that the values about a solution make models
    low, step = problem.least(first), problem.step[first]
    if ranges[first] // step > PAIRS:
        raise UsageError(Text("{keys}: too many values to try; ask for multiples of a number, such as {keys}=64", keys=problem.keys[first]))
    hits, close, cut = _try_each(problem, terms, first, ranges[first])
    found, refused, left = hits_of(problem, (choice for _, choice in sorted(hits)), MOST)
    nearest = () if found else nearest_configs(problem, (choice for _, choice in _nearest_pairs(close)))
    if not found and len(nearest) < 2 and ranges[1 - first] // problem.step[1 - first] <= PAIRS // 10:
        # what was solved for makes no model next to the target: the other way round some may
        _, others, _ = _try_each(problem, terms, 1 - first, ranges[1 - first])
        nearest = nearest_configs(problem, (choice for _, choice in _nearest_pairs([*close, *others])))
    details: dict[str, Any] = {
        "measure": problem.measure,
        "equation": problem.equation(terms),
        "first": problem.keys[first],
        "second": problem.keys[1 - first],
        "low": low,
        "high": ranges[first],
    }
    proof = (PAIRED if proven else FITTED, details)
    return Outcome(tuple(found), nearest, details["equation"], proof, proven, tuple(refused[:20]), cut or left)


def _try_each(
    problem: Problem, terms: Terms, first: int, high: int
) -> tuple[list[tuple[int, list[int]]], list[tuple[int, list[int]]], bool]:
    """Solve for the second unknown at every value of the first: the pairs within the budget, those about it, and whether some were left out."""
    hits: list[tuple[int, list[int]]] = []
    close: list[tuple[int, list[int]]] = []
    cut = False
    for value in range(problem.least(first), high + 1, problem.step[first]):
        cut = _add_second(problem, terms, first, value, hits, close) or cut
        close = _nearest_pairs(close) if len(close) > 8 * CLOSE else close
        if len(hits) > 40 * MOST:
            hits, cut = nsmallest(20 * MOST, hits), True
    return hits, close, cut


def _add_second(
    problem: Problem, terms: Terms, first: int, value: int, hits: list[tuple[int, list[int]]], close: list[tuple[int, list[int]]]
) -> bool:
    """Add the pairs of one value of the first unknown: those within the budget, and those about it; say whether some were left out."""
    second, budget = 1 - first, problem.budget
    coefficients = in_one({(powers[second],): Fraction(0) for powers in terms})
    for powers, coefficient in terms.items():
        coefficients[powers[second]] += coefficient * value ** powers[first]
    low, step = problem.least(second), problem.step[second]
    scale, ints = in_ints(coefficients)
    start = _largest_below(ints, budget.low * scale - 1, low) + 1
    end = _largest_below(ints, budget.high * scale, low)
    inside = range(-(-start // step) * step, end + 1, step)
    chosen = inside if len(inside) <= 2 * MOST else (*inside[:MOST], *inside[-MOST:])
    if inside:
        hits.extend((abs(value_of(ints, other) // scale - budget.target), _pair(first, value, other)) for other in chosen)
    about = {start // step * step, (start // step + 1) * step, (start // step - 1) * step}
    close.extend((value_of(ints, other) // scale - budget.target, _pair(first, value, other)) for other in about if other >= low)
    return len(chosen) < len(inside)


def _nearest_pairs(close: list[tuple[int, list[int]]]) -> list[tuple[int, list[int]]]:
    """Return the nearest pairs below the target and above it by turns, so that many on one side leave room for the other.

    Args:
        close: Each pair behind how far it is from the target: less than 0 is below.
    """
    below = nsmallest(CLOSE, (entry for entry in close if entry[0] < 0), key=lambda entry: (-entry[0], entry[1]))
    above = nsmallest(CLOSE, (entry for entry in close if entry[0] >= 0))
    return [entry for both in zip_longest(below, above) for entry in both if entry is not None]


def _largest_below(coefficients: list[int], target: int, low: int) -> int:
    """Return the largest whole number at which a growing polynomial is at most *target*, or ``low - 1`` if there is none."""
    if value_of(coefficients, low) > target:
        return low - 1
    if len(coefficients) == 2 and coefficients[1]:
        return (target - coefficients[0]) // coefficients[1]
    high = low + 1
    while value_of(coefficients, high) <= target and high <= LARGEST:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if value_of(coefficients, middle) <= target else (low, middle)
    return low


def _reach(problem: Problem, terms: Terms, index: int) -> int:
    """Return the largest value of one unknown that, with the other at its smallest, is not yet too many."""
    other = 1 - index
    coefficients = in_one({(powers[index],): Fraction(0) for powers in terms})
    for powers, coefficient in terms.items():
        coefficients[powers[index]] += coefficient * problem.least(other) ** powers[other]
    scale, ints = in_ints(coefficients)
    if not any(ints[1:]):
        return int(LARGEST)
    return min(int(LARGEST), _largest_below(ints, problem.budget.high * scale, problem.least(index)))


def _solve_slices(problem: Problem) -> Outcome:
    """Solve for one unknown at each value of the other, where no polynomial in both tells: whichever is a polynomial then, or has fewer values."""
    first = _first_to_fix(problem)
    low, step = problem.least(first), problem.step[first]
    hits: dict[tuple[int, ...], MeasuredConfig] = {}
    near: list[tuple[int, list[int]]] = []
    high, beyond, exactly, cut = low, 0, True, False
    for value in islice(range(low, LARGEST, step), OUTER):
        part = problem.slice_at(first, value)
        high = value
        if part is None:
            continue
        found, exact = _of_slice(part)
        exactly, cut = exactly and exact, cut or found.cut
        for entry in (*found.solutions, *found.nearest):
            choice = _pair(first, value, *entry.values.values())
            near.append((entry.measured[problem.measure] - problem.budget.target, choice))
        for entry in found.solutions:
            choice = _pair(first, value, *entry.values.values())
            hits[tuple(choice)] = MeasuredConfig(dict(zip(problem.keys, choice, strict=True)), entry.measured)
        least = min((entry.measured[problem.measure] for entry in (*found.solutions, *found.nearest)), default=0)
        beyond = beyond + 1 if not found.solutions and least > problem.budget.high else 0
        if beyond > BEYOND or problem.counted[0] * problem.nodes > NODES or len(hits) > 20 * MOST:
            cut = cut or len(hits) > 20 * MOST
            break
    ordered = sorted(hits.values(), key=lambda entry: abs(entry.measured[problem.measure] - problem.budget.target))
    nearest = () if hits else nearest_configs(problem, (choice for _, choice in _nearest_pairs(near)))
    second = problem.keys[1 - first]
    how = Text(EXACTLY, second=second) if exactly else Text(ONE_BY_ONE, most=INNER, second=second)
    details: dict[str, Any] = {"measure": problem.measure, "first": problem.keys[first], "low": low, "high": high, "how": how}
    return Outcome(tuple(ordered[:MOST]), nearest, "", (SLICED, details), False, (), cut or len(ordered) > MOST)


def _first_to_fix(problem: Problem) -> int:
    """Return which unknown is tried value by value: the one at whose own value the other is a polynomial; of both, the smaller."""
    solvable = []
    for index, own in enumerate(problem.own):
        part = problem.slice_at(index, own) if own else None
        if part is not None and part.formula()[0] is not None:
            solvable.append(index)
    if len(solvable) == 1:
        return solvable[0]
    steps = [(own or LARGEST) // step for own, step in zip(problem.own, problem.step, strict=True)]
    return 0 if steps[0] <= steps[1] else 1


def _of_slice(part: Problem) -> tuple[Outcome, bool]:
    terms, proven = part.formula()
    if terms is not None:
        return of_polynomial(part, terms, proven=proven, counted=0), True
    return walk(part, INNER), False
