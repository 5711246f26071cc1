"""The five write-ups the project comes from: each slip found, once, and nothing else called wrong."""

from pathlib import Path

import pytest

from weighbridge.auditing import Audit, audit
from weighbridge.auditing.claims import say_reason

SEEDS = Path(__file__).parents[4] / "shared" / "seeds"
pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason="the five seeds are not beside this checkout")


def audited(number: str) -> Audit:
    (path,) = SEEDS.glob(f"{number}_*.txt")
    return audit(path.read_bytes(), name=path.name)


def slips(found: Audit) -> list[tuple[int, object, object, object]]:
    return [(claim.line, claim.value, claim.expected, claim.difference) for claim in found.wrong]


def parts(found: Audit) -> list[tuple[str, int]]:
    return [(left.what.sentence, left.count) for left in found.left_out]


def test_000_a_size_that_its_own_formulas_contradict() -> None:
    found = audited("000")
    assert [(c.line, c.kind, c.value, c.expected) for c in found.wrong] == [(16, "configuration", 3702, 3072)]
    arithmetic = [claim for claim in found.claims if claim.kind == "arithmetic"]
    assert len(arithmetic) == 10
    assert {claim.verdict for claim in arithmetic} == {"exact", "rounded", "convention"}
    binary = [claim for claim in arithmetic if "in units of 2^" in say_reason(claim.reason, str)]
    assert [claim.text.rpartition(" ")[2] for claim in binary] == ["M", "27M", "37.5KB", "54M", "104M"]
    assert (found.corrected, found.reference) == (108_808_704, 109_482_240)
    assert parts(found) == [("the pooler", 590_592), ("the linear biases", 82_944)]
    assert [(c.value, c.verdict) for c in found.claims if c.kind == "share"] == [(20, "rounded"), (80, "rounded")]


@pytest.mark.parametrize("number", ["001", "003"])
def test_001_and_003_are_all_right(number: str) -> None:
    found = audited(number)
    assert found.wrong == ()
    assert {claim.verdict for claim in found.claims} <= {"exact", "convention", "rounded"}
    assert len(found.claims) > 25


def test_001_every_tensor_is_held_against_the_model() -> None:
    assert sum(claim.text.startswith("bert.") and claim.verdict == "exact" for claim in audited("001").claims) == 21


def test_003_is_the_exact_count() -> None:
    found = audited("003")
    assert (found.corrected, found.reference, found.left_out) == (102_267_648, 102_267_648, ())
    assert found.model == "BertModel, bert-base-chinese"
    assert not [claim for claim in found.claims if claim.kind == "arithmetic" and claim.verdict != "exact"]


def test_002_two_formulas_are_wrong_and_two_things_are_noted() -> None:
    found = audited("002")
    assert [(c.line, c.value, c.expected) for c in found.wrong] == [(18, "3*H^2/A", "3*H^2"), (22, "8*H^2 + 2*H", "8*H^2 + 5*H")]
    assert [c.line for c in found.claims if c.verdict == "note"] == [18, 25]
    assert "H^2 + H" in say_reason(found.claims[5].reason, str)


def test_004_three_slips_and_what_carries_them_on() -> None:
    found = audited("004")
    assert slips(found) == [
        (33, 7_081_960, 7_080_960, 1_000),
        (39, 23_449_856, 23_440_896, 8_960),
        (63, 109_418_952, 109_417_952, 1_000),
    ]
    assert [(c.line, c.expected) for c in found.claims if c.verdict == "carried"] == [(49, 23_835_648), (57, 84_971_520), (59, 23_835_648)]
    assert (found.corrected, found.reference) == (109_396_992, 109_482_240)
    assert parts(found) == [("the linear biases", 83_712), ("the embedding norm", 1_536)]
    rounded = [(claim.value, claim.expected) for claim in found.claims if claim.kind == "total" and claim.verdict == "rounded"]
    assert rounded == [(110_000_000, 109_482_240)] * 2 + [(340_000_000, 335_141_888)] * 2
