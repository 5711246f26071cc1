"""A model whose config has one or two unknown sizes: how a choice of them is counted, and as which polynomial.

With the unknowns as symbols, the blueprint is a polynomial with exact coefficients. Where it is none in both unknowns, it mostly is one
in each while the other is a number; training memory, which is counted on ints alone, is fitted through counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple, TypeAlias

from weighbridge.accounts.cache import UNKNOWN as UNDESCRIBED
from weighbridge.accounts.cache import bytes_per_token
from weighbridge.accounts.flops import flops
from weighbridge.accounts.memory.account import settings, static_bytes
from weighbridge.accounts.memory.weights import bits
from weighbridge.accounts.parameters import tally
from weighbridge.blueprints.describe import from_config
from weighbridge.config.bind import bind, find_sub_config, with_overrides, without_key
from weighbridge.config.fields import Field
from weighbridge.conventions.loading import count_loaded
from weighbridge.conventions.quantized_counts import stated_quantizer
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.formula import Symbol
from weighbridge.core.messages import Text, mark
from weighbridge.core.polynomials import Polynomial, polynomial
from weighbridge.core.sizes import Size, as_int
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part, walk
from weighbridge.designs.budget import Budget
from weighbridge.designs.costs import COSTS, Workload, inputs_of
from weighbridge.designs.interpolation import Terms, evaluate, interpolate, polynomial_terms
from weighbridge.value import ModelValue

SPREAD = (*range(-4, 5), 11, 16, 64, 101)
"""Steps from a config's own value at which a polynomial is held to counts."""
MANY_LABELS = 1000
"""Names of labels that are left to their number: every try would walk through them all."""

DEGREE = 3
"""The highest power of an unknown in a fitted polynomial."""


class MeasuredConfig(NamedTuple):
    """One config: the unknowns' values and what it measures.

    Attributes:
        values: From each key to its value.
        measured: From ``parameters`` (and the other measures asked for) to the exact number.
    """

    values: dict[str, int]
    measured: dict[str, int]


QUANTIZED = mark(
    "--loaded: the config's quantization_config loads other elements, which are not solved for; add --set quantization_config=null"
)


