"""Breakdowns: rows that add up to rows below them and to a total, with their shares; the one number that breaks them is wrong."""

import pytest

from weighbridge.auditing import audit

SIZING = """n_layer = 12
n_head = 12
n_embd = 768

name                 params     ratio (%)
embedding/position      786432     0.6325
embedding/token        38597376    31.0424
embedding              39383808    31.6749
attention/ln                768     0.0006
attention/kqv           1769472     1.4231
attention/proj           589824     0.4744
attention               2360064     1.8981
mlp/ln                      768     0.0006
mlp/ffw                 2359296     1.8975
mlp/proj                2359296     1.8975
mlp                     4719360     3.7956
block                   7079424     5.6937
transformer            84953088    68.3245
ln_f                        768     0.0006
dense                         0     0.0000
total                 124337664   100.0000
"""
PARTS = """| Part | Count |
|---|---|
| words | 600,000 |
| positions | 40,000 |
| embeddings | 640,000 |
| attention | 263,168 |
| feed-forward | 525,568 |
| one layer | 788,736 |
| head | 600,000 |
| total | 2,028,736 |
"""


def wrong(text: str) -> list[str]:
    return [claim.text for claim in audit(text.encode(), name="x.md").wrong]


def test_a_breakdown_that_closes_is_judged_whole() -> None:
    found = audit(SIZING.encode(), name="x.md")
    assert found.wrong == ()
    assert len(found.judged) >= 30
    assert wrong(PARTS) == []


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("39383808", "39383804"),
        ("1769472", "1969472"),
        ("2360064", "2860064"),
        ("4719360", "4719760"),
        ("7079424", "7779424"),
        ("84953088", "84753088"),
        ("124337664", "124317664"),
        ("38597376", "58597376"),
        ("31.0424", "51.0424"),
        ("0.4744", "0.0744"),
        ("68.3245", "60.3245"),
    ],
)
def test_the_number_that_breaks_the_sums_or_the_shares_is_wrong(right: str, slip: str) -> None:
    assert wrong(SIZING.replace(right, slip, 1)) == [slip]


@pytest.mark.parametrize(("right", "slip"), [("640,000", "690,000"), ("788,736", "788,936")])
def test_a_sum_in_a_table_without_shares_is_wrong(right: str, slip: str) -> None:
    assert wrong(PARTS.replace(right, slip, 1)) == [slip]


@pytest.mark.parametrize(
    "text",
    [
        PARTS.replace("| head | 600,000 |\n", ""),
        PARTS.replace("2,028,736", "2,100,000"),
        PARTS.replace("263,168", "265,168"),
        PARTS.replace("640,000", "690,000").replace("788,736", "788,936"),
        PARTS.replace("| total | 2,028,736 |\n", ""),
        PARTS.replace("788,736", "1,577,472").replace("one layer", "two layers"),
        SIZING.replace("31.6749", "31.7").replace("1.8981", "1.9"),
        SIZING.replace("ratio (%)", "time (s)").replace("31.0424", "12.5"),
        SIZING.replace("0.6325", "0.6324"),
        "| year | users |\n|---|---|\n| 2019 | 100 |\n| 2020 | 200 |\n| 2021 | 300 |\n| 2022 | 400 |\n| 2023 | 700 |\n| 2024 | 1300 |\n",
        "| split | rows |\n|---|---|\n| train | 8000 |\n| dev | 1000 |\n| test | 1000 |\n| all | 10000 |\n| seen | 9000 |\n",
        "| Model | Params |\n|---|---|\n| a | 125000000 |\n| b | 350000000 |\n| c | 760000000 |\n| d | 1300000000 |\n| e | 2700000000 |\n",
    ],
)
def test_what_does_not_add_up_to_one_slip_is_left_alone(text: str) -> None:
    assert wrong(text) == []
