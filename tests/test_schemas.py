"""What ``--json`` prints fits the committed schemas; a schema whose keys go or change their type has a new version."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from weighbridge.commands.table import TABLE

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))
schemas: Any = import_module("schemas")  # the folder of the site's scripts is no package

WITHOUT = frozenset({"report", "census", "serve", "completion", "man"})
"""Commands that print no JSON, or need files for it."""


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def committed_schema(command: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((schemas.FOLDER / f"{command}.json").read_text("utf-8"))
    return found


def test_every_command_with_json_has_a_schema() -> None:
    assert set(schemas.SAMPLES) | WITHOUT == {command.name for command in TABLE}
    assert {path.stem for path in schemas.FOLDER.glob("*.json")} == set(schemas.SAMPLES)


@pytest.mark.parametrize("command", schemas.SAMPLES)
def test_answers_fit_their_schema(command: str) -> None:
    schema = committed_schema(command)
    assert schema["version"] == schemas.VERSIONS.get(command, 1)
    for line in schemas.SAMPLES[command]:
        misfit = schemas.misfit(schemas.answer(line), schema)
        assert not misfit, (
            f"weigh {line} --json: {misfit}. Run docs/site/schemas.py; where a key went or changed its type, raise the version"
        )


@pytest.mark.parametrize("page", ["docs/json.md", "docs/zh/json.md"])
@pytest.mark.parametrize("command", schemas.SAMPLES)
def test_every_key_is_described(command: str, page: str) -> None:
    sections = (ROOT / page).read_text("utf-8").split("\n## `weigh ")
    section = next(text for text in sections if text.split()[0] == command)
    found = committed_schema(command)
    assert [key for key in found.get("items", found)["properties"] if f"`{key}`" not in section] == []


def test_a_misfit_is_found() -> None:
    schema = schemas.learn([{"value": 1, "names": ["a"]}])
    assert not schemas.misfit({"value": 2, "names": [], "new": None}, schema)
    assert schemas.misfit({"names": []}, schema) == "$: value missing"
    assert schemas.misfit({"value": "2", "names": []}, schema) == "$.value: string, expected integer"
    assert schemas.misfit({"value": 2, "names": [3]}, schema) == "$.names[0]: integer, expected string"
