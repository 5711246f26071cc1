"""The treemap's rectangles: areas in proportion, none over another, and as near to squares as the paper's."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge.documents.renderers.treemap import Box, squarify


def aspect(box: Box) -> float:
    return max(box.width / box.height, box.height / box.width)


def test_the_example_of_the_paper() -> None:
    """Bruls, Huizing, van Wijk 2000, figures 3 and 4: 6, 6, 4, 3, 2, 2, 1 in a rectangle of 6 by 4."""
    found = squarify([6, 6, 4, 3, 2, 2, 1], Box(0, 0, 6, 4))
    sizes = [(round(box.width, 2), round(box.height, 2)) for box in found]
    assert sizes == [(3, 2), (3, 2), (1.71, 2.33), (1.29, 2.33), (1.2, 1.67), (1.2, 1.67), (0.6, 1.67)]
    assert max(map(aspect, found)) < 2.8


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=12).map(lambda found: sorted(found, reverse=True)),
    st.integers(10, 2000),
    st.integers(10, 2000),
)
@settings(max_examples=100, deadline=None)
def test_areas_are_in_proportion_and_lie_beside_each_other(amounts: list[int], width: int, height: int) -> None:
    boxes = squarify(amounts, Box(0, 0, width, height))
    for amount, box in zip(amounts, boxes, strict=True):
        assert box.width * box.height == pytest.approx(width * height * amount / sum(amounts), rel=1e-6)
        assert box.x >= -1e-6 and box.x + box.width <= width + 1e-6
        assert box.y >= -1e-6 and box.y + box.height <= height + 1e-6
    for one, other in combinations(boxes, 2):
        across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert across < 1e-6 or down < 1e-6


@pytest.mark.parametrize("number", range(2, 40))
def test_equal_amounts_are_near_to_squares(number: int) -> None:
    """In one strip the worst of *number* equal rectangles would be *number* times as long as wide."""
    boxes = squarify([1] * number, Box(0, 0, 600, 600))
    assert max(map(aspect, boxes)) <= 3
