"""Tables of configs in every form, against each row weighed alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import weighbridge
from weighbridge.columns import cache_per_token, forward_flops, measure, measure_table, memory
from weighbridge.columns.frames import KINDS, kind_of
from weighbridge.core.errors import ConfigError, UsageError

TYPES = {"bert": "hidden_size", "gpt2": "n_embd", "llama": "hidden_size", "mixtral": "hidden_size", "gemma2": "hidden_size"}


def rows(seed: int, many: int = 60) -> dict[str, list[Any]]:
    """Draw a table in which types, classes, switches and what is left out are mixed."""
    rng = random.Random(seed)
    table: dict[str, list[Any]] = {"model_type": [], "class": [], "vocab_size": [], "num_hidden_layers": [], "tie_word_embeddings": []}
    for _ in range(many):
        model_type = rng.choice(sorted(TYPES))
        table["model_type"].append(model_type)
        table["class"].append(rng.choice([None, {"bert": "BertForMaskedLM", "gpt2": "GPT2LMHeadModel"}.get(model_type)]))
        table["vocab_size"].append(rng.choice([None, rng.randrange(10, 9999)]))
        table["num_hidden_layers"].append(rng.randrange(1, 9) if model_type != "gpt2" else None)
        table["tie_word_embeddings"].append(rng.choice([None, True, False]))
    return table


def alone(table: dict[str, list[Any]], row: int) -> weighbridge.Model:
    """Weigh one row."""
    raw = {key: values[row] for key, values in table.items() if values[row] is not None}
    return weighbridge.model({key: value for key, value in raw.items() if key != "class"}, raw.get("class"))


def in_form(table: dict[str, list[Any]], kind: str) -> Any:
    """Return a table as one of the kinds."""
    if kind == "numpy":
        return table
    if kind == "arrow":
        return pytest.importorskip("pyarrow").table(table)
    if kind == "polars":
        return pytest.importorskip("polars").DataFrame(table, strict=False)
    return pytest.importorskip("pandas").DataFrame(table)


def out_of(result: Any, name: str) -> list[int]:
    """Return a column of any table as ints."""
    column = result[name]
    values = column.to_pylist() if kind_of(result) == "arrow" else list(column)
    return [int(value) for value in values]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_weighed_as_alone(kind: str, seed: int) -> None:
    table = rows(seed)
    accounts = {"unique": weighbridge.columns.ACCOUNTS["parameters"], "flops": forward_flops(64), "cache": cache_per_token(100)}
    found = measure_table(in_form(table, kind), accounts)
    assert kind_of(found) == kind
    for row in range(len(table["vocab_size"])):
        model = alone(table, row)
        assert out_of(found, "unique")[row] == model.count().unique
        assert out_of(found, "flops")[row] == model.flops(seq=64).forward_matmul
        assert out_of(found, "cache")[row] == model.cache(seq=100).per_token


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", KINDS)
def test_what_does_not_fit_64_bits_goes_through_every_form(kind: str, to: str) -> None:
    table: dict[str, list[Any]] = {"model_type": ["bert", "bert"], "vocab_size": [10**15, 30522], "hidden_size": [120_000, 768]}
    found = measure_table(in_form(table, kind), ["parameters"], to=to)
    assert kind_of(found) == to
    assert out_of(found, "parameters") == [alone(table, row).count().unique for row in range(2)]


@pytest.mark.parametrize("model_type", ["bert", "llama", "mixtral", "gpt2", "t5"])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"dtype": "int4"},
        {"training": True},
        {"training": True, "dtype": "bfloat16", "precision": "mixed"},
        {"training": True, "optimizer": "adafactor"},
        {"training": True, "optimizer": "sgd", "precision": "amp"},
    ],
    ids=str,
)
def test_memory_of_columns_is_that_of_each(model_type: str, how: dict[str, Any]) -> None:
    vocabularies = [11, 500, 70001]
    found = measure(model_type, {"vocab_size": vocabularies}, {"bytes": memory(**how)})["bytes"].tolist()
    for vocab, number in zip(vocabularies, found, strict=True):
        one = weighbridge.model({"model_type": model_type, "vocab_size": vocab}).memory(**how)
        assert number == one.weights + one.buffers + one.gradients + one.master + one.optimizer


def test_errors_say_where() -> None:
    with pytest.raises(ConfigError, match="row 0: no model type"):
        measure_table({"vocab_size": [5]})
    with pytest.raises(ConfigError, match="of the rows from 1 on that are alike"):
        measure_table({"model_type": ["gpt2", "bert"], "hidden_size": [None, 7]})
    with pytest.raises(UsageError, match="a list is not a table"):
        measure_table([1])
    with pytest.raises(UsageError, match="expected one of numpy, arrow"):
        measure_table({"model_type": ["bert"]}, to="excel")
    with pytest.raises(ConfigError, match="different lengths"):
        measure_table({"model_type": ["bert", "bert"], "vocab_size": np.arange(3)})