class Problem:
    """A model, its unknowns, and how a choice of them is counted.

    Attributes:
        keys: The unknowns' key paths.
        fields: Their fields.
        step: What each is a multiple of.
        own: The value of each in the config as it is.
        measure: What is aimed at, and *budget* how much of it.
        counted: How many configs were counted so far, as a list of one number that slices share.
        nodes: Parts and tensors of the model's tree: what counting one config takes goes with it.
    """

    def __init__(
        self, model: ModelValue, keys: tuple[str, ...], targets: dict[str, Budget], step: dict[str, int], workload: Workload
    ) -> None:
        if model.description is None:
            raise UsageError(Text("{source}: solving needs a config; a file's header has only numbers", source=model.source))
        self.model, self.description = model, model.description
        if "loaded" in targets and stated_quantizer(model):
            raise UsageError(QUANTIZED)
        self.keys, self.targets = keys, targets
        self.measure, self.budget = next(iter(targets.items()))
        self.fields = [self._field(key) for key in keys]
        self.step = [_check_multiple(step.get(key, 1), key) for key in keys]
        if unknown := set(step) - set(keys):
            raise UsageError(
                Text("multiples are for the unknowns ({keys}), not for {unknown}", keys=", ".join(keys), unknown=", ".join(sorted(unknown)))
            )
        self.given = inputs_of(model, workload)
        self.workload = workload._replace(seq=self.given.seq)
        self.raw = self._bare()
        self.own = [self._current(index) for index in range(len(keys))]
        self.counted = [0]
        self.nodes = sum(1 + len(part.children) for _, part in walk(model.tree))
        for name in targets:
            self.amount(name, model)  # what cannot be asked of the config as it is, is refused at once

    def _field(self, key: str) -> Field:
        fields, raw = self.description.family.fields, self.description.raw
        *parents, last = key.split(".")
        for parent in parents:
            nested = next((field for field in fields if field.key == parent and field.kind == "nested"), None)
            inner = find_sub_config(nested, raw) if nested else None
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
                Text("{key}: not a size of {model_type}; {hint}", key=key, model_type=self.description.family.model_type, hint=hint)
            )
        return sizes[last]

    def _bare(self) -> dict[str, Any]:
        """Return the config without the unknowns, under any of their names: another name beside one would contradict it."""
        raw = dict(self.description.raw)
        for key, field in zip(self.keys, self.fields, strict=True):
            parents = key.split(".")[:-1]
            for name in (field.key, *field.aliases):
                raw = without_key(raw, ".".join([*parents, name]))
        labels = raw.get("id2label")
        if raw.get("num_labels") is None and isinstance(labels, Mapping) and len(labels) > MANY_LABELS:
            raw = {key: value for key, value in raw.items() if key not in ("id2label", "label2id")} | {"num_labels": len(labels)}
        return raw

    def _current(self, index: int) -> int | None:
        """Return the value that an unknown has in the config as it is, if it is a number there."""
        value: Any = self.description.sizes
        *parents, _ = self.keys[index].split(".")
        fields = self.description.family.fields
        for parent in parents:
            nested = next(field for field in fields if field.key == parent)
            inner = find_sub_config(nested, self.description.raw)
            value, fields = getattr(value, nested.word), inner.fields if inner else ()
        found = getattr(value, self.fields[index].word, None)
        return found if type(found) is int else None

    def least(self, index: int) -> int:
        """Return the smallest value of an unknown."""
        step = self.step[index]
        return -(-self.fields[index].minimum // step) * step

    def of(self, values: Sequence[int]) -> ModelValue:
        """Build the model with these values; what makes no model raises a ConfigError."""
        overrides = dict(zip(self.keys, values, strict=True))
        return from_config(self.raw, self.model.source, self.model.class_name, overrides)

    def amount(self, name: str, model: ModelValue) -> int:
        """Measure a model."""
        if name in COSTS and name != "flops":
            return COSTS[name](model, self.workload)
        return as_int(MEASURES[name](model.tree, self))

    def count(self, values: Sequence[int]) -> int | None:
        """Measure one config, or return None if the values make no model, or none that can be measured."""
        self.counted[0] += 1
        try:
            return self.amount(self.measure, self.of(values))
        except (ConfigError, UnknownArchitecture, UsageError):
            return None

    def measure_all(self, values: Sequence[int]) -> MeasuredConfig:
        """Measure one config in everything that was asked for."""
        self.counted[0] += 1
        model = self.of(values)
        measured = {name: self.amount(name, model) for name in dict.fromkeys(("parameters", *self.targets))}
        return MeasuredConfig(dict(zip(self.keys, values, strict=True)), measured)

    def meets(self, found: MeasuredConfig) -> bool:
        """Say whether a config is within every target."""
        return all(budget.holds(found.measured[name]) for name, budget in self.targets.items())

    def numbers(self, high: int) -> Iterator[int]:
        """Yield the numbers of the config itself: an unknown that is equal to one of them may switch something on or off."""
        stack: list[Any] = [self.description.sizes]
        while stack:
            value = stack.pop()
            if type(value) is int and 0 < value <= high:
                yield value
            elif hasattr(value, "__dict__"):
                stack.extend(vars(value).values())

    def is_sparse(self, index: int) -> bool:
        """Say whether the next values of an unknown make no model: only some numbers of heads divide a hidden size."""
        if None in self.own:
            return False
        tried = ([(own or 0) + offset * self.step[index] * (place == index) for place, own in enumerate(self.own)] for offset in (1, 2, 3))
        return all(self.count(choice) is None for choice in tried)

    def slice_at(self, index: int, value: int) -> Problem | None:
        """Return the problem with one of two unknowns known, or None if no value of the other that was tried makes a model with it."""
        other = 1 - index
        for guess in _guesses(self, other, value):
            self.counted[0] += 1
            try:
                model = self.of([value, guess] if index == 0 else [guess, value])
            except (ConfigError, UnknownArchitecture):
                continue
            assert model.description is not None
            part = copy(self)
            part.keys, part.fields, part.step, part.own = (self.keys[other],), [self.fields[other]], [self.step[other]], [guess]
            known = self.description.family.fields
            part.raw, part.description = with_overrides(self.raw, {self.keys[index]: value}, known), model.description
            return part
        return None

    def terms(self) -> Terms | None:
        """Return the measure as a polynomial in the unknowns, or None where it is none (quotients, layers that are listed)."""
        if self.measure not in MEASURES or (self.measure == "cache" and self.model.model_type in UNDESCRIBED):
            return None
        if self.measure == "memory" and self.workload.training:
            return None
        unknowns = [Symbol(key, order=order) for order, key in enumerate(self.keys)]
        raw = with_overrides(self.raw, dict(zip(self.keys, unknowns, strict=True)), self.description.family.fields)
        known, sizes = self.description.family, self.description.sizes
        try:
            tree = known.classes[self.model.class_name](bind(known.fields, raw, like=sizes))
            found = polynomial(MEASURES[self.measure](tree, self))
        except (ConfigError, UsageError, TypeError, AssertionError):
            return None  # the blueprint wants a number where the unknown stands
        terms = polynomial_terms(found, unknowns)
        return terms if terms is not None and self._agrees(terms) else None

    def formula(self) -> tuple[Terms | None, bool]:
        """Return the polynomial, of memory one through counts where there is no other, and whether the blueprint itself is it."""
        terms = self.terms()
        return (terms, True) if terms is not None or self.measure != "memory" else (self.fit(), False)

    def fit(self) -> Terms | None:
        """Return a polynomial through counts about the config's own values, if it gives every other count that is tried too."""
        samples = [self._samples(index) for index in range(len(self.keys))]
        if any(len(values) <= DEGREE for values in samples):
            return None
        grid = {values: self.count(values) for values in product(*samples)}
        if any(number is None for number in grid.values()):
            return None
        terms = interpolate(samples, {values: Fraction(number or 0) for values, number in grid.items()})
        return terms if self._agrees(terms) else None

    def _samples(self, index: int) -> tuple[int, ...]:
        """Return values of one unknown that make models while the others are as they are."""
        own, step, found = self.own[index], self.step[index], []
        if own is None:
            return ()
        for value in dict.fromkeys(
            (
                own // step * step,
                *(own * factor // step * step for factor in (2, 3, 4, 5)),
                *((own // step + offset) * step for offset in (1, 2, 3, 5, 8, 12)),
            )
        ):
            choice = [value if place == index else number for place, number in enumerate(self.own)]
            if value >= self.least(index) and None not in choice and self.count([number or 0 for number in choice]) is not None:
                found.append(value)
        return tuple(found[: DEGREE + 1])

    def _agrees(self, terms: Terms) -> bool:
        """Say whether the polynomial gives what is counted, where the config stands and about it.

        A class may round (a head as wide as the hidden size allows) or switch something on at a size: then it does not.
        """
        start = [value // step * step for value, step in zip(self.own, self.step, strict=True) if value is not None]
        if len(start) < len(self.own):
            return False
        probes = {tuple(value for value in self.own if value is not None)}
        for index, step in enumerate(self.step):
            for offset in SPREAD:
                probe = list(start)
                probe[index] += offset * step
                probes.add(tuple(probe))
        probes |= {tuple(value * factor for value in start) for factor in (2, 3)}
        counted = {probe: self.count(probe) for probe in probes if min(probe) > 0}
        return all(number is None or number == evaluate(terms, probe) for probe, number in counted.items())

    def equation(self, terms: Terms) -> str:
        """Write the polynomial in the unknowns."""
        symbols = [Symbol(key, order=order) for order, key in enumerate(self.keys)]
        monomials = {
            tuple((symbol, power) for symbol, power in zip(symbols, powers, strict=True) if power): coefficient
            for powers, coefficient in terms.items()
        }
        return str(Polynomial({key: int(c) if c.denominator == 1 else c for key, c in monomials.items()}))


Measure: TypeAlias = Callable[[Part, Problem], Size]
MEASURES: Mapping[str, Measure] = {
    "parameters": lambda tree, problem: tally(tree).unique,
    "loaded": lambda tree, problem: count_loaded(tree, problem.raw, tally(tree).unique),
    "active": lambda tree, problem: tally(tree).active,
    "embedding": lambda tree, problem: tally(tree).embedding,
    "non_embedding": lambda tree, problem: tally(tree).non_embedding,
    "flops": lambda tree, problem: flops(tree, problem.given.lengths(), problem.given.batch).forward_matmul,
    "cache": lambda tree, problem: bytes_per_token(tree, problem.given, bits(problem.workload.dtype) // 8),
    "memory": lambda tree, problem: static_bytes(tree, settings(dtype=problem.workload.dtype)),
}
"""What is a formula of the sizes: each measures a tree, whether its sizes are ints or symbols. Training memory is counted on ints alone."""


def nearest_configs(problem: Problem, choices: Iterable[Sequence[int]]) -> tuple[MeasuredConfig, ...]:
    """Return the nearest config below the target and the nearest above, of those choices that make a model; the nearest come first."""
    below: MeasuredConfig | None = None
    above: MeasuredConfig | None = None
    target = problem.budget.target
    for choice in choices:
        number = problem.count(choice)
        if number is None:
            continue
        if number <= target and (below is None or number > below.measured[problem.measure]):
            below = problem.measure_all(choice)
        if number >= target and (above is None or number < above.measured[problem.measure]):
            above = problem.measure_all(choice)
        if below is not None and above is not None:
            break
    return tuple(found for found in (below, above) if found is not None)


def hits_of(
    problem: Problem, choices: Iterable[Sequence[int]], most: int
) -> tuple[list[MeasuredConfig], list[tuple[dict[str, int], str]], bool]:
    """Count each choice from its own config, in order, until *most* of them meet the targets.

    Returns:
        Those that do, nearest first; those that make no model, with the reason; and whether some were left uncounted.
    """
    hits: list[MeasuredConfig] = []
    refused: list[tuple[dict[str, int], str]] = []
    pending = iter(choices)
    for choice in pending:
        try:
            found = problem.measure_all(choice)
        except (ConfigError, UnknownArchitecture, UsageError) as error:
            refused.append((dict(zip(problem.keys, choice, strict=True)), str(error)))
            continue
        hits += [found] if problem.meets(found) else []
        if len(hits) == most:
            break
    left = next(pending, None) is not None
    hits.sort(key=lambda found: abs(found.measured[problem.measure] - problem.budget.target))
    return hits, refused, left


def _guesses(problem: Problem, other: int, value: int) -> Iterator[int]:
    """Yield values of the other unknown that may go with *value*: its own, multiples of its step, multiples of the value."""
    step, least = problem.step[other], problem.least(other)
    own = problem.own[other]
    near = [] if own is None else [own, own // step * step, own // value * value if value else own]
    wanted = (*near, *(value * factor for factor in (1, 2, 8, 64, 128)), *range(least, least + 16 * step, step))
    yield from dict.fromkeys(max(least, -(-guess // step) * step) for guess in wanted)


def _check_multiple(value: int, key: str) -> int:
    if type(value) is not int or value < 1:
        raise UsageError(Text("{key}: expected multiples of a whole number from 1 up, found {value!r:.40}", key=key, value=value))
    return value
