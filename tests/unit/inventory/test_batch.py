"""Configs weighed as columns against the same configs weighed alone."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.shares import share
from weighbridge.blueprints import MODULES, family
from weighbridge.inventory.batch import FEWEST, rows_of_configs
from weighbridge.inventory.rows import row_of_config

PLAIN = sorted(name for name in MODULES if not any(field.kind == "nested" for field in family(name).fields))


def draw(model_type: str, rng: random.Random) -> dict[str, Any]:
    """Draw a config of small sizes; some make no model, and some say what others leave out."""
    known = family(model_type)
    raw: dict[str, Any] = {"model_type": model_type}
    for field in known.fields:
        if not field.key or rng.random() < 0.4:
            continue
        if field.kind == "size" and field.read is None:
            raw[field.key] = rng.choice([1, 2, 3, 4, 8, 16, 64])
        elif field.kind == "switch" and rng.random() < 0.2:
            raw[field.key] = rng.random() < 0.5
    if rng.random() < 0.5:
        raw["architectures"] = [rng.choice(sorted(known.classes))]
    if rng.random() < 0.1:
        raw["hidden_act"] = "prelu"
    return raw


@pytest.mark.parametrize("model_type", share(PLAIN, 10))
def test_grouped_rows_are_the_rows_of_each_alone(model_type: str) -> None:
    rng = random.Random(model_type)
    drawn = [draw(model_type, rng) for _ in range(2)]
    # As many of each layout as make a group; each with sizes of its own.
    sizes = [field.key for field in family(model_type).fields if field.kind == "size" and field.read is None]
    configs = []
    for number in range(2 * FEWEST):
        raw = dict(drawn[number % 2])
        for key in sizes:
            if key in raw:
                raw[key] = rng.choice([1, 2, 3, 4, 8, 16, 64])
        configs.append((f"config {number}", raw))
    rows = rows_of_configs(configs)
    assert [row["path"] for row in rows] == [path for path, _ in configs]
    for row, (path, raw) in zip(rows, configs, strict=True):
        assert row == row_of_config(raw, path)


def test_configs_alike_in_all_but_their_names_are_alike_in_their_rows() -> None:
    raw = {"model_type": "bert", "vocab_size": 100}
    rows = rows_of_configs([(name, dict(raw)) for name in "abcdefghijkl"])
    assert [row["path"] for row in rows] == list("abcdefghijkl")
    assert len({(row["unique"], row["fingerprint"]) for row in rows}) == 1


def test_a_fingerprint_is_of_sizes_not_of_how_they_are_written() -> None:
    short, long, other = rows_of_configs(
        [
            ("a", {"model_type": "gpt2"}),
            ("b", {"model_type": "gpt2", "n_embd": 768, "bos_token_id": 5}),
            ("c", {"model_type": "gpt2", "n_embd": 780}),
        ]
    )
    assert short["fingerprint"] == long["fingerprint"] != other["fingerprint"]


@pytest.mark.parametrize(
    ("raw", "status", "words"),
    [
        ({"model_type": "no_such"}, "unknown", "unknown model type 'no_such'"),
        ({"model_type": "bert", "architectures": ["NoSuch"]}, "unknown", "no class 'NoSuch'"),
        ({"model_type": "bert", "hidden_size": 770}, "error", "is not divisible by num_attention_heads (12)"),
        ({"model_type": "bert", "hidden_size": "768"}, "error", "expected a whole number"),
        ({"model_type": ["bert"]}, "error", "model_type: expected the name of a model type, such as \"bert\", found the list ['bert']"),
        ({"model_type": "bert", "vocab_size": 10**15, "hidden_size": 12 * 10**13}, "error", "does not fit 64 bits"),
        ({}, "error", "does not say what it is"),
    ],
)
def test_what_cannot_be_weighed_is_a_row_that_says_why(raw: dict[str, Any], status: str, words: str) -> None:
    for rows in (rows_of_configs([("x", raw)]), rows_of_configs([(str(number), dict(raw)) for number in range(20)])):
        for row in rows:
            assert row["status"] == status
            assert words in row["error"]
            assert "unique" not in row


@pytest.mark.parametrize(
    ("model_type", "unfit"),
    [
        ("llama", {"rope_theta": [1e4]}),
        ("llama", {"rope_scaling": {"rope_type": "longrope", "short_factor": [1.0] * 3, "long_factor": [1.0]}}),
        ("bert", {"hidden_dropout_prob": "0.1"}),
        ("bert", {"torch_dtype": "auto"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value),
)
def test_a_row_that_its_class_refuses_is_refused_among_many(model_type: str, unfit: dict[str, Any]) -> None:
    """Keys that decide no tensor may differ within a group, and are asked of each row."""
    for step in (0, 1):  # alike in all else, and of sizes of their own
        raws: list[dict[str, Any]] = [{"model_type": model_type, "vocab_size": 1000 + step * index} for index in range(10)]
        raws[4] |= unfit
        rows = rows_of_configs([(str(index), raw) for index, raw in enumerate(raws)])
        assert [row["status"] for row in rows] == ["ok"] * 4 + ["error"] + ["ok"] * 5
        assert rows[4] == rows_of_configs([("4", raws[4])])[0]
