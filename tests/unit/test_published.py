"""The checkers of published figures themselves."""

from __future__ import annotations

import pytest

from tests.unit.published import is_met, is_rounded


@pytest.mark.parametrize(
    ("exact", "printed"),
    [(124_645_632, "125M"), (134_734_080, "134M"), (10_712_735_744, "10.7B"), (30_684_768, "30.7M"), (86_567_656, "86M")],
)
def test_a_figure_is_met(exact: int, printed: str) -> None:
    assert is_met(exact, printed)


@pytest.mark.parametrize(("exact", "printed"), [(126_000_000, "125M"), (124_645_632, "110M"), (86_567_656, "88M")])
def test_a_figure_is_not_met(exact: int, printed: str) -> None:
    assert not is_met(exact, printed)


def test_a_figure_that_is_cut_off_is_not_rounded() -> None:
    assert is_met(134_734_080, "134M") and not is_rounded(134_734_080, "134M")
    assert is_rounded(8_030_261_248, "8.0B") and not is_rounded(8_030_261_248, "8.1B")
