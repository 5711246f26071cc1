"""Columns: many configs at once, never a silent overflow."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import weighbridge
from tests.kinds import KINDS, types_of
from weighbridge.blueprints import family
from weighbridge.cli import main
from weighbridge.columns import LIMIT, Column, cache_per_token, column, count, measure
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError


@given(
    st.lists(st.tuples(st.integers(1, 200_000), st.integers(1, 64), st.integers(1, 100), st.integers(1, 20_000)), min_size=1, max_size=20)
)
@settings(max_examples=50, deadline=None)
def test_a_column_of_configs_counts_like_each_alone(rows: list[tuple[int, int, int, int]]) -> None:
    vocab, heads, layers, mlp = (list(values) for values in zip(*rows, strict=True))
    columns = {
        "vocab_size": vocab,
        "num_attention_heads": heads,
        "hidden_size": [64 * n for n in heads],
        "num_hidden_layers": layers,
        "intermediate_size": mlp,
    }
    alone = [
        weighbridge.count({"model_type": "bert", **{key: values[i] for key, values in columns.items()}}).unique for i in range(len(rows))
    ]
    assert count("bert", columns).tolist() == alone


def test_blocks_join_up() -> None:
    layers = np.arange(1, 100_001)
    counts = count("bert", {"num_hidden_layers": layers})
    assert counts.shape == (100_000,)
    assert set(np.diff(counts).tolist()) == {7_087_872}


def test_what_does_not_fit_64_bits_is_counted_in_python_ints() -> None:
    counts = count("bert", {"vocab_size": [30522, 10**15], "hidden_size": 120_000})
    alone = [weighbridge.count({"model_type": "bert", "vocab_size": vocab, "hidden_size": 120_000}).unique for vocab in (30522, 10**15)]
    assert counts.dtype == object
    assert counts.tolist() == alone
    assert max(counts.tolist()) > LIMIT


@pytest.mark.parametrize("sign", [1, -1])
def test_the_guard_is_exact_at_the_border(sign: int) -> None:
    edge = column([sign * 2**31, 1], minimum=-LIMIT)
    inside = edge * (2**32 - 1)
    assert (inside.values.dtype.kind, inside.values.tolist()) == ("i", [sign * 2**31 * (2**32 - 1), 2**32 - 1])
    outside = edge * 2**33
    assert (outside.values.dtype.kind, outside.values.tolist()) == ("O", [sign * 2**64, 2**33])
    crossing = column([10**15], "x") * 9000
    assert crossing.values.tolist() == [9 * 10**18]
    assert (crossing + crossing).values.tolist() == [18 * 10**18]
    assert (crossing + crossing - crossing).values.dtype == np.int64


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=8), st.integers(1, 10**6), st.integers(-(2**70), 2**70))
def test_bounds_hold_under_every_operation(values: list[int], small: int, any_number: int) -> None:
    size = column(values)
    results: list[tuple[Column, list[int]]] = [
        (size - small, [v - small for v in values]),
        (small - size, [small - v for v in values]),
        (size - size, [0 for v in values]),
        (size * (size - small), [v * (v - small) for v in values]),
        (size + any_number, [v + any_number for v in values]),
        (any_number * size, [v * any_number for v in values]),
        ((size - small) * (small - size), [-((v - small) ** 2) for v in values]),
        (any_number // size, [any_number // v for v in values]),
    ]
    for found, expected in results:
        assert found.values.tolist() == expected
        assert found.low <= min(expected)
        assert max(expected) <= found.high


def test_a_column_is_never_compared() -> None:
    for question in (bool, lambda size: size == size, lambda size: size < 3, int, range):
        with pytest.raises(TypeError, match="cannot be compared"):
            question(column([1, 2]))


FACTS = [
    ("jamba", {"num_hidden_layers": [32, 7, 64, 8, 33]}),
    ("nllb-moe", {"encoder_layers": [12, 24, 5], "decoder_layers": [1, 2, 3]}),
    ("recurrent_gemma", {"num_hidden_layers": [26, 52, 3]}),
    ("convbert", {"hidden_size": [768, 1536, 768], "embedding_size": [768, 768, 128]}),
    ("electra", {"embedding_size": [128, 256], "hidden_size": [256, 256]}),
    ("clip", {"text_config.hidden_size": [512, 64], "vision_config.num_hidden_layers": [12, 3]}),
    ("deepseek_v3", {"num_hidden_layers": [2, 61], "n_routed_experts": [64, 256]}),
]


@pytest.mark.parametrize(("model_type", "columns"), FACTS, ids=[name for name, _ in FACTS])
def test_what_sizes_decide_is_decided_row_by_row(model_type: str, columns: dict[str, list[int]]) -> None:
    rows = len(next(iter(columns.values())))
    alone = [
        weighbridge.count({"model_type": model_type}, family(model_type).base, {key: values[i] for key, values in columns.items()}).unique
        for i in range(rows)
    ]
    assert count(model_type, columns).tolist() == alone


@pytest.mark.parametrize("kind", KINDS)
def test_doubled_sizes_count_like_each_alone(kind: str) -> None:
    """Of every type, its layers and its hidden size, alone and doubled."""
    for model_type in types_of(kind):
        assert_doubled_sizes_count_like_each_alone(model_type)


def assert_doubled_sizes_count_like_each_alone(model_type: str) -> None:
    known = family(model_type)
    for word in ("layers", "hidden"):
        field = next((field for field in known.fields if field.word == word and field.kind == "size"), None)
        if field is None:
            continue
        try:
            own = weighbridge.model({"model_type": model_type}, known.base).description.sizes  # type: ignore[union-attr]
            values = [getattr(own, word), 2 * getattr(own, word)]
            alone = [weighbridge.count({"model_type": model_type, field.key: value}, known.base).unique for value in values]
        except (ConfigError, TypeError):
            continue  # its defaults make no model, or the double does not
        assert count(model_type, {field.key: values}).tolist() == alone, model_type


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"hidden_size": [768.0]}, "hidden_size: expected a column of whole numbers, found float64"),
        ({"hidden_size": [768, 0]}, "hidden_size: 0 in row 1 is not possible"),
        ({"hidden_size": [768, 770]}, "770 is not divisible by 12 in row 1"),
        ({"hidden_size": [768, 768], "vocab_size": [1]}, "columns of different lengths: [1, 2]"),
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


def test_accounts_beside_the_parameters() -> None:
    found = measure("mixtral", {"num_local_experts": [8, 16]}, ("parameters", "active", "buffers"), "MixtralForCausalLM")
    for row, experts in enumerate((8, 16)):
        alone = weighbridge.count({"model_type": "mixtral", "num_local_experts": experts}, "MixtralForCausalLM")
        assert [found[name][row] for name in found] == [alone.unique, alone.active, alone.buffers]


def test_an_unknown_account_is_named() -> None:
    with pytest.raises(UsageError, match=r"no account 'actve'; did you mean active\?"):
        measure("bert", {}, ("actve",))


def test_a_column_beside_its_alias_is_refused() -> None:
    with pytest.raises(ConfigError, match="both name the same field"):
        count("gpt2", {"n_embd": [768, 1536], "hidden_size": 768})


def test_more_chosen_than_there_are_is_told_row_by_row() -> None:
    experts = [1, 2, 8]
    found = measure(
        "mixtral", {"num_local_experts": experts, "num_experts_per_tok": 2, "num_hidden_layers": [1, 2, 3]}, ("parameters", "active")
    )
    for row, (number, layers) in enumerate(zip(experts, (1, 2, 3), strict=True)):
        counts = weighbridge.count(
            {"model_type": "mixtral", "num_local_experts": number, "num_experts_per_tok": 2, "num_hidden_layers": layers}
        )
        assert (found["parameters"][row], found["active"][row]) == (counts.unique, counts.active)


def test_an_account_that_compares_sizes_is_told_row_by_row() -> None:
    windows = [16, 64, 4096]
    found = measure("mistral", {"sliding_window": windows, "num_hidden_layers": [1, 2, 3]}, {"cache": cache_per_token(64)})["cache"]
    for row, (window, layers) in enumerate(zip(windows, (1, 2, 3), strict=True)):
        model = weighbridge.model({"model_type": "mistral", "sliding_window": window, "num_hidden_layers": layers})
        assert found[row] == model.cache(seq=64).per_token


@pytest.mark.parametrize(
    "words",
    ["design --like llama --params 124M±1%", "sweep bert-base-uncased --set num_hidden_layers=2:4"],
    ids=lambda words: words.split()[0],
)
def test_without_numpy_it_is_said_how_it_comes(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert main(words.split()) == 2
    assert capsys.readouterr().err == "weigh: counting many configs at a time needs NumPy: pip install 'weighbridge[columns]'\n"
