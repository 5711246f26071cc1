"""Folding names into the tree: equal numbered modules become one, and unfolding gives every name back."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.property.strategies import listings
from weighbridge.core.errors import ReadError
from weighbridge.core.fold import fold
from weighbridge.core.tree import Every, Part, Row, flatten


def row(name: str, *shape: int, role: str = "weight") -> Row:
    return Row(name, shape, role, None, None, False)


def parts(part: Part) -> list[Part]:
    return [child for child in part.children if isinstance(child, Part)]


def test_equal_layers_become_one() -> None:
    tree = fold([row(f"h.{n}.{name}.weight", 4, 4) for n in range(3) for name in ("a", "b")])
    (layer,) = parts(tree)
    assert (layer.name, layer.repeat, layer.indices, layer.kind) == ("h", 3, None, "layer")
    assert [child.name for child in parts(layer)] == ["a", "b"]


def test_unlike_layers_stand_where_they_stand() -> None:
    tree = fold([row(f"h.{n}.w.weight", 4, 8 if n % 2 else 4) for n in range(6)] + [row("h.6.w.weight", 4, 8), row("h.9.w.weight", 1)])
    assert [(part.repeat, part.indices) for part in parts(tree)] == [(3, Every(0, 2)), (4, (1, 3, 5, 6)), (1, Every(9, 1))]
    assert [found.name for found in flatten(tree)] == [f"h.{n}.w.weight" for n in (0, 1, 2, 3, 4, 5, 6, 9)]


def test_numbers_beside_names_keep_their_module() -> None:
    names = ["b.w", "b.norm.w", "b.0.w", "b.1.w", "0.w", "1.0.w", "1.1.w"]
    tree = fold([row(name, 2) for name in names])
    assert sorted(found.name for found in flatten(tree)) == sorted(names)


def test_experts_fold_inside_layers() -> None:
    tree = fold([row(f"layers.{n}.mlp.experts.{e}.w1.weight", 8, 4) for n in range(4) for e in range(8)])
    (layer,) = parts(tree)
    (experts,) = parts(parts(layer)[0])
    assert (layer.repeat, experts.name, experts.repeat) == (4, "experts", 8)


def test_a_tie_keeps_a_layer_apart() -> None:
    tied = Row("h.1.w", (2,), "weight", "h.0.w", None, False)
    assert [part.repeat for part in parts(fold([row("h.0.w", 2), tied, row("h.2.w", 2)]))] == [2, 1]


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ReadError, match=r"the name 'a\.w' stands twice"):
        fold([row("a.w", 2), row("a.w", 3)])


@given(listings)
def test_flatten_undoes_fold(tensors: dict[str, tuple[tuple[int, ...], str]]) -> None:
    """The law: nothing is lost, added or renamed."""
    rows = [row(name, *shape, role=role) for name, (shape, role) in tensors.items()]
    assert sorted(flatten(fold(rows))) == sorted(rows)


@pytest.mark.parametrize("names", [
    ["model.encoder.block.weight", "model.encoder.block.bias"],
    ["model.encoder.block.dense.weight", "model.encoder.norm.weight", "model.encoder.norm.bias"],
    ["visual.blocks.0.attention.query.weight", "visual.blocks.0.attention.key.weight", "visual.blocks.1.attention.query.weight",
     "visual.blocks.1.attention.key.weight"],
    ["a.bc.def.w", "a.bc.deg.w"],
])  # fmt: skip
def test_modules_that_hold_nothing_but_the_next_keep_their_names(names: list[str]) -> None:
    tree = fold([row(name, 2, 3) for name in names])
    assert sorted(found.name for found in flatten(tree)) == sorted(names)
