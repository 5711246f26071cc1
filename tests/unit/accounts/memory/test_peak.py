"""The peak of a training step, held to what torch's memory tracker measured of live classes under fake tensors, recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from weighbridge import model
from weighbridge.accounts.memory.optimizers import OPTIMIZERS
from weighbridge.accounts.memory.peak import STEPS, step_peak
from weighbridge.core.tree import Part, Tensor

RECORDED = Path(__file__).parents[3] / "costs" / "peaks.jsonl"
CASES: list[list[Any]] = [json.loads(line) for line in RECORDED.read_text().splitlines()[1:]]
assert CASES


@pytest.mark.parametrize("class_name", sorted({case[1] for case in CASES}))
def test_the_peak_is_within_five_percent_of_the_tracker_s(class_name: str) -> None:
    for _, name, config, lengths, how, expected in CASES:
        if name == class_name:
            found = model(config, class_name).memory(training=True, **lengths, **how)
            assert found.peak == pytest.approx(expected, rel=0.05), (config, lengths)


OTHER_WAYS = [json.loads(line) for line in (RECORDED.parent / "peaks_ways.jsonl").read_text().splitlines()[1:]]


def test_other_ways_to_run_are_within_five_percent_and_nearly_all_within_one() -> None:
    """Image models, experts, classes with idle parts, 16 bits, fused attention, dropout and layers that are computed again too."""
    assert len(OTHER_WAYS) > 400
    near = 0
    for _, class_name, config, lengths, how, expected in OTHER_WAYS:
        found = model(config, class_name).memory(training=True, **lengths, **how)
        assert found.peak == pytest.approx(expected, rel=0.05), (class_name, lengths, how)
        near += abs(found.peak / expected - 1) <= 0.01
    assert near > 0.9 * len(OTHER_WAYS)


def test_the_peak_holds_weights_states_and_gradients() -> None:
    found = model("bert-base-uncased").memory(training=True, batch=1, seq=8)
    assert found.peak is not None
    assert found.peak >= found.weights + found.gradients + found.optimizer


def test_more_tokens_and_less_computed_again_need_no_less() -> None:
    def peak(**how: Any) -> int:
        found = model("bert-base-uncased").memory(training=True, **{"batch": 16, "seq": 128, "attention": "eager", **how})
        assert found.peak is not None
        return found.peak

    assert peak(seq=64) < peak(seq=128) < peak(seq=256)
    assert peak(checkpointing="full") < peak(checkpointing="selective") < peak()


def test_without_training_there_is_no_peak() -> None:
    assert model("bert-base-uncased").memory().peak is None


def test_only_known_optimizers_make_new_tensors() -> None:
    assert set(STEPS) <= set(OPTIMIZERS)


def test_a_step_makes_nothing_for_what_is_not_learned() -> None:
    """Adam makes two temporaries of the largest parameter and holds one of the parameter before; frozen tables and buffers have no step."""
    learned = (Tensor("a", (10,)), Part("layer", (Tensor("b", (3, 4)),), repeat=2))
    tree = Part("", (Tensor("table", (100,), frozen=True), *learned, Tensor("counter", (50,), "buffer")))
    own, before = STEPS["adamw"]
    assert step_peak(tree, "adamw", 4) == 4 * (own * 12 + before * 10)
    assert step_peak(tree, "adamw", 4, together=True) == 4 * (10 + 2 * 12)
