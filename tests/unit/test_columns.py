"""Columns: many configs at once, never a silent overflow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weighbridge
from weighbridge.columns import LIMIT, column, count
from weighbridge.core.errors import ConfigError, UnknownArchitecture


@given(
    st.lists(st.tuples(st.integers(1, 200_000), st.integers(1, 64), st.integers(1, 100), st.integers(1, 20_000)), min_size=1, max_size=20)
)
@settings(max_examples=50, deadline=None)
def test_a_column_of_configs_counts_like_each_alone(rows: list[tuple[int, int, int, int]]) -> None:
    vocab, heads, layers, mlp = (list(values) for values in zip(*rows, strict=True))
    columns = {
        "vocab_size": vocab, "num_attention_heads": heads, "hidden_size": [64 * n for n in heads],
        "num_hidden_layers": layers, "intermediate_size": mlp,
    }  # fmt: skip
    alone = [
        weighbridge.count({"model_type": "bert", **{key: values[i] for key, values in columns.items()}}).unique for i in range(len(rows))
    ]
    assert count("bert", columns).tolist() == alone


def test_blocks_join_up() -> None:
    layers = np.arange(1, 100_001)
    counts = count("bert", {"num_hidden_layers": layers})
    assert counts.shape == (100_000,)
    assert set(np.diff(counts).tolist()) == {7_087_872}


def test_what_does_not_fit_64_bits_raises() -> None:
    with pytest.raises(OverflowError, match="row 1 does not fit 64 bits"):
        count("bert", {"vocab_size": [30522, 10**15], "hidden_size": 120_000})


@pytest.mark.parametrize("sign", [1, -1])
def test_the_guard_is_exact_at_the_border(sign: int) -> None:
    edge = column([sign * 2**31, 1], minimum=-LIMIT)
    assert (edge * (2**32 - 1)).values.tolist() == [sign * 2**31 * (2**32 - 1), 2**32 - 1]
    with pytest.raises(OverflowError):
        edge * 2**33
    crossing = column([10**15], "x") * 9000
    assert crossing.values.tolist() == [9 * 10**18]
    with pytest.raises(OverflowError):
        crossing + crossing


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"hidden_size": [768.0]}, "hidden_size: expected a column of whole numbers, found float64"),
        ({"hidden_size": [768, 0]}, "hidden_size: 0 in row 1 is not possible"),
        ({"hidden_size": [768, 770]}, "770 does not divide exactly by 12 in row 1"),
        ({"hidden_size": [768, 768], "vocab_size": [1]}, "columns of unlike lengths: [1, 2]"),
        ({"tie_word_embeddings": [True]}, "tie_word_embeddings: only sizes can be columns"),
        ({"hidden_size": [10**16]}, "is not possible: sizes are 1 to"),
    ],
)
def test_columns_that_cannot_be_meant_are_refused(columns: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        count("bert", columns)
    assert message in str(caught.value)


def test_classes_and_switches_are_single() -> None:
    counts = count("bert", {"vocab_size": [30522], "tie_word_embeddings": False}, "BertForMaskedLM")
    assert counts.tolist() == [132_985_716]
    assert count("bert", {}).tolist() == [109_482_240]
    with pytest.raises(UnknownArchitecture):
        count("bert", {}, "Nope")
