"""Figures from logs and pages: ours is theirs, or the difference is explained."""

from __future__ import annotations

import pytest

from truth.published_lines import FURTHER, UNITS, Further
from weighbridge import model


@pytest.mark.parametrize("one", FURTHER, ids=lambda one: f"{one.source}, {one.figure}")
def test_a_published_figure_is_ours_or_explained(one: Further) -> None:
    ours = one.ask(model(one.source)) / UNITS[one.unit]
    assert abs(ours / one.value - 1) < 0.002 or one.why
