"""Numbers as people write them: what every unit stands for, and which interval digits, decimals and zeros at the end leave open."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.conventions.rounding import readings
from weighbridge.core.errors import UsageError

POWERS = {
    "thousand": 3, "千": 3, "万": 4, "萬": 4, "mm": 6, "mio": 6, "million": 6, "millions": 6, "百万": 6, "兆": 6, "千万": 7, "亿": 8, "億": 8,
    "bn": 9, "billion": 9, "billions": 9, "十亿": 9, "百亿": 10, "千亿": 11, "t": 12, "trillion": 12, "万亿": 12, "K": 3, "M": 6, "B": 9, "G": 9,
}  # fmt: skip
BINARY = {"KB": 10, "KiB": 10, "Ki": 10, "MB": 20, "MiB": 20, "Mi": 20, "GB": 30, "GiB": 30, "Gi": 30}
BOTH = {"K": 2**10, "M": 2**20, "G": 2**30, "B": 2**30}


@pytest.mark.parametrize(("unit", "power"), POWERS.items())
def test_decimal_units(unit: str, power: int) -> None:
    first = readings(f"7.25 {unit}")[0]
    assert (first.value, first.unit, first.cost) == (Fraction(725, 100) * 10**power, 10**power, 0)


@pytest.mark.parametrize(("unit", "power"), BINARY.items())
def test_binary_units(unit: str, power: int) -> None:
    first = readings(f"7.25{unit}")[0]
    assert (first.value, first.unit, first.cost) == (Fraction(725, 100) * 2**power, 2**power, 0)


@pytest.mark.parametrize(("unit", "size"), BOTH.items())
def test_a_letter_may_be_binary_too_but_that_is_further_fetched(unit: str, size: int) -> None:
    found = readings(f"7.25{unit}")
    assert min(reading.cost for reading in found if reading.unit == size) == 1
    assert {reading.unit for reading in readings("7.25T")} == {10**12}
    assert {reading.unit for reading in readings("7.25MiB")} == {2**20}


@given(st.integers(0, 10**6), st.integers(0, 4))
def test_decimals_leave_half_a_step_open(digits: int, decimals: int) -> None:
    """All whole numbers that are rounded to what is written, and no other, lie between low and high."""
    text = f"{Fraction(digits, 10**decimals).__float__():.{decimals}f}M"
    rounded = next(reading for reading in readings(text) if reading.unit == 10**6 and reading.how in ("rounded", "exact"))
    step = Fraction(10**6, 10**decimals)
    middle = Fraction(digits, 10**decimals) * 10**6
    for number in (rounded.low - 1, rounded.low, rounded.high, rounded.high + 1):
        assert (abs(number - middle) <= step / 2) == (rounded.low <= number <= rounded.high)


@given(st.integers(1, 10**5), st.integers(1, 3))
def test_cut_off_digits_leave_a_whole_step_open_above(digits: int, decimals: int) -> None:
    text = f"{digits / 10**decimals:.{decimals}f}M"
    cut = next(reading for reading in readings(text) if reading.how == "truncated" and reading.unit == 10**6)
    assert (cut.low, cut.high - cut.low) == (digits * 10 ** (6 - decimals), 10 ** (6 - decimals))
    assert cut.cost == next(reading for reading in readings(text) if reading.how == "rounded").cost + 2


@pytest.mark.parametrize(
    ("text", "widths"),
    [
        ("110M", [10**7]),  # one zero may be rounding: 105 to 115 million
        ("100M", [10**7]),  # a whole digit of it would leave half of the number open
        ("1,200M", [10**7, 10**8]),
        ("345M", []),
        ("0.34B", []),
        ("130,000", [10**3, 10**4]),  # three zeros or more where no unit is written, and never more than a tenth
        ("13,000,000", [10**3, 10**4, 10**5, 10**6]),
        ("109,000,000", [10**3, 10**4, 10**5, 10**6]),
        ("109,482,000", [10**3]),
        ("5" + "0" * 13, [10**zeros for zeros in range(3, 10)]),  # more than nine zeros say nothing more
        ("109,482,240", []),
        ("109,482,200", []),
    ],
)
def test_zeros_at_the_end_may_be_rounding(text: str, widths: list[int]) -> None:
    found = [reading for reading in readings(text) if reading.how == "coarse" and reading.unit in (1, 10**6)]
    spans = [reading.high - reading.low for reading in found]
    assert spans == widths
    assert all(reading.low + reading.high == 2 * reading.value for reading in found)


def test_a_written_number_says_how_exact_it_is() -> None:
    assert [(reading.how, reading.low, reading.high) for reading in readings("109,482,240")] == [("exact", 109_482_240, 109_482_240)]
    assert readings("109.48224M")[0].how == "rounded"
    assert readings("109.482240M")[0].how == "exact"
    assert readings("1.5e3")[0].low == 1450
    assert readings("15e2")[0].value == readings("1,500")[0].value == 1500


def test_sixty_characters_are_read_and_no_more() -> None:
    assert readings("9" * 60)[0].value == 10**60 - 1
    with pytest.raises(UsageError, match="is not a number"):
        readings("9" * 61)


def test_readings_stand_most_natural_first() -> None:
    for text in ("110M", "1.1亿", "104M", "0.34B", "13,000,000"):
        costs = [reading.cost for reading in readings(text)]
        assert costs == sorted(costs) and costs[0] == 0
