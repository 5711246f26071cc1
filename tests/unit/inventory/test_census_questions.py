"""Questions to a census: the ready ones, SQL of one's own, years."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from zipfile import ZipFile, ZipInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.unit.inventory.stores import BERT, safetensors, table, write
from weighbridge.core.errors import UsageError
from weighbridge.documents.census import answer_document
from weighbridge.documents.renderers import render
from weighbridge.inventory.query import QUESTIONS, Answer, ask
from weighbridge.inventory.run import census


def test_vocabularies_by_year_say_where_the_year_is_from(tmp_path: Path) -> None:
    records = [
        {"id": "a", "createdAt": "2019-05-01T00:00:00.000Z", "config": {"model_type": "bert"}},
        {"id": "b", "createdAt": "2023-05-01", "lastModified": "2024-01-01", "config": {"model_type": "llama"}},
        {"id": "c", "release_date": 2023, "config": {"model_type": "qwen2"}},
        {"id": "d", "config": {"model_type": "gpt2"}},
    ]
    (tmp_path / "hub.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    times = pa.array([datetime(2021, 2, 3, tzinfo=UTC)], pa.timestamp("ms", "UTC"))
    pq.write_table(pa.table({"config": ['{"model_type": "gpt2"}'], "created_at": times}), tmp_path / "dump.parquet")
    old = write(tmp_path / "store" / "config.json", BERT)
    os.utime(old, (1_500_000_000, 1_500_000_000))
    safetensors(tmp_path / "store2" / "x.safetensors", {"w": [3, 4]}, {"modelspec.date": "2022-12-31"})
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(ZipInfo("x/config.json", (2020, 1, 2, 3, 4, 6)), '{"model_type": "llama"}')
    sources = [str(tmp_path / name) for name in ("hub.jsonl", "dump.parquet", "store", "store2", "all.zip")]
    census(sources, tmp_path / "out", jobs=1)
    answer = ask(tmp_path / "out", "vocabulary")
    assert answer.columns == ("year", "year_from", "models", "multiples_of_64", "percent")
    assert answer.rows == (
        (2017, "file", 1, 0, 0.0),
        (2019, "record", 1, 0, 0.0),
        (2020, "file", 1, 1, 100.0),
        (2021, "record", 1, 0, 0.0),
        (2023, "record", 2, 2, 100.0),
        (None, None, 1, 0, 0.0),
    )
    years = {row["path"].rpartition("/")[2]: (row["year"], row["year_from"]) for row in table(tmp_path / "out")}
    assert years["x.safetensors"] == (2022, "metadata")


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_ready_question_has_an_answer(question: str, store: Path, tmp_path: Path) -> None:
    census([str(store)], tmp_path / "out", jobs=1)
    answer = ask(tmp_path / "out", question)
    assert answer.columns
    if question == "summary":
        assert set(answer.rows) == {("ok", 3), ("error", 3), ("unknown", 1)}
    if question == "largest":
        assert answer.rows[0][0].endswith("b/config.json")


@pytest.mark.parametrize(
    "sql",
    [
        "drop view census",
        "select 1; select 2",
        "copy census to 'x.csv'",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "with a as (select 1) insert into census select * from a",
        "select no_such from census",
        "install httpfs",
        "",
    ],
)
def test_a_census_is_only_read(sql: str, store: Path, tmp_path: Path) -> None:
    census([str(store)], tmp_path / "out", jobs=1)
    before = sorted(path.name for path in (tmp_path / "out").iterdir())
    with pytest.raises(UsageError):
        ask(tmp_path / "out", sql)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == before


def test_a_year_is_shown_as_a_year() -> None:
    shown = render(answer_document("vocabulary", Answer(("year", "models"), ((2023, 1_500), (None, 2)))), "csv")
    assert shown.splitlines()[1:] == ["2023,1500", ",2"]
    assert "2023   1,500" in render(answer_document("vocabulary", Answer(("year", "models"), ((2023, 1_500),))), "text")
