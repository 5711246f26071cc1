"""The laws that hold over every blueprint of every class.

- No blueprint asks what a size is: it runs with sizes that can be added, subtracted, multiplied and divided, and nothing else.
- Ints and symbols agree: the symbolic tree, with its numbers put in, is the tree of ints, node for node.
- The closed formula gives the count; the count is the sum of its roles and of the listing.
- What a config leaves out and what nobody knows of it can be told of every class.
- Names are unique; a tie names an earlier tensor of the same shape that owns its storage.
- One more layer adds exactly that layer. A tie subtracts exactly its tensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from tests.shares import share
from truth import compare
from truth.draw import draw
from weighbridge import model
from weighbridge.accounts.parameters import tally
from weighbridge.api.model import Model
from weighbridge.blueprints import MODULES, family
from weighbridge.config.bind import bind
from weighbridge.config.fields import Config
from weighbridge.config.symbols import symbols
from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import Symbol, evaluate
from weighbridge.core.length import Length, Stream
from weighbridge.core.sizes import Quantity, Size, product
from weighbridge.core.tree import Attend, Matmul, Part, Row, State, Tensor, list_rows

TYPES = sorted(MODULES, key=lambda name: (MODULES[name], name))
assert TYPES, "no blueprint to hold to the laws"
DRAWS = 1


class Probe(Quantity):
    """A size that can be calculated with and that refuses to be looked at."""

    __slots__ = ()


def _next(*_: object) -> Probe:
    return Probe()


def _refuse(*_: object) -> NoReturn:
    raise AssertionError("a blueprint asks what a size is")


for _name in "add radd sub rsub mul rmul floordiv rfloordiv".split():
    setattr(Probe, f"__{_name}__", _next)
for _name in ("divide_exactly", "rdivide_exactly"):
    setattr(Probe, _name, _next)
for _name in """eq ne lt le gt ge bool hash int index float round len iter contains neg abs
                truediv rtruediv mod rmod divmod pow rpow str format""".split():
    setattr(Probe, f"__{_name}__", _refuse)


def with_probes(values: dict[str, Any]) -> dict[str, Any]:
    """Return raw values with a probe where a symbol stood."""
    swapped = {}
    for key, value in values.items():
        swapped[key] = with_probes(value) if isinstance(value, dict) else Probe() if isinstance(value, Symbol) else value
    return swapped


def configs(model_type: str) -> tuple[tuple[dict[str, Any], tuple[str, ...]], ...]:
    """Return the default config, unless the reference has no default that builds, and random ones, each with the classes that accept it.

    Those that all classes accept, where there are any: some types have classes that exclude each other, an encoder alone and both sides.
    """
    names = tuple(family(model_type).classes)
    tried: list[tuple[dict[str, Any], tuple[str, ...]]] = []
    for index in range(-1, 20 * DRAWS):
        raw = {"model_type": model_type} if index < 0 else draw(f"laws {index}", model_type, 1.0 if index < 10 else 0.5)
        tried.append((raw, tuple(name for name in names if accepts(raw, name))))
        found = [one for one in tried if one[1] == names]
        if len(found) > DRAWS:
            return tuple(found)
    if found:
        return tuple(found)
    firsts = [next((one for one in tried if name in one[1]), None) for name in names]
    assert all(firsts), model_type
    return tuple(one for place, one in enumerate(firsts) if one is not None and one not in firsts[:place])


def accepts(raw: dict[str, Any], name: str) -> bool:
    """Tell whether our side builds a class from a config."""
    try:
        model(raw, name)
    except ConfigError:
        return False
    return True


@pytest.mark.parametrize("model_type", share(TYPES, 5))
def test_the_laws_of_a_type(model_type: str) -> None:
    """All laws over one type: what they build is built once."""
    chosen = configs(model_type)
    built = [(raw, [model(raw, name) for name in names]) for raw, names in chosen]
    for raw, names in chosen:
        assert_no_blueprint_asks_what_a_size_is(model_type, raw, names)
    for raw, models in built:
        listings = [weighed.tensors() for weighed in models]
        for weighed, rows in zip(models, listings, strict=True):
            assert_ints_and_symbols_agree(weighed)
            assert_count_is_the_sum_of_its_roles_and_of_the_listing(weighed, rows)
            assert_names_are_unique_and_ties_name_an_owner(weighed, rows)
            assert not set(weighed.defaulted) & set(weighed.unknown)
        assert_one_more_layer_adds_exactly_that_layer(model_type, raw, models, listings)
        assert_a_tie_subtracts_exactly_its_tensors(model_type, raw, models, listings)


def assert_no_blueprint_asks_what_a_size_is(model_type: str, raw: dict[str, Any], names: tuple[str, ...]) -> None:
    known = family(model_type)
    sizes = bind(known.fields, raw)
    bound = bind(known.fields, {**raw, **with_probes(symbols(known.fields, raw, sizes))}, like=sizes)
    for name in names:
        assert isinstance(known.classes[name](bound), Part)


def assert_ints_and_symbols_agree(weighed: Model) -> None:
    tree, _, values = weighed.symbolic()
    assert_same(weighed.tree, tree, values, weighed.class_name)
    assert compare.formula(weighed, weighed.count().unique, tree, values) is None, weighed.class_name


def assert_count_is_the_sum_of_its_roles_and_of_the_listing(weighed: Model, rows: list[Row]) -> None:
    counts = weighed.count()
    assert counts.unique == sum_of([counts.weight, counts.bias, counts.gain, counts.shift, counts.embedding])
    own = [row for row in rows if row.tied_to is None]
    assert counts.unique == sum_of([row.count for row in own if row.role != "buffer"])
    assert counts.buffers == sum_of([row.count for row in own if row.role == "buffer"])
    assert counts.duplicated - counts.unique == sum_of([row.count for row in rows if row.tied_to and row.role != "buffer"])


def assert_names_are_unique_and_ties_name_an_owner(weighed: Model, rows: list[Row]) -> None:
    seen: dict[str, object] = {}
    for row in rows:
        assert row.name not in seen, f"{weighed.class_name}: {row.name} stands twice"
        if row.tied_to is not None:
            assert seen.get(row.tied_to) == row.shape, f"{weighed.class_name}: {row.name} is tied to {row.tied_to}"
            seen[row.name] = ("tied", row.shape)
        else:
            seen[row.name] = row.shape


def assert_one_more_layer_adds_exactly_that_layer(
    model_type: str, raw: dict[str, Any], models: list[Model], listings: list[list[Row]]
) -> None:
    for key, depth in depths(model_type, raw):
        names = [one.class_name for one in models]
        try:
            fewer = models if raw.get(key) == depth else [model({**raw, key: depth}, name) for name in names]
            more = [model({**raw, key: depth + 1}, name) for name in names]
        except ConfigError:  # a list of layer kinds that has another length
            continue
        for one, other, rows in zip(fewer, more, listings, strict=True):
            assert_layer_added(one, other, rows if fewer is models else one.tensors())


NEVER_TIED = ("csm_depth_decoder_model",)
"""Types whose config class refuses to tie."""


def assert_a_tie_subtracts_exactly_its_tensors(
    model_type: str, raw: dict[str, Any], models: list[Model], listings: list[list[Row]]
) -> None:
    if not any(field.word == "tied" and field.key for field in family(model_type).fields):
        return
    stated = raw.get("tie_word_embeddings")
    if model_type in NEVER_TIED:
        with pytest.raises(ConfigError):
            model({**raw, "tie_word_embeddings": True})
        return
    for weighed, own in zip(models, listings, strict=True):
        counts, rows = {}, {}
        for switch in (True, False):
            other = weighed if stated is switch else model({**raw, "tie_word_embeddings": switch}, weighed.class_name)
            counts[switch], rows[switch] = other.count().unique, own if stated is switch else other.tensors()
        before = {row.name: row for row in rows[False]}
        saved = [before[row.name].count for row in rows[True] if row.tied_to is not None and before[row.name].tied_to is None]
        assert counts[False] - counts[True] == sum_of(saved)


def depths(model_type: str, raw: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the key of each count of layers, with its value."""
    known = family(model_type)
    sizes = bind(known.fields, raw)
    for field in known.fields:
        if field.kind == "size" and (field.word == "layers" or field.word.endswith("_layers")):
            value = getattr(sizes, field.word)
            if isinstance(value, int):
                yield field.key, value


