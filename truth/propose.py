"""A proposal of a blueprint: a live class built from a few random configs, its sizes fitted to the config's fields.

Every dimension of every tensor is a vector: one number a config. A proposal names the shortest expression in the config's
fields that gives this vector (``2 * c.hidden``, ``c.heads * c.head_dim``); what nothing gives is written as ``TODO``. A person
reads the result against the paper and the reference's source, and ``check`` decides.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from itertools import combinations, combinations_with_replacement
from time import monotonic
from typing import Any

from truth import draw, live
from truth.live import RefusedError
from truth.probe import hurry
from weighbridge.blueprints import MODULES, family
from weighbridge.config.fields import TIED, Field, optional, size, switch

Vector = tuple[int, ...]
CONFIGS = 16
"""How many random configs a proposal is fitted to: of two switches together there are so many that fewer configs would match some by chance."""
ENOUGH, PATIENCE = 6, 20.0
"""So many configs are enough once so many seconds are over."""
TRIES = 400
SURE = 2
"""Configs from which a size must be known to be fitted at all."""
MOST_SHOWN = 12
"""Of a size that nothing gives, so many values are shown."""
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
        ties: For each parameter that is another's storage, that one's name, by config.
        causal: The configs in which it is attention that sees only what stands before.
        seen: How many positions it sees in two passes, by config.
        moves: Of a convolution over images, its kernel, stride and padding, by config.
        stream, outer: What is said of these at the module, and what the modules around it say.
    """

    name: str
    kind: str
    held: set[int] = field(default_factory=set)
    tensors: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    buffers: set[str] = field(default_factory=set)
    ties: dict[str, dict[int, str]] = field(default_factory=dict)
    causal: set[int] = field(default_factory=set)
    seen: dict[int, tuple[int, int]] = field(default_factory=dict)
    moves: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    stream: str = ""
    outer: str = ""
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
    """Return a table of fields for a config class: its sizes and switches, under the words that other families use.

    A size whose default is null is there where other families know it, or where the class puts a number in its place.
    """
    general, plain = live.general_keys(), plain_config(config_class)
    others: dict[str, tuple[str, ...]] = {}
    for alias, key in config_class.attribute_map.items():
        others[key] = (*others.get(key, ()), alias)
    found = []
    for one in fields(config_class):
        if one.name in general or one.name.endswith(("_token_id", "_token_index")) or one.name in config_class.sub_configs:
            continue
        default = None if one.default is MISSING else one.default
        word, letter, meaning = words.get(one.name, (one.name, one.name, one.name.replace("_", " ")))
        aliases = others.get(one.name, ())
        if one.name == TIED.key and isinstance(default, bool):
            found.append(TIED.with_default(default))
        elif isinstance(default, bool):
            found.append(switch(one.name, one.name, default, *aliases))
        elif isinstance(default, int) and default > 0:
            found.append(size(word, one.name, default, letter, meaning, *aliases))
        elif default is None and (one.name in words or type(live.value(plain, one.name)) is int):
            found.append(optional(word, one.name, None, letter, meaning, *aliases))
    found += [
        optional(*words[key][:1], key, None, *words[key][1:])
        for key in sorted(_looked_up(config_class) & set(words))
        if key not in {one.name for one in fields(config_class)} | general
    ]
    return tuple(found)


def _looked_up(config_class: Any) -> set[str]:
    """Return the keys that a type's modules look for in a config that need not have them."""
    found: set[str] = set()
    for module in live.modules(config_class.model_type):
        found |= set(re.findall(r'getattr\((?:self\.)?config, "(\w+)", None\)', inspect.getsource(module)))
    return found


def plain_config(config_class: Any) -> Any:
    """Return the config that says nothing, or None where a class has no defaults that build one."""
    try:
        return config_class()
    except Exception:  # a class whose default is no config
        return None


