"""Designs within a budget: each is weighed again, and none is missed."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import weighbridge
from weighbridge.core.errors import UsageError
from weighbridge.core.sizes import as_int
from weighbridge.designs.advice import advise, compute_optimal_tokens
from weighbridge.designs.budget import Budget, parse_budget
from weighbridge.designs.costs import Workload, inputs_of
from weighbridge.designs.front import pareto_front
from weighbridge.designs.search import design
from weighbridge.designs.space import ConfigTemplate, Space
from weighbridge.designs.sweep import parse_range, sweep


def plain_count(config: dict[str, object]) -> int:
    return as_int(weighbridge.count(config).unique)


@pytest.mark.parametrize("model_type", ["bert", "llama", "gpt2", "t5", "mixtral", "jamba", "gemma3_text", "qwen3", "opt", "mamba", "vit"])
def test_every_design_weighs_what_it_says(model_type: str) -> None:
    found = design(weighbridge.model({"model_type": model_type}), parse_budget("300M±2%"), Space(layers=(2, 40)), limit=8)
    assert found.designs
    for entry in found.designs:
        assert plain_count(entry.config) == entry.parameters
        assert found.budget.holds(entry.parameters)
        assert entry.config["architectures"] == [found.class_name]


def test_no_design_is_missed() -> None:
    budget = parse_budget("3M±5%")
    space = Space(multiple_of=32, head_dim=32, vocab=500, layers=(1, 12), mlp_ratio=(Fraction(1), Fraction(4)))
    found = design(weighbridge.model({"model_type": "llama"}), budget, space, limit=10_000)
    expected = set()
    for hidden in range(32, 545, 32):
        for mlp in range(hidden, 4 * hidden + 1, 32):
            for layers in range(1, 13):
                heads = hidden // 32
                config = {
                    "model_type": "llama",
                    "hidden_size": hidden,
                    "intermediate_size": mlp,
                    "num_hidden_layers": layers,
                    "num_attention_heads": heads,
                    "num_key_value_heads": heads,
                    "head_dim": 32,
                    "vocab_size": 500,
                }
                if budget.holds(plain_count(config)):
                    expected.add((hidden, mlp, layers))
    assert {
        (entry.config["hidden_size"], entry.config["intermediate_size"], entry.config["num_hidden_layers"])
        for entry in found.designs
        if entry.config["hidden_size"] <= 544
    } == expected
    assert found.within == len(found.designs) >= len(expected) > 5


def test_grouped_queries_and_head_width_are_kept() -> None:
    found = design(weighbridge.model({"model_type": "llama"}), parse_budget("124M±0.5%"), Space(128, 64, 4, 32000))
    assert found.designs
    for entry in found.designs:
        config = entry.config
        assert config["hidden_size"] == config["num_attention_heads"] * 64
        assert config["num_attention_heads"] == 4 * config["num_key_value_heads"]
        assert config["hidden_size"] % 128 == config["intermediate_size"] % 128 == 0
        assert config["vocab_size"] == 32000


def test_limits_leave_out_what_costs_too_much() -> None:
    like = weighbridge.model({"model_type": "mixtral"})
    free = design(like, parse_budget("2B±2%"), limit=400)
    most = sorted(entry.measured["active"] for entry in free.designs)[len(free.designs) // 2]
    bound = design(like, parse_budget("2B±2%"), limits={"active": most}, limit=400)
    assert bound.designs
    assert max(entry.measured["active"] for entry in bound.designs) <= most


def test_orders_are_orders() -> None:
    like = weighbridge.model({"model_type": "bert"})
    deep = design(like, parse_budget("110M±2%"), sort="depth").designs
    layers = [entry.config["num_hidden_layers"] for entry in deep]
    assert layers == sorted(layers, reverse=True)
    found = design(like, parse_budget("110M±2%"), sort="flops")
    cheap = [entry.measured["flops"] for entry in found.designs]
    assert cheap == sorted(cheap)
    assert cheap[0] == min(row.flops for row in (*found.front, *found.others))
    assert found.designs[0].pareto


@given(costs=st.lists(st.tuples(*[st.integers(0, 6)] * 3), max_size=40))
def test_the_front_is_what_no_other_one_beats(costs: list[tuple[int, int, int]]) -> None:
    beaten = {
        index
        for index, one in enumerate(costs)
        if any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in costs)
    }
    assert pareto_front(costs) == set(range(len(costs))) - beaten


@pytest.mark.parametrize(
    ("model_type", "part"),
    [
        ("clip", None),
        ("clip", "vision_config"),
        ("blip", None),
        pytest.param("llava", None, marks=pytest.mark.sweep),
        ("siglip", None),
        ("detr", None),
        ("bart", None),
        ("shieldgemma2", None),
        ("whisper", None),
        pytest.param("qwen3_vl", None, marks=pytest.mark.sweep),
        ("gemma3_text", None),
    ],
)
def test_every_row_of_models_of_several_sizes_is_what_the_tree_counts(model_type: str, part: str | None) -> None:
    like = weighbridge.model({"model_type": model_type})
    aim = as_int(like.count().unique)
    found = design(like, Budget(aim, aim * 98 // 100, aim * 102 // 100), Space(multiple_of=128, part=part), limit=3)
    assert found.designs
    assert found.part == (part or ("text_config" if model_type in ("clip", "blip", "llava", "siglip", "shieldgemma2", "qwen3_vl") else ""))
    for entry in found.designs:
        assert plain_count(entry.config) == entry.parameters
        assert found.budget.holds(entry.parameters)
    rows = Random(1).sample([*found.front, *found.others], min(4, len(found.front) + len(found.others)))
    drawing = ConfigTemplate(like, Space(multiple_of=128, part=part))
    for row in rows:
        weighed = weighbridge.model(drawing.config(row.hidden, row.mlp or None, row.layers))
        counts = weighed.count()
        assert (counts.unique, counts.active) == (row.parameters, row.active)
        if row.cache:
            assert weighed.cache(seq=inputs_of(like, Workload()).seq).per_token == row.cache


def test_a_part_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="it has text_config, vision_config"):
        design(weighbridge.model({"model_type": "clip"}), parse_budget("1M"), Space(part="audio_config"))
    with pytest.raises(UsageError, match="nothing to search"):
        design(weighbridge.model({"model_type": "resnet"}), parse_budget("1M"))


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Space(multiple_of=0), "multiple-of: expected a whole number from 1 up"),
        (Space(gqa=4), "gqa: bert has no key-value heads of its own"),
        (Space(layers=(5, 2)), "layers: expected a range within 1 to 10,000"),
        (Space(mlp_ratio=(Fraction(0), Fraction(4))), "mlp-ratio: expected a range"),
    ],
)
def test_impossible_spaces_are_refused(space: Space, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        design(weighbridge.model({"model_type": "bert"}), parse_budget("10M"), space)
    assert message in str(caught.value)


def test_an_unknown_order_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean depth"):
        design(weighbridge.model({"model_type": "bert"}), parse_budget("10M"), sort="dept")


def test_advice_is_judged_from_the_sizes() -> None:
    judged = {entry.key: entry.follows for entry in advise({"hidden": 768, "layers": 12, "heads": 12, "mlp": 3072, "vocab": 50257})}
    assert judged == {"vocabulary": False, "head": True, "width": True, "mlp": True, "depth": False}


def test_fits_suggest_tokens_for_the_n_they_mean() -> None:
    fits = {entry.fit: entry.tokens for entry in compute_optimal_tokens(70 * 10**9, 69 * 10**9, 6 * 69 * 10**9)}
    assert fits["Hoffmann et al. 2022"] == 1_400_000_000_000
    assert fits["MiniCPM 2024"] == 192 * 69 * 10**9
    assert len(fits) == 4


def test_a_sweep_counts_every_combination() -> None:
    found = sweep(weighbridge.model("bert-base-uncased"), {"hidden_size": range(240, 1000, 12), "num_hidden_layers": [2, 12]})
    assert len(found.rows) == 2 * len(range(240, 1000, 12))
    for row in found.rows[::9]:
        sizes = {key: row[key] for key in ("hidden_size", "num_hidden_layers")}
        assert row["parameters"] == weighbridge.count("bert-base-uncased", overrides=sizes).unique


def test_a_sweep_leaves_out_what_makes_no_model_and_says_so() -> None:
    found = sweep(weighbridge.model("bert-base-uncased"), {"hidden_size": [768, 770, 780]})
    assert [row["hidden_size"] for row in found.rows] == [768, 780]
    assert found.refusals == 1
    assert found.refused[0][0] == {"hidden_size": 770}
    assert found.doublings[0].after == weighbridge.count("bert-base-uncased", overrides={"hidden_size": 1536}).unique


@pytest.mark.parametrize("text", ["", "a:b", "5:2", "1:2:0", "1:9999999999", "1.5", "1,,2", "-1:4"])
def test_ranges_that_cannot_be_meant_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_range(text, "hidden_size")