def assert_layer_added(one: Model, other: Model, rows: list[Row]) -> None:
    """Hold two models that differ by a layer to each other: what is new is all that is more, the rest is untouched."""
    before = {row.name: row for row in rows}
    after = {row.name: row for row in other.tensors()}
    kept = [name for name in before if after.get(name) == before[name]]
    if len(kept) != len(before):  # the last layer is another one: only totals can be held to each other
        return
    new = [row.count for name, row in after.items() if name not in before and row.tied_to is None and row.role != "buffer"]
    assert other.count().unique - one.count().unique == sum_of(new)


def assert_written_out(ints: Part, symbolic: Part, values: dict[str, int], where: str) -> None:
    """Layers that are another model's storage stand one by one where their number is known, for each of their tensors names its owner."""

    def copies(tree: Part) -> Counter[str]:
        found: Counter[str] = Counter()
        for child in tree.children:
            repeat = number(child.repeat, values) if isinstance(child, Part) else None
            assert repeat is None or isinstance(repeat, int), where
            found[child.name] += 1 if repeat is None else repeat
        return found

    assert copies(ints) == copies(symbolic), where
    assert all(row.tied_to for row in list_rows(ints) if row.role != "buffer"), where


def assert_same(ints: Part, symbolic: Part, values: dict[str, int], where: str) -> None:
    """Hold a tree of symbols to a tree of ints, node for node."""
    if len(ints.children) != len(symbolic.children):
        assert_written_out(ints, symbolic, values, where)
        return
    assert number(symbolic.repeat, values) == ints.repeat, where
    assert ints.executions == (symbolic.executions if isinstance(symbolic.executions, str) else number(symbolic.executions, values)), where
    assert (ints.name, ints.kind) == (symbolic.name, symbolic.kind)
    assert_same_length(ints.stream, symbolic.stream, values, where)
    for left, right in zip(ints.children, symbolic.children, strict=True):
        here = f"{where}.{left.name}"
        match left, right:
            case [Part(), Part()]:
                assert_same(left, right, values, here)
            case [Tensor(), Tensor()]:
                assert left._replace(shape=()) == right._replace(shape=()), here
                assert left.shape == tuple(number(size, values) for size in right.shape), here
            case [Attend(), Attend()]:
                for size, symbol in zip(sizes(left), sizes(right), strict=True):
                    assert size == number(symbol, values), here
                for stream, other in ((left.queries, right.queries), (left.keys, right.keys), (left.groups, right.groups)):
                    assert_same_length(stream, other, values, here)
            case [Matmul(), Matmul()]:
                for factors, others in zip(left.products, right.products, strict=True):
                    for factor, other in zip(factors, others, strict=True):
                        assert_same_length(factor, other, values, here)
            case [State(), State()]:
                assert left.size == number(right.size, values), here
            case _:
                raise AssertionError(f"{here}: {type(left).__name__} against {type(right).__name__}")


