"""The presets and architectures known, as a report and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbridge.documents.document import Report


def as_json(word: str) -> dict[str, Any]:
    """Return the presets and architectures whose name contains *word*."""
    from weighbridge.accounts.parameters import unique_of
    from weighbridge.blueprints import MODULES, family
    from weighbridge.load import load
    from weighbridge.presets import presets

    entries = []
    for preset in presets():
        if word in preset.name or word in preset.config["model_type"]:
            found = load(preset.name)
            entries.append({"name": preset.name, "hub": preset.hub or None, "class": found.class_name, "unique": unique_of(found),
                            "published": preset.published or None, "source": preset.source, "config": preset.config})  # fmt: skip
    types = [{"model_type": kind, "classes": list(family(kind).classes)} for kind in MODULES if word in kind]
    return {"presets": entries, "architectures": types}


def report(word: str) -> Report:
    """Return the report of ``weigh models``."""
    from weighbridge.documents.document import Column, Report, Row, Table

    answer = as_json(word)
    rows = [Row((entry["name"], entry["class"], entry["unique"], entry["published"] or "", entry["source"])) for entry in answer["presets"]]
    columns = (Column("preset"), Column("class"), Column("parameters", "integer"), Column("published"), Column("source of the config"))
    types = [Row((entry["model_type"], ", ".join(entry["classes"]))) for entry in answer["architectures"]]
    tables = (Table(columns, tuple(rows)), Table((Column("model type"), Column("classes")), tuple(types)))
    return Report(f"{len(rows)} presets, {len(types)} model types", tables=tables)


def coverage_json() -> dict[str, Any]:
    """Return on how many classes of the reference library the blueprints agree, as it was last measured.

    >>> sorted(coverage_json())[:2]
    ['by_type', 'classes']
    """
    import json
    from pathlib import Path

    from weighbridge import blueprints

    path = Path(blueprints.__file__).with_name("coverage.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def coverage_report(word: str) -> Report:
    """Return the report of ``weigh models --coverage``: classes that agree tensor for tensor, of all that can be built."""
    from weighbridge.documents.document import Column, Report, Row, Table

    found = coverage_json()
    rows = [Row((name, exact, of)) for name, (exact, of) in sorted(found["by_type"].items()) if word in name]
    columns = (Column("model type"), Column("agree", "integer"), Column("can be built", "integer"))
    notes = (f"{found['library']}; {found['configs']}; measured by {found['command']}.",)
    figure = f"{found['classes_exact']:,} of {found['classes']:,} classes agree"
    return Report(f"{found['types_exact']:,} of {found['types']:,} model types whole", figure, (Table(columns, tuple(rows)),), notes)
