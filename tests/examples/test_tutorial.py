"""The tutorial's pages are its templates with the figures of the recorded run, and what ``weigh`` prints today. Needs no torch."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from examples.sentiment.tutorial import PAGES, RECORD, page

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("lang", ["", ".zh"])
def test_the_pages_tell_of_the_recorded_run(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    record = json.loads(RECORD.read_text("utf-8"))
    written = (PAGES / f"tutorial-sentiment{lang}.md").read_text("utf-8")
    assert written == page(record, lang), "scripts/sentiment tutorial writes them anew"
    assert "{" not in re.sub(r"^>>> .*$", "", written, flags=re.M)
    assert (PAGES / "tutorial-sentiment.png").exists()


def test_both_languages_tell_the_same_figures() -> None:
    english, chinese = (re.findall(r"\d[\d,]*\d(?:\.\d+)?", page(json.loads(RECORD.read_text("utf-8")), lang)) for lang in ("", ".zh"))
    tables = [[figure for figure in found if len(figure) > 5] for found in (english, chinese)]
    assert set(tables[0]) == set(tables[1])


def test_every_prediction_of_the_record_holds() -> None:
    record = json.loads(RECORD.read_text("utf-8"))
    assert all(row["holds"] for row in record["run"]["rows"])
    assert all(one["predicted"] == one["parameters"] for one in record["heads"])
    assert all(one["predicted"] == one["learned"] for one in record["english"]["ways"])
