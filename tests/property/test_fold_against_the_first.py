"""Folding gives what its first, plain version gave, which made a dictionary of dictionaries out of the names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.strategies import listings
from weighbridge.core import fold as folding
from weighbridge.core.fold import fold, is_index, kind_of, pieces
from weighbridge.core.tree import Every, Node, Part, Row, Tensor
from weighbridge.readers.roles import rank

RANKS = st.sampled_from([None, rank, len])


def plain(rows: list[Row], order: Callable[[str], int] | None) -> Part:
    """Fold without a thought for time and memory."""
    return Part("", _children([(pieces(row.name), row) for row in rows], order), "model")


def _children(named: list[tuple[list[str], Row]], order: Callable[[str], int] | None) -> tuple[Node, ...]:
    own: list[Node] = [Tensor(path[0], row.shape, row.role, row.tied_to, row.dtype, row.frozen) for path, row in named if len(path) == 1]
    below: dict[str, list[tuple[list[str], Row]]] = {}
    for path, row in named:
        if len(path) > 1:
            below.setdefault(path[0], []).append((path[1:], row))
    numbered: list[tuple[int, tuple[Node, ...]]] = []
    for piece in sorted(below, key=order) if order else below:
        grown = _children(below[piece], order)
        if is_index(piece):
            numbered.append((int(piece), grown))
        elif all(isinstance(child, Part) and not child.name for child in grown):
            own += [_part(piece, child.children, child) for child in grown if isinstance(child, Part)]
        else:
            own.append(_part(piece, grown, None))
    groups: list[tuple[tuple[Node, ...], list[int]]] = []
    for number, grown in sorted(numbered, key=lambda item: item[0]):
        alike = next((numbers for held, numbers in groups if held == grown), None)
        if alike is None:
            groups.append((grown, [number]))
        else:
            alike.append(number)
    return (*own, *(Part("", held, kind_of("", held), len(numbers), indices=_at(numbers)) for held, numbers in groups))


def _part(name: str, children: tuple[Node, ...], like: Part | None) -> Part:
    kind = kind_of(name, children)
    if like is None:
        return Part(name, children, kind)
    return Part(name, children, like.kind if kind == "block" else kind, like.repeat, indices=like.indices)


def _at(numbers: list[int]) -> Every | tuple[int, ...] | None:
    steps = {after - before for before, after in pairwise(numbers)} or {1}
    if len(steps) > 1:
        return tuple(numbers)
    return None if (numbers[0], min(steps)) == (0, 1) else Every(numbers[0], min(steps))


@settings(max_examples=400)
@given(listings, RANKS)
def test_any_names(tensors: dict[str, tuple[tuple[int, ...], str]], order: Callable[[str], int] | None) -> None:
    """The law: the same tree, to the last field."""
    rows = [Row(name, shape, role, None, None, False) for name, (shape, role) in tensors.items()]
    assert fold(rows, order) == plain(rows, order)


@given(st.integers(1, 4), st.integers(1, 4), st.sets(st.integers(0, 15), max_size=4))
def test_layers_with_experts_some_of_which_are_larger(layers: int, experts: int, larger: set[int]) -> None:
    """The law: as for any names, where many are alike."""
    rows = [
        Row(f"model.layers.{n}.mlp.experts.{e}.{side}.weight", (9, 4) if n * experts + e in larger else (8, 4), "weight", None, None, False)
        for n in range(layers)
        for e in range(experts)
        for side in ("up", "down")
    ]
    assert fold(rows) == plain(rows, None)


def test_names_of_more_modules_than_any_model_has_are_kept_whole() -> None:
    rows = [Row(".".join(f"p{n}" for _ in range(60)), (1,), "weight", None, None, False) for n in range(folding.MOST_MODULES // 59 + 1)]
    assert len(fold(rows).children) == len(rows)
    assert len(fold([row._replace(name=f"a.b.{row.name.replace('.', '-')}") for row in rows]).children) == 1
    assert len(fold(rows[:100]).children) == 100
    assert isinstance(fold(rows[:100]).children[0], Part)
    assert isinstance(fold(rows).children[0], Tensor)
