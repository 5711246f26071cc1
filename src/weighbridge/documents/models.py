"""The presets and architectures known, as a document and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weighbridge import blueprints
from weighbridge.accounts.parameters import unique_of
from weighbridge.blueprints import MODULES, family
from weighbridge.core.messages import translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.load import load
from weighbridge.presets import presets


def as_json(word: str) -> dict[str, Any]:
    """Return the presets and architectures whose name contains *word*."""
    entries = []
    for preset in presets():
        if word in preset.name or word in preset.config["model_type"]:
            found = load(preset.name)
            entries.append({"name": preset.name, "hub": preset.hub or None, "class": found.class_name, "unique": unique_of(found),
                            "published": preset.published or None, "source": preset.source, "config": preset.config})  # fmt: skip
    types = [{"model_type": kind, "classes": list(family(kind).classes)} for kind in MODULES if word in kind]
    return {"presets": entries, "architectures": types}


def names(word: str) -> list[str]:
    """Return the names of the presets that contain *word*."""
    return [preset.name for preset in presets() if word in preset.name]


def document(answer: dict[str, Any], lang: str = "en") -> Document:
    """Lay out what :func:`as_json` found."""
    say = translator(lang)
    rows = [Row((entry["name"], entry["class"], entry["unique"], entry["published"] or "", entry["source"])) for entry in answer["presets"]]
    titles = ((say("preset"), "text"), (say("class"), "text"), (say("parameters"), "integer"), (say("published"), "text"))
    columns = (*(Column(title, kind) for title, kind in titles), Column(say("source of the config")))
    types = [Row((entry["model_type"], ", ".join(entry["classes"]))) for entry in answer["architectures"]]
    tables = (Table(columns, tuple(rows)), Table((Column(say("model type")), Column(say("classes"))), tuple(types)))
    title = say("presets: {presets}; model types: {types}").format(presets=len(rows), types=len(types))
    return Document(title, "", tuple(table for table in tables if table.rows), lang)


def coverage_json() -> dict[str, Any]:
    """Return on how many classes of the reference library the blueprints agree, as it was last measured.

    >>> sorted(coverage_json())[:2]
    ['by_type', 'classes']
    """
    path = Path(blueprints.__file__).with_name("coverage.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def coverage(word: str, lang: str = "en") -> Document:
    """Return the document of ``weigh models --coverage``: classes that agree tensor for tensor, of all that can be built."""
    say = translator(lang)
    found = coverage_json()
    rows = [Row((name, exact, of)) for name, (exact, of) in sorted(found["by_type"].items()) if word in name]
    columns = (Column(say("model type")), Column(say("agree"), "integer"), Column(say("can be built"), "integer"))
    note = say("{library}; {configs}; measured by {command}.").format(**{key: found[key] for key in ("library", "configs", "command")})
    numbers = {key: f"{found[key]:,}" for key in ("classes", "classes_exact", "types", "types_exact")}
    figure = say("{classes_exact} of {classes} classes agree").format(**numbers)
    title = say("all classes agree in {types_exact} of {types} model types").format(**numbers)
    return Document(title, figure, (Table(columns, tuple(rows)), *notes([note])), lang)
