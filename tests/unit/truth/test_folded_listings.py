"""Folding and unfolding of listings: nothing is lost, nothing is merged that differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import torch_names
from truth.fold import Folded, fold, read, unfold, write
from truth.listing import Line, of_rows
from weighbridge import model

lines = st.lists(
    st.builds(Line, torch_names, st.lists(st.integers(0, 99), max_size=3).map(tuple), st.none() | torch_names, st.booleans()), max_size=30
)


@given(lines)
def test_unfolding_gives_back_what_was_folded(listed: list[Line]) -> None:
    bodies: list[Folded] = []
    assert list(unfold(fold(listed, bodies), bodies)) == listed


def test_equal_layers_are_written_once() -> None:
    listed = of_rows(model("bert-large-uncased", "BertForPreTraining").tensors()).parameters
    bodies: list[Folded] = []
    folded = fold(listed, bodies)
    assert len(bodies) == 1
    assert ["bert.encoder.layer", "0-23", 0] in folded
    assert list(unfold(folded, bodies)) == list(listed)


def test_a_layer_that_differs_stands_apart() -> None:
    bodies: list[Folded] = []
    folded = fold([Line("h.0.w", (2,)), Line("h.1.w", (3,)), Line("h.2.w", (2,))], bodies)
    assert folded == [["h", "0", 0], ["h", "1", 1], ["h", "2", 0]]


def test_a_tie_inside_its_layer_is_relative_and_one_outside_is_not() -> None:
    bodies: list[Folded] = []
    listed = [Line("h.1.a", (2,)), Line("h.1.b", (2,), "h.1.a"), Line("h.1.c", (2,), "h.11.a")]
    assert list(unfold(fold(listed, bodies), bodies)) == listed
    assert bodies == [["a 2", "b 2 = #.a", "c 2 = h.11.a"]]


@pytest.mark.parametrize("text", ["w", "w 2x3 junk", "w 2x3 = a b"])
def test_what_is_no_line_is_refused(text: str) -> None:
    with pytest.raises((AssertionError, ValueError)):
        read(text)


def test_a_line_reads_as_it_is_written() -> None:
    line = Line("scale", (), "other.scale", True)
    assert write(line) == "scale - = other.scale frozen"
    assert read(write(line)) == line
