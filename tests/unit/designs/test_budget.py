"""Budgets as people write them."""

from __future__ import annotations

import pytest

from weighbridge.core.errors import UsageError
from weighbridge.designs.budget import BYTES, Budget, parse_budget


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("80M", (80_000_000, 80_000_000, 80_000_000)),
        ("1.3B", (1_300_000_000,) * 3),
        ("109,482,240", (109_482_240,) * 3),
        ("8e9", (8_000_000_000,) * 3),
        ("1.1亿", (110_000_000,) * 3),
        ("7b", (7_000_000_000,) * 3),
        ("124M±0.5%", (124_000_000, 123_380_000, 124_620_000)),
        ("100 +- 1%", (100, 99, 101)),
        ("3 ± 50%", (3, 2, 4)),  # 1.5 to 4.5, whole numbers within
    ],
)
def test_numbers_are_read_exactly(text: str, expected: tuple[int, int, int]) -> None:
    assert parse_budget(text) == Budget(*expected)


@pytest.mark.parametrize(("text", "expected"), [("16MB", 16_000_000), ("24GiB", 24 * 2**30), ("64kib", 65536), ("1 B", 1)])
def test_bytes_have_their_own_units(text: str, expected: int) -> None:
    assert parse_budget(text, units=BYTES).target == expected


@pytest.mark.parametrize("text", ["", "M", "80X", "-5", "0", "1.5", "80M±", "80M±0.5", "±5%", "1,00", "9" * 50, "80M±0.5% or so", "1e999"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="params: expected a"):
        parse_budget(text)


def test_a_budget_holds_at_its_edges() -> None:
    budget = parse_budget("1000±1%")
    assert [budget.holds(value) for value in (989, 990, 1010, 1011)] == [False, True, True, False]
