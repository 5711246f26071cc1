"""A proposal of a blueprint: a live class built from a few random configs, its sizes fitted to the config's fields.

Every dimension of every tensor is a vector: one number a config. A proposal names the shortest expression in the config's
fields that gives this vector (``2 * c.hidden``, ``c.heads * c.head_dim``); what nothing gives is written as ``TODO``. A person
reads the result against the paper and the reference's source, and ``check`` decides.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import combinations, combinations_with_replacement
from typing import Any

from truth import draw, live
from truth.live import RefusedError
from truth.probe import hurry
from weighbridge.blueprints import MODULES, family
from weighbridge.config.fields import Field, optional, size, switch

Vector = tuple[int, ...]
CONFIGS = 6
"""How many random configs a proposal is fitted to."""
TRIES = 400
SURE = 2
"""Configs from which a size must be known to be fitted at all."""
FACTORS = (2, 3, 4, 5, 6, 8, 12, 16)
OPEN, CLOSE = "\ue000", "\ue001"
"""Around every expression, so that what differs between modules of one class can become an argument."""


@dataclass
class Module:
    """One module of the live class, as it is in each of the configs that have it.

    Attributes:
        kind: The name of its live class.
        held: Which configs have it.
        tensors: The shapes of its own parameters and buffers, by config.
        facts: Numbers of its own that a blueprint needs (kernel, stride, padding, groups), by config.
    """

    name: str
    kind: str
    held: set[int] = field(default_factory=set)
    tensors: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    buffers: set[str] = field(default_factory=set)
    ties: dict[str, str] = field(default_factory=dict)
    children: dict[str, Module] = field(default_factory=dict)


def known_words() -> dict[str, tuple[str, str, str]]:
    """Return, for each config key that some family declares as a size, the word, letter and meaning most of them give it."""
    votes: dict[str, dict[tuple[str, str, str], int]] = {}
    for model_type in MODULES:
        for one in family(model_type).fields:
            for key in (one.key, *one.aliases) if one.kind == "size" else ():
                entry = votes.setdefault(key, {})
                named = (one.word, one.letter, one.meaning)
                entry[named] = entry.get(named, 0) + 1
    return {key: max(entry, key=lambda named: entry[named]) for key, entry in votes.items()}


def fields_of(config_class: Any, words: Mapping[str, tuple[str, str, str]]) -> tuple[Field, ...]:
    """Return a table of fields for a config class: its sizes and switches, under the words that other families use."""
    general = live.general_keys()
    found = []
    for one in fields(config_class):
        if one.name in general or one.name.endswith(("_token_id", "_token_index")) or one.name in config_class.sub_configs:
            continue
        default = None if one.default is MISSING else one.default
        word, letter, meaning = words.get(one.name, (one.name, one.name, one.name.replace("_", " ")))
        if isinstance(default, bool):
            found.append(switch(one.name, one.name, default))
        elif isinstance(default, int) and default > 0:
            found.append(size(word, one.name, default, letter, meaning))
        elif default is None and one.name in words:
            found.append(optional(word, one.name, None, letter, meaning))
    return tuple(found)


def build_random(model_type: str, class_name: str, table: tuple[Field, ...], seed: str) -> list[tuple[dict[str, Any], Any]]:
    """Build the class from random configs of its fields, until there are enough."""
    found: list[tuple[dict[str, Any], Any]] = []
    for number in range(TRIES):
        rng = random.Random(f"{seed} {model_type} {number}")
        raw = draw.fields(rng, table, 1.0 if number % 2 else 0.7)
        raw["num_labels"] = rng.randint(2, 7)
        try:
            with hurry():
                found.append((raw, live.build(model_type, class_name, raw)))
        except (RefusedError, TimeoutError):
            continue
        if len(found) == CONFIGS:
            break
    return found


def merge(models: Sequence[Any]) -> Module:
    """Return one tree of modules of several live models."""
    root = Module("", type(models[0]).__name__)
    for number, model in enumerate(models):
        first: dict[int, str] = {}
        _merge(root, model, number, "", first)
    return root


LAYERS = ("Embedding", "Linear", "LayerNorm", "GroupNorm", "Conv1d", "Conv2d")
"""Layers of torch that classes of the library build on: a scaled table of words is a table, and is looked up as one."""


def _kind(module: Any) -> str:
    """Return the name of a module's class; of one that holds what a layer of torch holds and no more, the name of that layer."""
    names = [each.__name__ for each in type(module).__mro__ if each.__module__.startswith("torch.nn.")]
    layer = next((name for name in names if name in LAYERS), None)
    return layer if layer and not module._modules and set(module._parameters) <= {"weight", "bias"} else type(module).__name__


def _merge(node: Module, module: Any, number: int, path: str, first: dict[int, str]) -> None:
    node.held.add(number)
    for name, tensor in module._parameters.items():
        if tensor is not None:
            owner = first.setdefault(id(tensor), path + name)
            node.tensors.setdefault(name, {})[number] = tuple(tensor.shape)
            if owner != path + name:
                node.ties[name] = owner
    for name, tensor in module._buffers.items():
        if tensor is not None and name not in module._non_persistent_buffers_set:
            node.tensors.setdefault(name, {})[number] = tuple(tensor.shape)
            node.buffers.add(name)
    for name, child in module._modules.items():
        if child is not None:
            inner = node.children.setdefault(name, Module(name, _kind(child)))
            _merge(inner, child, number, f"{path}{name}.", first)


