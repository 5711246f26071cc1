"""One function serves ints, symbols and columns: every count and all arithmetic, over random trees, is the same in all three.

The counts are also held against the plainest way to count: every tensor of every copy listed, then added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from operator import add, mul, sub
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import BATCH, LENGTHS, LETTERS, SYMBOLS, Made, blueprints, numbers, sizes, streams, tokens
from weighbridge.accounts.flops import flops
from weighbridge.accounts.ledger import entries, ledger
from weighbridge.accounts.parameters import PARAMETERS, Tally, count, tally
from weighbridge.columns.column import Column, column
from weighbridge.core.formula import evaluate as put_in
from weighbridge.core.length import evaluate, names
from weighbridge.core.polynomials import polynomial
from weighbridge.core.tree import Attend, Matmul, Part, Tensor
from weighbridge.explain.closed_form import closed_formula


def at(size: object, row: int) -> object:
    return int(size.values[row]) if isinstance(size, Column) else size


@given(blueprints(), numbers, numbers, tokens, st.integers(1, 9))
def test_the_laws_of_a_tree(blueprint: Made, values: dict[str, int], others: dict[str, int], lengths: dict[str, int], batch: int) -> None:
    """All laws over one drawn tree: to draw one takes longer than to hold it to them."""
    tree, lettered = blueprint(values), blueprint(SYMBOLS)
    assert_counts_are_the_same_in_letters(tree, lettered, values)
    assert_counts_are_the_same_in_columns(blueprint, values, others)
    assert_arithmetic_is_the_same_in_letters_and_columns(blueprint, values, lengths, batch)
    assert_counts_are_what_listing_every_tensor_gives(tree)
    assert_a_ledger_adds_up_at_every_level(tree)
    assert_a_closed_formula_keeps_the_count(tree, lettered, values)
    assert_arithmetic_is_what_a_second_witness_counts(tree, lengths, batch)


def assert_counts_are_the_same_in_letters(tree: Part, lettered: Part, values: dict[str, int]) -> None:
    counted, symbolic = tally(tree), tally(lettered)
    for field in Tally._fields:
        assert put_in(getattr(symbolic, field), values) == getattr(counted, field), field


def assert_counts_are_the_same_in_columns(blueprint: Made, first: dict[str, int], second: dict[str, int]) -> None:
    together = tally(blueprint({letter: column([first[letter], second[letter]]) for letter in LETTERS}))
    for row, values in enumerate((first, second)):
        alone = tally(blueprint(values))
        assert [at(size, row) for size in together] == list(alone)


def assert_arithmetic_is_the_same_in_letters_and_columns(
    blueprint: Made, values: dict[str, int], lengths: dict[str, int], batch: int
) -> None:
    counted = flops(blueprint(values), lengths, batch)
    lettered = flops(blueprint(SYMBOLS), LENGTHS, BATCH)
    together = flops(blueprint({letter: column([values[letter]]) for letter in LETTERS}), lengths, batch)
    for field in ("forward_matmul", "forward", "backward"):
        number = getattr(counted, field)
        assert put_in(getattr(lettered, field), {**values, **lengths, "B": batch}) == number, field
        assert at(getattr(together, field), 0) == number, field


def list_tensors(node: Part | Tensor, copies: int = 1) -> Iterator[tuple[Tensor, int, int, int]]:
    """Yield every tensor with its copies, and how many of how many experts each of them works on a token."""
    if isinstance(node, Tensor):
        yield node, copies, 1, 1
        return
    repeat = 1 if node.repeat is None else node.repeat
    assert isinstance(repeat, int)
    for child in node.children:
        if not isinstance(child, (Part, Tensor)):
            continue
        for tensor, number, active, experts in list_tensors(child, copies * repeat):
            if node.experts is None:
                yield tensor, number, active, experts
            else:
                assert isinstance(node.active, int)
                assert isinstance(node.experts, int)
                yield tensor, number, active * node.active, experts * node.experts


def assert_counts_are_what_listing_every_tensor_gives(tree: Part) -> None:
    found = [(tensor, number * prod(tensor.shape), active, experts) for tensor, number, active, experts in list_tensors(tree)]
    owned = [entry for entry in found if entry[0].tied_to is None]
    learned = [entry for entry in owned if entry[0].role != "buffer"]
    counted = tally(tree)
    assert counted.unique == count(tree) == sum(size for _, size, _, _ in learned)
    assert counted.buffers == sum(size for tensor, size, _, _ in owned if tensor.role == "buffer")
    assert counted.stored == sum(size for _, size, _, _ in owned)
    assert counted.trainable == sum(size for tensor, size, _, _ in learned if not tensor.frozen)
    assert counted.duplicated == sum(size for tensor, size, _, _ in found if tensor.tied_to or tensor.role != "buffer")
    assert counted.embedding == sum(size for tensor, size, _, _ in learned if tensor.role == "embedding")
    assert counted.unique == counted.embedding + counted.non_embedding
    assert counted.unique == counted.weight + counted.bias + counted.gain + counted.shift + counted.embedding
    assert counted.active == sum(size * active // experts for _, size, active, experts in learned)


def assert_a_ledger_adds_up_at_every_level(tree: Part) -> None:
    book = ledger(tree, PARAMETERS)
    assert book.amount == count(tree)
    for _, entry in entries(book):
        inside = [line.amount for line in entry.lines] + [child.amount for child in entry.children]
        assert entry.each == sum(inside)
        assert entry.amount == entry.times * entry.each


def assert_a_closed_formula_keeps_the_count(tree: Part, lettered: Part, values: dict[str, int]) -> None:
    book = ledger(lettered, PARAMETERS)
    formula = closed_formula(book)
    assert formula.polynomial() == polynomial(book.each)  # the root is one copy
    assert put_in(formula.expression(), values) == ledger(tree, PARAMETERS).each


@given(streams, tokens)
def test_a_length_is_the_same_in_numbers_and_in_letters(stream: object, lengths: dict[str, int]) -> None:
    known = {"one": 1, **lengths}
    assert put_in(evaluate(stream, {"one": 1, **LENGTHS}), lengths) == evaluate(stream, known)  # type: ignore[arg-type]
    assert names(stream) <= set(known)  # type: ignore[arg-type]


def multiply_adds(part: Part, lengths: dict[str, int], batch: int, stream: Any) -> Any:
    """Count multiply-adds one part at a time, written down anew: a second witness for the account."""
    if part.requires is not None and part.requires not in lengths:
        return 0
    stream = stream if part.stream is None else part.stream

    def long(of: Any) -> Any:
        return evaluate(stream if of is None else of, lengths)

    total: Any = 0
    for child in part.children:
        if isinstance(child, Tensor) and child.role == "weight":
            total += prod(child.shape) * long(None) * batch
        elif isinstance(child, Attend):
            pairs = long(child.queries) * long(child.keys) * long(child.groups)
            total += batch * pairs * child.heads * (child.head_dim + child.value_dim)
        elif isinstance(child, Matmul):
            total += batch * sum(prod(long(factor) for factor in factors) for factors in child.products)
        elif isinstance(child, Part):
            total += multiply_adds(child, lengths, batch, stream)
    often = long(part.executions) if part.executions is not None else 1 if part.repeat is None else part.repeat
    total *= often
    return total * part.active // part.experts if part.experts is not None and part.active is not None else total


def assert_arithmetic_is_what_a_second_witness_counts(tree: Part, lengths: dict[str, int], batch: int) -> None:
    known = {"one": 1, "batch": batch, **lengths}
    assert flops(tree, lengths, batch).forward_matmul == 2 * multiply_adds(tree, known, batch, "seq")


@given(st.lists(st.tuples(st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40)), min_size=1, max_size=6), st.data())
def test_a_columns_bounds_hold_under_every_operation(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    """Subtraction above all: the least of a difference is the least of the one less the most of the other."""

    def made(values: list[int]) -> Column:
        return Column(np.array(values, dtype=np.int64), min(values), max(values))

    left, right = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    number = data.draw(st.integers(-(2**40), 2**40))
    operations: list[Callable[[Any, Any], Any]] = [add, sub, mul]
    for operation in operations:
        for found, expected in (
            (operation(made(left), made(right)), [operation(a, b) for a, b in pairs]),
            (operation(made(left), number), [operation(a, number) for a in left]),
            (operation(number, made(left)), [operation(number, a) for a in left]),
        ):
            assert found.values.tolist() == expected
            assert found.low <= min(expected)
            assert found.high >= max(expected)


@given(sizes, numbers)
def test_a_size_is_the_same_in_numbers_and_in_letters(size: Made, values: dict[str, int]) -> None:
    assert put_in(size(SYMBOLS), values) == size(values)
    assert put_in(polynomial(size(SYMBOLS)).expression(), values) == size(values)
