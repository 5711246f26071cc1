"""Figures from logs and pages: ours is theirs, or the difference is explained."""

from __future__ import annotations

import pytest

from truth.published_lines import FURTHER, LINES, UNITS, Further, other_base
from weighbridge import model


@pytest.mark.parametrize("one", FURTHER, ids=lambda one: f"{one.source}, {one.figure}")
def test_a_published_figure_is_ours_or_explained(one: Further) -> None:
    ours = one.ask(model(one.source)) / UNITS[one.unit]
    assert abs(ours / one.value - 1) < 0.002 or one.why


def test_a_line_of_peft_that_the_model_alone_allows_is_ours() -> None:
    """Where all less trainable is the model, what is trained is ours too, but for lines whose settings are not those that were run."""
    asked = [(one, model(one.source, one.class_name or None).adapters(one.adapter)) for one in LINES]
    printed = [(one, found) for one, found in asked if not other_base(one, found.total - found.trainable)]
    equal = [one for one, found in printed if (one.trainable, one.total) == (found.trainable, found.total)]
    assert len(equal) == 9
    assert {one.file for one, _ in printed} - {one.file for one in equal} == OTHER_SETTINGS


OTHER_SETTINGS = {61194760030, 51803327137, 15165413707, 39531892432, 46438697320}
