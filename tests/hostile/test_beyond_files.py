"""Past the readers: texts for an audit, lines of words, and requests; seeded, so that what is found is found again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.hostile import Attack, answer, attacks, complaint
from tests.hostile import configs
from tests.hostile.acts import acts
from tests.hostile.articles import ARTICLES, NOTEBOOKS
from tests.hostile.judge import fault, weigh
from tests.hostile.lines import hostile_lines

PARTS = 4


@pytest.mark.parametrize(
    "name", ["ampersands", "a result behind brackets", "a count behind a line of signs", "formulas that are all alike"]
)
def test_signs_without_end_are_read_in_time(name: str, tmp_path: Path) -> None:
    (tmp_path / "article.md").write_text(ARTICLES[name], "utf-8")
    assert fault(weigh(["audit", str(tmp_path / "article.md")])) is None


@pytest.mark.sweep
@pytest.mark.parametrize("part", range(PARTS))
def test_an_audit_bears_every_text(part: int, tmp_path: Path) -> None:
    faults = {}
    for name, text in list(ARTICLES.items())[part::PARTS]:
        path = tmp_path / "article.md"
        path.write_text(text, "utf-8", "surrogatepass")
        for form in ("json", "markdown"):
            faults[f"{name}, {form}"] = fault(weigh(["audit", str(path), f"--{form}"]), form)
    assert {name: said for name, said in faults.items() if said} == {}


def test_an_audit_bears_every_notebook(tmp_path: Path) -> None:
    path = tmp_path / "notes.ipynb"
    for name, text in NOTEBOOKS.items():
        path.write_text(text)
        assert fault(weigh(["audit", str(path), "--json"]), "json") is None, name


@pytest.mark.parametrize("part", range(PARTS))
def test_the_command_line_bears_every_line(part: int) -> None:
    faults = {}
    for words in hostile_lines(120, part):
        found = weigh(words)
        said = fault(found, "text") if found.raised or found.code not in (0, 1) else None  # what is shown has tests of its own
        if said:
            faults[" ".join(words)[:300]] = said
    assert faults == {}


CALLS = (
    "count",
    "tensors",
    "explain",
    "formula",
    "counts",
    "reconcile",
    "flops",
    "cache",
    "memory",
    "fits",
    "parallel",
    "solve",
    "sweep",
    "quiz",
    "compare",
    "audit",
)


def run_apart(waited: Coroutine[Any, Any, Any]) -> Any:
    """Run on a thread of its own: a browser's tests leave a loop running on this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, waited).result()


@pytest.mark.parametrize("call", CALLS)
def test_a_call_bears_every_config(call: str) -> None:
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from weighbridge.web.app import create
    from weighbridge.web.middleware import Limits

    app = create(Limits(seconds=0))
    chosen = [config for config in configs.TEXTS if len(config.data) < 300_000]
    chosen = Random(call).sample(chosen, 12) + Random(call).sample(list(configs.values()), 25)
    more = {
        "number": "110M",
        "params": "4385920",
        "keys": "vocab_size",
        "set.vocab_size": "5:7",
        "text": "BERT has 110M parameters",
        "models": "bert-tiny,gpt2",
    }
    for config in chosen:
        body = json.dumps({"config": config.data.decode("utf-8", "replace"), **more}).encode()
        status, text = run_apart(answer(app, Attack("POST", f"/api/v1/{call}", body, (("content-type", "application/json"),))))
        assert complaint(status, text) is None, (config.name, text[:300])
        assert acts(text, "json") is None, config.name
        if call == "count" and isinstance(config.expected, int) and status == 200 and b"\\ufffd" not in body:
            assert json.loads(text)["parameters"]["unique"] > 0


def test_the_application_bears_hostile_requests() -> None:
    pytest.importorskip("starlette", reason="the extra web is not installed")
    from weighbridge.web.app import create
    from weighbridge.web.middleware import Limits

    app = create(Limits(seconds=0))

    async def run() -> list[tuple[Attack, int, str]]:
        return [(attack, *await answer(app, attack)) for attack in attacks(250, 20261122)]

    wrong = [(attack, complaint(status, text)) for attack, status, text in run_apart(run())]
    assert [(str(attack)[:500], said) for attack, said in wrong if said] == []