def sizes(node: Attend) -> tuple[Size | None, ...]:
    """Return the sizes of attention."""
    return (node.heads, node.kv_heads, node.head_dim, node.value_dim, node.window, node.windowed, node.cache)


def assert_same_length(ints: Stream | None, symbolic: Stream | None, values: dict[str, int], where: str) -> None:
    """Hold a length of ints to one of symbols: they have one value, or are refused for one reason."""
    assert (ints is None) == (symbolic is None), where
    if ints is None or symbolic is None:
        return
    assert repr(with_numbers(symbolic, values)) == repr(ints), where


def with_numbers(stream: Stream, values: dict[str, int]) -> Stream:
    """Put the numbers into a length's sizes."""
    if isinstance(stream, str):
        return stream
    if isinstance(stream, Length):
        return Length(stream.operation, tuple(with_numbers(operand, values) for operand in stream.operands), stream.note)
    return evaluate(stream, values)


def number(size: Size | None, values: dict[str, int]) -> Size | None:
    """Put the numbers into one size."""
    return None if size is None else evaluate(size, values)


def sum_of(counts: list[Size]) -> int:
    """Add up counts that are ints."""
    total = 0
    for count in counts:
        assert type(count) is int
        total += count
    return total


def test_the_probe_refuses_to_be_looked_at() -> None:
    probe: Any = Probe()
    assert isinstance(product((probe + 1, 2 * probe, probe // 3, 4 - probe)), Probe)
    for look in (
        lambda: probe == 1,
        lambda: bool(probe),
        lambda: range(probe),
        lambda: max(probe, 1),
        lambda: int(probe),
        lambda: probe % 2,
    ):
        with pytest.raises(AssertionError, match="asks what a size is"):
            look()


def test_the_probe_law_catches_a_blueprint_that_looks() -> None:
    def cheat(c: Config) -> Part:
        return Part("", (Tensor("weight", (c.hidden if c.hidden > 8 else 8,)),))

    with pytest.raises(AssertionError, match="asks what a size is"):
        cheat(Config(hidden=Probe()))
    assert tally(cheat(Config(hidden=9))).unique == 9


def test_a_letter_stands_for_one_key() -> None:
    """Two sizes of one letter would be one in every formula; the height and the width of one key may share it."""
    for model_type in TYPES:
        keys: dict[str, str] = {}
        for field in family(model_type).fields:
            if field.letter:
                assert keys.setdefault(field.letter, field.key) == field.key, (model_type, field.letter)