def restrict(members: Mapping[int, Module]) -> Module:
    """Return one module that in each config is the member given for it."""
    some = next(iter(members.values()))
    result = Module(some.name, some.kind, set(members), buffers=some.buffers, ties=some.ties)
    for number, member in members.items():
        for name, shapes in member.tensors.items():
            if number in shapes:
                result.tensors.setdefault(name, {})[number] = shapes[number]
    for name in dict.fromkeys(
        name for number, member in members.items() for name, child in member.children.items() if number in child.held
    ):
        held = {i: m.children[name] for i, m in members.items() if name in m.children and i in m.children[name].held}
        result.children[name] = restrict(held)
    return result


class Fitter:
    """Finds the expression of a vector of sizes in the values that the configs' fields have."""

    def __init__(self, values: Mapping[str, Vector], switches: Mapping[str, tuple[bool, ...]]) -> None:
        self.values = values
        self.switches = switches
        self.table = dict(self._expressions())

    def expression(self, vector: Vector, held: Sequence[int]) -> str:
        """Return the expression of a size, seen in the configs *held*, between marks by which :func:`truth.new.skeleton` finds it again.

        >>> Fitter({"c.hidden": (8, 12), "c.heads": (2, 3)}, {}).expression((16, 24), (0, 1)).strip(OPEN + CLOSE)
        '2 * c.hidden'
        """
        return f"{OPEN}{self._plain(vector, held)}{CLOSE}"

    def _plain(self, vector: Vector, held: Sequence[int]) -> str:
        word = next((word for word, full in self.values.items() if tuple(full[i] for i in held) == vector), None)
        if len(set(vector)) == 1 and (word is None or len(vector) < SURE):
            return str(vector[0]) if len(vector) >= SURE else f"TODO({vector[0]})"
        found = word or next((text for full, text in self.table.items() if tuple(full[i] for i in held) == vector), None)
        return found or f"TODO({', '.join(map(str, vector))})"

    def condition(self, held: set[int], of: set[int]) -> str:
        """Return the switch that says in which configs a module is there."""
        for word, flags in self.switches.items():
            for sense, text in ((True, word), (False, f"not {word}")):
                if all((flags[i] is sense) == (i in held) for i in of):
                    return text
        for word, vector in self.values.items():
            if len({vector[i] > 1 for i in of}) == 2 and all((vector[i] > 1) == (i in held) for i in of):
                return f"{word} > 1"
        return "TODO"

    def _expressions(self) -> Iterator[tuple[Vector, str]]:
        """Yield vectors with their expressions, the plainest last, so that it is the one that stays."""
        found = list(self._all())
        yield from ((vector, text) for vector, text in reversed(found))

    def _all(self) -> Iterator[tuple[Vector, str]]:
        plain = list(self.values.items())
        yield from ((vector, word) for word, vector in plain)
        for word, vector in plain:
            yield from ((tuple(k * v for v in vector), f"{k} * {word}") for k in FACTORS)
            yield from ((tuple(v + k for v in vector), f"{word} + {k}") for k in (1, 2, 3))
            yield from ((tuple(v - k for v in vector), f"{word} - {k}") for k in (1, 2))
            yield from ((tuple(v // k for v in vector), f"{word} // {k}") for k in (2, 4, 8, 16, 32))
        for (a, left), (b, right) in combinations_with_replacement(plain, 2):
            yield _both(left, right, lambda x, y: x * y), f"{a} * {b}"
        for (a, left), (b, right) in combinations(plain, 2):
            yield _both(left, right, lambda x, y: x + y), f"{a} + {b}"
            for (c, above), (d, below) in (((a, left), (b, right)), ((b, right), (a, left))):
                yield _both(above, below, lambda x, y: x - y), f"{c} - {d}"
                if all(y and x % y == 0 for x, y in zip(above, below, strict=True)):
                    yield _both(above, below, lambda x, y: x // y), f"{c} // {d}"
                for k in (2, 3, 4):
                    yield _both(above, below, lambda x, y, k=k: k * x * y), f"{k} * {c} * {d}"
                    yield _both(above, below, lambda x, y, k=k: k * x + y), f"{k} * {c} + {d}"
                    yield _both(above, below, lambda x, y, k=k: x + k * y), f"{c} + {k} * {d}"
                yield _both(above, below, lambda x, y: (x // y) ** 2 + 1 if y else 0), f"({c} // {d}) ** 2 + 1"
                yield _both(above, below, lambda x, y: (x // y) ** 2 if y else 0), f"({c} // {d}) ** 2"
        products = [(_both(x, y, lambda p, q: p * q), f"{a} * {b}") for (a, x), (b, y) in combinations_with_replacement(plain, 2)]
        for vector, text in products:
            for word, other in plain:
                yield _both(vector, other, lambda x, y: x + y), f"{text} + {word}"
                yield _both(vector, other, lambda x, y: x + 2 * y), f"{text} + 2 * {word}"
                if all(y and x % y == 0 for x, y in zip(vector, other, strict=True)):
                    yield _both(vector, other, lambda x, y: x // y), f"{text} // {word}"


def _both(left: Vector, right: Vector, rule: Any) -> Vector:
    return tuple(rule(x, y) for x, y in zip(left, right, strict=True))


def values_of(models: Iterable[Any], table: tuple[Field, ...], path: str = "c.") -> tuple[dict[str, Vector], dict[str, tuple[bool, ...]]]:
    """Return what the configs of live models say: for each size its vector, for each switch its flags."""
    configs = [model.config for model in models]
    sizes: dict[str, Vector] = {}
    switches: dict[str, tuple[bool, ...]] = {}
    for one in table:
        given: tuple[Any, ...] = tuple(getattr(config, one.key, None) for config in configs)
        if all(type(value) is int for value in given):
            sizes[path + one.word] = given
        elif all(isinstance(value, bool) for value in given):
            switches[path + one.word] = given
    labels = tuple(config.num_labels for config in configs)
    return {**sizes, f"{path}labels": labels}, switches