FOR_NULL: dict[str, tuple[str, Callable[[Any], int]]] = {
    "head_dim": ("c.hidden // c.heads", lambda config: config.hidden_size // config.num_attention_heads),
    "mlp": ("4 * c.hidden", lambda config: 4 * config.hidden_size),
}
"""By word, what modules take where a config leaves a null: as an expression, and of a live config. Where one does otherwise, its sizes do not fit."""


def rules_of(config_class: Any, table: tuple[Field, ...], seed: str) -> dict[str, str]:
    """Return, by word, the expression that a config class puts in place of each size whose default is null, where it does so."""
    rules: dict[str, str] = {}
    for one in (each for each in table if each.nullable):
        rest = tuple(each for each in table if each is not one)
        configs = []
        for number in range(TRIES):
            raw = draw.fields(random.Random(f"{seed} {one.key} {number}"), rest)
            try:
                configs.append(config_class(**raw))
            except Exception:  # whatever a config may refuse
                continue
            if len(configs) == CONFIGS:
                break
        vector = tuple(live.value(config, one.key) for config in configs)
        if one.word in FOR_NULL and vector == (None,) * len(vector):
            rules[one.word] = FOR_NULL[one.word][0]
        elif vector and all(type(entry) is int for entry in vector):
            sizes = {f"c.{each.word}": tuple(live.value(config, each.key) for config in configs) for each in rest if not each.nullable}
            numbers = {word: given for word, given in sizes.items() if all(type(entry) is int for entry in given)}
            rules[one.word] = Fitter(numbers, {}).plain(vector, range(len(vector)))
    return rules


def build_random(
    model_type: str,
    class_name: str,
    table: tuple[Field, ...],
    seed: str,
    lists: Callable[[random.Random, dict[str, Any]], dict[str, Any]] | None = None,
) -> list[tuple[dict[str, Any], Any]]:
    """Build the class from random configs of its fields, and of what *lists* draws beside them, until there are enough."""
    found: list[tuple[dict[str, Any], Any]] = []
    started = monotonic()
    for number in range(TRIES):
        rng = random.Random(f"{seed} {model_type} {number}")
        raw = draw.fields(rng, table, 1.0 if number % 2 else 0.7)
        raw["num_labels"] = rng.randint(2, 7)
        raw |= lists(rng, raw) if lists else {}
        try:
            with hurry():
                found.append((raw, live.build(model_type, class_name, raw)))
        except (RefusedError, TimeoutError):
            continue
        if len(found) >= (CONFIGS if monotonic() - started < PATIENCE else ENOUGH):
            break
    return found


def merge(models: Sequence[Any]) -> Module:
    """Return one tree of modules of several live models."""
    root = Module("", type(models[0]).__name__)
    for number, model in enumerate(models):
        first: dict[int, str] = {}
        _merge(root, model, number, "", first)
    return root


LAYERS = ("Embedding", "Linear", "LayerNorm", "GroupNorm", "Conv1d", "Conv2d", "ConvTranspose1d")
"""Layers of torch that classes of the library build on: a scaled table of words is a table, and is looked up as one."""


def _kind(module: Any) -> str:
    """Return the name of a module's class; of one that holds what a layer of torch holds and no more, the name of that layer."""
    names = [each.__name__ for each in type(module).__mro__ if each.__module__.startswith("torch.nn.")]
    layer = next((name for name in names if name in LAYERS), None)
    return layer if layer and not module._modules and set(module._parameters) <= {"weight", "bias"} else type(module).__name__


def _merge(node: Module, module: Any, number: int, path: str, first: dict[int, str]) -> None:
    node.held.add(number)
    if getattr(module, "is_causal", False) is True:
        node.causal.add(number)
    if _kind(module) == "Conv2d" and isinstance(module.padding, tuple):
        node.moves[number] = (module.kernel_size[0], module.stride[0], module.padding[0])
    for name, tensor in module._parameters.items():
        if tensor is not None:
            owner = first.setdefault(id(tensor), path + name)
            node.tensors.setdefault(name, {})[number] = tuple(tensor.shape)
            if owner != path + name:
                node.ties.setdefault(name, {})[number] = owner
    for name, tensor in module._buffers.items():
        if tensor is not None and name not in module._non_persistent_buffers_set:
            node.tensors.setdefault(name, {})[number] = tuple(tensor.shape)
            node.buffers.add(name)
    before = ""
    for name, child in module._modules.items():
        if child is not None:
            if name not in node.children:
                _insert(node, Module(name, _kind(child)), before)
            _merge(node.children[name], child, number, f"{path}{name}.", first)
            before = name


def _insert(node: Module, child: Module, before: str) -> None:
    """Put a module that only some configs have where these have it: behind the one named *before*, or first."""
    names = list(node.children)
    names.insert(names.index(before) + 1 if before else 0, child.name)
    node.children[child.name] = child
    node.children = {name: node.children[name] for name in names}


def restrict(members: Mapping[int, Module]) -> Module:
    """Return one module that in each config is the member given for it."""
    some = next(iter(members.values()))
    result = Module(some.name, some.kind, set(members), buffers=some.buffers)
    for number, member in members.items():
        result.causal |= member.causal & {number}
        result.seen.update({number: member.seen[number]} if number in member.seen else {})
        result.moves.update({number: member.moves[number]} if number in member.moves else {})
        for name, owners in member.ties.items():
            if number in owners:
                result.ties.setdefault(name, {})[number] = owners[number]
        for name, shapes in member.tensors.items():
            if number in shapes:
                result.tensors.setdefault(name, {})[number] = shapes[number]
    for number, member in members.items():
        before = ""
        for name, child in member.children.items():
            if number in child.held:
                if name not in result.children:
                    _insert(result, child, before)
                before = name
    for name in result.children:
        held = {i: m.children[name] for i, m in members.items() if name in m.children and i in m.children[name].held}
        result.children[name] = restrict(held)
    return result


class Fitter:
    """Finds the expression of a vector of sizes in the values that the configs' fields have."""

    def __init__(
        self,
        values: Mapping[str, Vector],
        switches: Mapping[str, tuple[bool, ...]],
        facts: dict[str, str] | None = None,
        lists: Mapping[str, tuple[tuple[int, ...], ...]] | None = None,
    ) -> None:
        self.lists = {} if lists is None else lists
        self.maps: dict[int, list[int]] = {}  # the positions behind each stage, by config
        self.values = values
        self.switches = switches
        self.facts = {} if facts is None else facts
        self.table = dict(self._expressions())

    def expression(self, vector: Vector, held: Sequence[int]) -> str:
        """Return the expression of a size, seen in the configs *held*, between marks by which :func:`truth.new.skeleton` finds it again.

        >>> Fitter({"c.hidden": (8, 12), "c.heads": (2, 3)}, {}).expression((16, 24), (0, 1)).strip(OPEN + CLOSE)
        '2 * c.hidden'
        """
        return f"{OPEN}{self.plain(vector, held)}{CLOSE}"

    def plain(self, vector: Vector, held: Sequence[int]) -> str:
        """Return the expression without these marks."""
        word = next((word for word, full in self.values.items() if tuple(full[i] for i in held) == vector), None)
        if len(set(vector)) == 1 and (word is None or len(vector) < SURE):
            return str(vector[0]) if len(vector) >= SURE else f"TODO({vector[0]})"
        found = word or next((text for full, text in self.table.items() if tuple(full[i] for i in held) == vector), None)
        return found or f"TODO({', '.join(map(str, vector[:MOST_SHOWN]))})"

    def map_text(self, positions: Mapping[int, int]) -> str | None:
        """Return the source of these positions, by config, where they are those behind the last stage."""
        known = bool(positions) and all(number in self.maps and self.maps[number][-1] == count for number, count in positions.items())
        return "area(maps(c)[-1])" if known else None

    def condition(self, held: set[int], of: set[int]) -> str:
        """Return the switch that says in which configs a module is there: one, a comparison of sizes, or two together.

        Sizes are not compared in a tree: a comparison becomes a fact, whose declaration is put into *facts*.

        >>> facts = {}
        >>> Fitter({"c.hidden": (8, 12, 16), "c.embedding": (8, 4, 2)}, {}, facts).condition({1, 2}, {0, 1, 2}), facts
        ('c.embedding_differs', {'embedding_differs': 'computed("embedding_differs", lambda c: c.embedding != c.hidden)'})
        """
        wanted = [i in held for i in sorted(of)]
        flags = {}
        for word, given in self.switches.items():
            flags[word] = [given[i] for i in sorted(of)]
            flags[f"not {word}"] = [not given[i] for i in sorted(of)]
        found = next((text for text, given in flags.items() if given == wanted), None) or self._comparison(held, sorted(of))
        if found:
            return found
        for count, word, rule in ((2, " and ", all), (2, " or ", any), (3, " and ", all)):
            for several in combinations(flags.items(), count):
                if [rule(each) for each in zip(*(given for _, given in several), strict=True)] == wanted:
                    return word.join(text for text, _ in several)
        return "TODO"

    def _comparison(self, held: set[int], of: Sequence[int]) -> str | None:
        """Return the name of a comparison of sizes that is true in the configs *held*, and note its declaration."""
        wanted = [i in held for i in of]
        tests = [(word, "> 1", [vector[i] > 1 for i in of]) for word, vector in self.values.items()]
        tests += [
            (word, f"!= {other}", [x != y for x, y in zip((vector[i] for i in of), (against[i] for i in of), strict=True)])
            for (other, against), (word, vector) in combinations(self.values.items(), 2)
        ]
        for word, test, given in tests:
            if given == wanted and len(set(given)) == 2:
                name = f"{word.rpartition('.')[2]}_{'differs' if '!' in test else 'is_several'}"
                self.facts[name] = f'computed("{name}", lambda c: {word} {test})'
                return f"c.{name}"
        return None

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
                yield _both(above, below, lambda x, y: (x // y) ** 2 + 1 if y else 0), f"({c} // {d}) * ({c} // {d}) + 1"
                yield _both(above, below, lambda x, y: (x // y) ** 2 if y else 0), f"({c} // {d}) * ({c} // {d})"
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
        given: tuple[Any, ...] = tuple(live.value(config, one.key) for config in configs)
        if one.word in FOR_NULL and not one.nullable:  # as in rules_of
            meant = FOR_NULL[one.word][1]
            given = tuple(meant(config) if size is None else size for size, config in zip(given, configs, strict=True))
        if all(type(value) is int for value in given):
            sizes[path + one.word] = given
        elif all(isinstance(value, bool) for value in given):
            switches[path + one.word] = given
    labels = tuple(config.num_labels for config in configs)
    return {**sizes, f"{path}labels": labels}, switches
