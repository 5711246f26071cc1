"""One or two unknown sizes of a config, solved exactly for a number of parameters.

The blueprint itself is the equation: with the unknowns as symbols, it gives a polynomial with exact coefficients. Its whole
solutions are isolated without rounding, and each is then counted once more from its own config.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, pairwise
from math import lcm
from typing import Any, NamedTuple, TypeAlias

from weighbridge.accounts.flops import flops
from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import from_config
from weighbridge.config.bind import LARGEST, bind, with_overrides, within
from weighbridge.config.fields import Field, did_you_mean
from weighbridge.conventions.loading import loaded_of
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.formula import Number, Symbol
from weighbridge.core.messages import Text, mark
from weighbridge.core.polynomials import Polynomial, polynomial
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part
from weighbridge.designs.budget import Budget
from weighbridge.designs.costs import COSTS, Workload, inputs_of, whole
from weighbridge.designs.roots import crossings, value_at
from weighbridge.value import ModelValue

Measure: TypeAlias = Callable[[Part, Inputs, Mapping[str, Any]], Size]
MEASURES: Mapping[str, Measure] = {
    "parameters": lambda tree, given, raw: tally(tree).unique,
    "loaded": lambda tree, given, raw: loaded_of(tree, raw, tally(tree).unique),
    "active": lambda tree, given, raw: tally(tree).active,
    "embedding": lambda tree, given, raw: tally(tree).embedding,
    "non_embedding": lambda tree, given, raw: tally(tree).non_embedding,
    "flops": lambda tree, given, raw: flops(tree, given.lengths(), given.batch).forward_matmul,
}
"""What is a formula of the sizes: each measures a tree, whether its sizes are ints or symbols, given the inputs and the config."""
OTHERS = ("cache", "memory")
"""What is counted config by config: bytes of cache a token, bytes of memory."""

COUNTED = 2_000
"""Up to this value of an unknown every config is counted, so that no coincidence of sizes is missed."""
WALKED = 20_000
"""Values that are counted one by one where no polynomial describes the model."""
OUTER, BEYOND, PASSED = 1_000, 16, 64
"""Where no polynomial describes two unknowns: values of one that are tried, how many in a row are to be too many at the least value of the
other before the search ends, and values that make no model in a row that are passed over."""
PAIRS = 3_000_000
"""Values of the first unknown that are tried for two unknowns."""
MOST = 1_000
"""Solutions that are listed."""


class Found(NamedTuple):
    """One config: the unknowns' values and what it measures.

    Attributes:
        values: From each key to its value.
        measured: From ``parameters`` (and the other measures asked for) to the exact number.
    """

    values: dict[str, int]
    measured: dict[str, int]


class Solution(NamedTuple):
    """What the unknowns can be.

    Attributes:
        keys: The unknowns' key paths.
        targets: From each measure to what it was to be.
        solutions: Every config within the targets, nearest first (at most :data:`MOST`).
        nearest: Without solutions, the nearest configs that exist: one below, one above.
        equation: The polynomial in the unknowns, as text; empty if none describes the model.
        proof: Why these are all, as a template with values.
        refused: Values that solve the equation but make no model, each with the reason.
    """

    keys: tuple[str, ...]
    targets: dict[str, Budget]
    solutions: tuple[Found, ...]
    nearest: tuple[Found, ...]
    equation: str
    proof: tuple[str, dict[str, Any]]
    refused: tuple[tuple[dict[str, int], str], ...] = ()


EXACT = mark("{measure} = {equation}: all its integer solutions were found exactly, and each was counted again from its own config")
WALK = mark("no polynomial in {keys} describes this model; each value from {low:,} to {high:,} was counted")
EACH = mark("{measure}: each value of {keys} from {low:,} to {high:,} was counted")
PAIRED = mark("{measure} = {equation}: solved for {second} at each {first} from {low:,} to {high:,}; beyond that it is always too many")
HALVED = mark(
    "no polynomial in both describes {measure}: at each {first} from {low:,} to {high:,} that makes a model, {second} was found by halving an"
    " interval, as {measure} does not fall while it grows"
)
CONSTANT = mark("{measure} does not depend on {keys}: it is {value:,} whatever they are")


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
        targets: From a measure (:data:`MEASURES`, :data:`OTHERS`) to its budget; the first is the equation, the others must hold too.
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
        raise UsageError(f"expected one or two unknowns, found {len(keys)}: {', '.join(keys)}"[:200])
    problem = _Problem(model, tuple(keys), dict(targets), dict(step or {}), workload or Workload())
    terms = problem.terms()
    if terms is None:
        return _walk(problem) if len(keys) == 1 else _halve(problem)
    if not any(any(powers) for powers in terms):
        return _constant(problem, terms)
    return _single(problem, terms) if len(keys) == 1 else _double(problem, terms)


Terms: TypeAlias = dict[tuple[int, ...], Fraction]
"""A polynomial in the unknowns: from the power of each to the coefficient."""


class _Problem:
    """A model, its unknowns, and how a choice of them is counted."""

    def __init__(
        self, model: ModelValue, keys: tuple[str, ...], targets: dict[str, Budget], step: dict[str, int], workload: Workload
    ) -> None:
        if model.description is None:
            raise UsageError(Text("{source}: solving needs a config; a file's header has only numbers", source=model.source))
        self.model, self.description = model, model.description
        self.keys, self.targets = keys, targets
        self.measure, self.budget = next(iter(targets.items()))
        self.given = inputs_of(model, workload)
        self.workload = workload._replace(seq=self.given.seq)
        self.fields = [self._field(key) for key in keys]
        self.raw = self._bare()
        self.step = [_positive(step.get(key, 1), key) for key in keys]
        unknown = set(step) - set(keys)
        if unknown:
            raise UsageError(
                Text("multiples are for the unknowns ({keys}), not for {unknown}", keys=", ".join(keys), unknown=", ".join(sorted(unknown)))
            )

    def _field(self, key: str) -> Field:
        fields, raw = self.description.family.fields, self.description.raw
        *parents, last = key.split(".")
        for parent in parents:
            nested = next((field for field in fields if field.key == parent and field.kind == "nested"), None)
            inner = within(nested, raw) if nested else None
            if inner is None:
                raise UsageError(
                    Text(
                        "{key}: {model_type} has no sub-config {parent!r}",
                        key=key,
                        model_type=self.description.family.model_type,
                        parent=parent,
                    )
                )
            fields, raw = inner.fields, dict(inner.raw)
        sizes = {name: field for field in fields if field.kind in ("size", "labels") for name in (field.key, *field.aliases) if name}
        if last not in sizes:
            hint = did_you_mean(last, sizes) or f"known: {', '.join(sizes)}"
            raise UsageError(
                Text("{key}: no size of {model_type}; {hint}", key=key, model_type=self.description.family.model_type, hint=hint)
            )
        return sizes[last]

    def _bare(self) -> dict[str, Any]:
        """Return the config without the unknowns, under any of their names: another name beside one would contradict it."""
        raw = dict(self.description.raw)
        for key, field in zip(self.keys, self.fields, strict=True):
            parents = key.split(".")[:-1]
            for name in (field.key, *field.aliases):
                raw = _without(raw, ".".join([*parents, name]))
        return raw

    def current(self, index: int) -> int | None:
        """Return the value that an unknown has in the config as it is, if it is a number there."""
        value: Any = self.description.sizes
        *parents, _ = self.keys[index].split(".")
        fields = self.description.family.fields
        for parent in parents:
            nested = next(field for field in fields if field.key == parent)
            inner = within(nested, self.description.raw)
            value, fields = getattr(value, nested.word), inner.fields if inner else ()
        found = getattr(value, self.fields[index].word, None)
        return found if type(found) is int else None

    def of(self, values: Sequence[int]) -> ModelValue:
        """Build the model with these values; what makes no model raises a ConfigError."""
        overrides = dict(zip(self.keys, values, strict=True))
        return from_config(self.raw, self.model.source, self.model.class_name, overrides)

    def amount(self, name: str, model: ModelValue) -> int:
        """Measure a model."""
        if name in MEASURES:
            return whole(MEASURES[name](model.tree, self.given, self.raw))
        return COSTS[name](model, self.workload)

    def count(self, values: Sequence[int]) -> int | None:
        """Measure one config, or return None if the values make no model."""
        try:
            return self.amount(self.measure, self.of(values))
        except (ConfigError, UnknownArchitecture):
            return None

    def found(self, values: Sequence[int]) -> Found:
        """Measure one config in everything that was asked for."""
        model = self.of(values)
        measured = {name: self.amount(name, model) for name in dict.fromkeys(("parameters", *self.targets))}
        return Found(dict(zip(self.keys, values, strict=True)), measured)

    def meets(self, found: Found) -> bool:
        """Say whether a config is within every target."""
        return all(budget.holds(found.measured[name]) for name, budget in self.targets.items())

    def distance(self, found: Found) -> int:
        """Say how far a config is from the first target."""
        return abs(found.measured[self.measure] - self.budget.target)

    def terms(self) -> Terms | None:
        """Return the measure as a polynomial in the unknowns, or None where it is none (quotients, layers that are listed)."""
        if self.measure not in MEASURES:
            return None
        unknowns = [Symbol(key, order=order) for order, key in enumerate(self.keys)]
        raw = with_overrides(self.raw, dict(zip(self.keys, unknowns, strict=True)), self.description.family.fields)
        known, sizes = self.description.family, self.description.sizes
        try:
            tree = known.classes[self.model.class_name](bind(known.fields, raw, like=sizes))
            found = polynomial(MEASURES[self.measure](tree, self.given, self.raw))
        except (ConfigError, TypeError, AssertionError):
            return None  # the blueprint wants a number where the unknown stands
        terms = _terms(found, unknowns)
        return terms if terms is not None and self._agrees(terms) else None

    def _agrees(self, terms: Terms) -> bool:
        """Say whether the polynomial gives what is counted, where the config stands and about it.

        A class may round (a head as wide as the hidden size allows) or switch something on at a size: then it does not.
        """
        own = [self.current(index) for index in range(len(self.keys))]
        start = [value // step * step for value, step in zip(own, self.step, strict=True) if value is not None]
        if len(start) < len(own):
            return False
        probes = {tuple(value for value in own if value is not None)}
        for index, step in enumerate(self.step):
            for offset in (*range(-4, 5), 11, 16, 64, 101):
                probe = list(start)
                probe[index] += offset * step
                probes.add(tuple(probe))
        probes |= {tuple(value * factor for value in start) for factor in (2, 3)}
        counted = {probe: self.count(probe) for probe in probes if min(probe) > 0}
        return all(number is None or number == _evaluate(terms, probe) for probe, number in counted.items())

    def equation(self, terms: Terms) -> str:
        """Write the polynomial in the unknowns."""
        symbols = [Symbol(key, order=order) for order, key in enumerate(self.keys)]
        monomials = {
            tuple((symbol, power) for symbol, power in zip(symbols, powers, strict=True) if power): coefficient
            for powers, coefficient in terms.items()
        }
        return str(Polynomial({key: int(c) if c.denominator == 1 else c for key, c in monomials.items()}))


def _single(problem: _Problem, terms: Terms) -> Solution:
    degree = max(powers[0] for powers in terms)
    coefficients = [terms.get((power,), Fraction(0)) for power in range(degree + 1)]
    low, step = problem.fields[0].minimum, problem.step[0]
    high = _root_bound(coefficients, problem.budget.high)
    candidates = set(_special(problem, high))
    for edge in {problem.budget.low, problem.budget.target, problem.budget.high}:
        candidates.update(crossings(coefficients, edge, low, high))
    inside = _within(coefficients, problem.budget, sorted(candidates | {low, high}), step)
    around = _outward(sorted(candidates), low, high, step)
    every = range(low, min(high, COUNTED) + 1) if high <= COUNTED else ()
    values = [[value] for value in sorted({*inside, *candidates, *every}) if value % step == 0 and low <= value <= high]
    hits, refused = _verify(problem, values, terms)
    nearest = () if hits else _nearest(problem, [[value] for value in around])
    details = {"measure": problem.measure, "equation": problem.equation(terms)}
    return Solution(problem.keys, problem.targets, tuple(hits), nearest, details["equation"], (EXACT, details), tuple(refused))


def _within(coefficients: Sequence[Fraction], budget: Budget, edges: list[int], step: int) -> Iterator[int]:
    """Yield whole numbers between neighbouring edges at which the polynomial is within the budget, at most :data:`MOST`."""
    left = MOST
    for start, end in pairwise(edges):
        middle = (start + end) // 2
        if end - start > 1 and budget.low <= value_at(coefficients, middle) <= budget.high:
            first = -(-start // step) * step
            for value in range(first, end, step)[:left]:
                left -= 1
                yield value


def _outward(candidates: list[int], low: int, high: int, step: int) -> list[int]:
    """Return values about the candidates, nearest first: the nearest of them may make no model."""
    around: set[int] = set()
    for value in candidates:
        base = value // step * step
        around.update(base + offset * step for offset in range(-130, 131))
    return sorted(value for value in around if low <= value <= high)


def _special(problem: _Problem, high: int) -> Iterator[int]:
    """Yield the numbers of the config itself: an unknown that is equal to one of them may switch something on or off."""
    stack: list[Any] = [problem.description.sizes]
    while stack:
        value = stack.pop()
        if type(value) is int and 0 < value <= high:
            yield value
        elif hasattr(value, "__dict__"):
            stack.extend(vars(value).values())


def _verify(problem: _Problem, values: list[list[int]], terms: Terms) -> tuple[list[Found], list[tuple[dict[str, int], str]]]:
    """Count each candidate from its own config; return those that meet the targets, and those that make no model."""
    hits: list[Found] = []
    refused: list[tuple[dict[str, int], str]] = []
    for choice in values:
        try:
            found = problem.found(choice)
        except (ConfigError, UnknownArchitecture) as error:
            if problem.budget.holds(int(_evaluate(terms, choice))) and len(refused) < 20:
                refused.append((dict(zip(problem.keys, choice, strict=True)), str(error)))
            continue
        if problem.meets(found):
            hits.append(found)
    return sorted(hits, key=problem.distance)[:MOST], refused


def _nearest(problem: _Problem, values: list[list[int]]) -> tuple[Found, ...]:
    """Return the nearest config below the target and the nearest above, of those that exist."""
    below: Found | None = None
    above: Found | None = None
    for choice in values:
        if problem.count(choice) is None:
            continue
        found = problem.found(choice)
        number = found.measured[problem.measure]
        if number <= problem.budget.target and (below is None or number > below.measured[problem.measure]):
            below = found
        if number >= problem.budget.target and (above is None or number < above.measured[problem.measure]):
            above = found
    return tuple(found for found in (below, above) if found is not None)


def _double(problem: _Problem, terms: Terms) -> Solution:
    """Solve for the second unknown at every value of the first; which is first is whichever has fewer values."""
    if any(coefficient < 0 for powers, coefficient in terms.items() if any(powers)):
        raise UsageError(
            Text(
                "{keys}: {measure} does not grow with both; solve for one of them", keys=" and ".join(problem.keys), measure=problem.measure
            )
        )
    ranges = [_reach(problem, terms, index) for index in range(2)]
    first = 0 if ranges[0] // problem.step[0] <= ranges[1] // problem.step[1] else 1
    low, step = problem.fields[first].minimum, problem.step[first]
    if ranges[first] // step > PAIRS:
        raise UsageError(Text("{keys}: too many values to try; ask for multiples of a number, such as {keys}=64", keys=problem.keys[first]))
    hits: list[list[int]] = []
    close: list[tuple[int, list[int]]] = []
    for value in range(-(-low // step) * step, ranges[first] + 1, step):
        _add_second(problem, terms, first, value, hits, close)
        if len(close) > 4_000:
            close = sorted(close)[:1_000]
    found, refused = _verify(problem, list(islice(hits, 20 * MOST)), terms)
    nearest = () if found else _nearest(problem, [choice for _, choice in sorted(close)[:1_000]])
    details = {
        "measure": problem.measure, "equation": problem.equation(terms), "first": problem.keys[first], "second": problem.keys[1 - first],
        "low": low, "high": ranges[first],
    }  # fmt: skip
    return Solution(problem.keys, problem.targets, tuple(found), nearest, problem.equation(terms), (PAIRED, details), tuple(refused))


def _add_second(problem: _Problem, terms: Terms, first: int, value: int, hits: list[list[int]], close: list[tuple[int, list[int]]]) -> None:
    second, budget = 1 - first, problem.budget
    degree = max(powers[second] for powers in terms)
    coefficients = [Fraction(0)] * (degree + 1)
    for powers, coefficient in terms.items():
        coefficients[powers[second]] += coefficient * value ** powers[first]
    low, step = problem.fields[second].minimum, problem.step[second]
    whole = lcm(*(coefficient.denominator for coefficient in coefficients))
    ints = [int(coefficient * whole) for coefficient in coefficients]
    start = _largest_below(ints, budget.low * whole - 1, low) + 1
    end = _largest_below(ints, budget.high * whole, low)
    for other in range(-(-start // step) * step, end + 1, step):
        hits.append([value, other] if first == 0 else [other, value])
        if len(hits) > 20 * MOST:
            return
    for other in {start // step * step, (start // step + 1) * step, (start // step - 1) * step}:
        if other >= low:
            number = int(value_at([Fraction(c) for c in ints], other) / whole)
            close.append((abs(number - budget.target), [value, other] if first == 0 else [other, value]))


def _largest_below(coefficients: list[int], target: int, low: int) -> int:
    """Return the largest whole number at which a growing polynomial is at most *target*, or ``low - 1`` if there is none."""

    def at(x: int) -> int:
        result = 0
        for coefficient in reversed(coefficients):
            result = result * x + coefficient
        return result

    if at(low) > target:
        return low - 1
    if len(coefficients) == 2 and coefficients[1]:
        return (target - coefficients[0]) // coefficients[1]
    high = low + 1
    while at(high) <= target and high <= LARGEST:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if at(middle) <= target else (low, middle)
    return low


def _reach(problem: _Problem, terms: Terms, index: int) -> int:
    """Return the largest value of one unknown that, with the other at its smallest, is not yet too many."""
    other = 1 - index
    degree = max(powers[index] for powers in terms)
    coefficients = [Fraction(0)] * (degree + 1)
    for powers, coefficient in terms.items():
        coefficients[powers[index]] += coefficient * problem.fields[other].minimum ** powers[other]
    whole = lcm(*(coefficient.denominator for coefficient in coefficients))
    ints = [int(coefficient * whole) for coefficient in coefficients]
    if not any(ints[1:]):
        return int(LARGEST)
    return min(int(LARGEST), _largest_below(ints, problem.budget.high * whole, problem.fields[index].minimum))


def _walk(problem: _Problem) -> Solution:
    """Count one config after another, where no polynomial tells."""
    low, step = problem.fields[0].minimum, problem.step[0]
    hits: list[Found] = []
    near: list[list[int]] = []
    high, beyond = low, 0
    for value in islice(range(-(-low // step) * step, int(LARGEST), step), WALKED):
        number = problem.count([value])
        high = value
        if number is None:
            continue
        if problem.budget.holds(number):
            found = problem.found([value])
            hits += [found] if problem.meets(found) else []
        near.append([value])
        beyond = beyond + 1 if number > 2 * problem.budget.high else 0
        if beyond > 64:
            break
    hits.sort(key=problem.distance)
    nearest = () if hits else _nearest(problem, near)
    details = {"measure": problem.measure, "keys": problem.keys[0], "low": low, "high": high}
    proof = WALK if problem.measure in MEASURES else EACH
    return Solution(problem.keys, problem.targets, tuple(hits[:MOST]), nearest, "", (proof, details))


def _halve(problem: _Problem) -> Solution:
    """Solve two unknowns that no polynomial describes: at each value of one, the other lies in an interval that is halved.

    That takes for granted that the measure never falls while an unknown grows, which a layer of another kind may break; so every solution
    is counted, and the answer says how it was found.
    """
    own = [problem.current(index) or LARGEST for index in range(2)]
    first = 0 if own[0] // problem.step[0] <= own[1] // problem.step[1] else 1
    low, step = problem.fields[first].minimum, problem.step[first]
    hits: list[Found] = []
    near: list[list[int]] = []
    high, beyond = low, 0
    for value in islice(range(-(-low // step) * step, LARGEST, step), OUTER):
        interval = _Interval(problem, first, value)
        smallest = interval.count(0)
        if smallest is None:
            continue
        high, beyond = value, beyond + 1 if smallest > problem.budget.high else 0
        if beyond > BEYOND:
            break
        start = interval.first_above(problem.budget.low - 1)
        for index in range(start, start + MOST):
            number = interval.count(index)
            if number is not None and number > problem.budget.high:
                break
            if number is not None and len(hits) < 20 * MOST:
                found = problem.found(interval.choice(index))
                hits += [found] if problem.meets(found) else []
        near += [interval.choice(index) for index in range(max(start - 1, 0), start + 2)]
    hits.sort(key=problem.distance)
    nearest = () if hits else _nearest(problem, near)
    details = {"measure": problem.measure, "first": problem.keys[first], "second": problem.keys[1 - first], "low": low, "high": high}
    return Solution(problem.keys, problem.targets, tuple(hits[:MOST]), nearest, "", (HALVED, details))


class _Interval:
    """The values of one unknown, numbered from the smallest on, while the other has one value."""

    def __init__(self, problem: _Problem, first: int, value: int) -> None:
        self.problem, self.first, self.value = problem, first, value
        low, self.step = problem.fields[1 - first].minimum, problem.step[1 - first]
        self.low = -(-low // self.step) * self.step

    def choice(self, index: int) -> list[int]:
        """Return both unknowns."""
        other = self.low + index * self.step
        return [self.value, other] if self.first == 0 else [other, self.value]

    def count(self, index: int) -> int | None:
        """Measure the config of one value, or None if it makes no model."""
        return self.problem.count(self.choice(index)) if self.low + index * self.step <= LARGEST else None

    def first_above(self, target: int) -> int:
        """Return the number of the first value at which more than *target* is counted; values that make no model are passed over."""
        step = 1
        while step * self.step < LARGEST and self._at_most(step, target):
            step *= 2
        low, high = step // 2, step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._at_most(middle, target) else (low, middle)
        return low if not self._at_most(low, target) else high

    def _at_most(self, index: int, target: int) -> bool:
        number = next((found for near in range(PASSED) if (found := self.count(index + near)) is not None), None)
        return number is None or number <= target


def _constant(problem: _Problem, terms: Terms) -> Solution:
    value = int(next(iter(terms.values()), Fraction(0)))
    details = {"measure": problem.measure, "keys": ", ".join(problem.keys), "value": value}
    own = [problem.current(index) for index in range(len(problem.keys))]
    here = [number for number in own if number is not None]
    found = (problem.found(here),) if len(here) == len(own) else ()
    met = tuple(entry for entry in found if problem.meets(entry))
    return Solution(problem.keys, problem.targets, met, () if met else found, str(Number(value)), (CONSTANT, details))


def _root_bound(coefficients: Sequence[Fraction], target: int) -> int:
    """Return a number beyond which the polynomial stays on one side of *target*: Cauchy's bound on its roots."""
    lead = abs(coefficients[-1])
    largest = max(abs(coefficients[0] - target), *(abs(c) for c in coefficients[:-1]))
    return min(int(LARGEST), int(largest / lead) + 2)


def _terms(found: Polynomial, unknowns: list[Symbol]) -> Terms | None:
    terms: Terms = {}
    for monomial, coefficient in found.terms.items():
        powers = dict(monomial)
        own = tuple(powers.pop(unknown, 0) for unknown in unknowns)
        if powers or any(power < 0 for power in own):
            return None
        terms[own] = Fraction(coefficient)
    return terms


def _evaluate(terms: Terms, values: Sequence[int]) -> Fraction:
    total = Fraction(0)
    for powers, coefficient in terms.items():
        for value, power in zip(values, powers, strict=True):
            coefficient *= value**power
        total += coefficient
    return total


def _without(raw: dict[str, Any], path: str) -> dict[str, Any]:
    """Return *raw* without one key, which a dotted path names."""
    head, _, rest = path.partition(".")
    if not rest:
        return {key: value for key, value in raw.items() if key != head}
    inner = raw.get(head)
    return {**raw, head: _without(dict(inner), rest)} if isinstance(inner, Mapping) else raw


def _positive(value: int, key: str) -> int:
    if type(value) is not int or value < 1:
        raise UsageError(Text("{key}: expected multiples of a whole number from 1 up, found {value!r:.40}", key=key, value=value))
    return value
