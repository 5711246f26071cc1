"""``weigh models``: what can be weighed by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.commands import shared

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from weighbridge.report import Report

EXAMPLE = """example:
  weigh models
  weigh models bert --json
"""


def configure(parser: ArgumentParser) -> None:
    """Name the options."""
    parser.add_argument("filter", nargs="?", default="", metavar="WORD", help="only names and model types that contain WORD")
    parser.add_argument("--names", action="store_true", help="print the names of the presets alone, one a line")
    shared.output_options(parser)


def run(args: Namespace) -> int:
    """List presets and architectures."""
    from weighbridge import sources

    if args.names:
        print("\n".join(preset.name for preset in sources.presets() if args.filter in preset.name))
    elif args.json:
        shared.print_json(_json(args.filter))
    else:
        shared.show(_report(args.filter), args)
    return 0


def _json(word: str) -> dict[str, Any]:
    from weighbridge import sources
    from weighbridge.blueprints import MODULES, family
    from weighbridge.model import model

    entries = []
    for preset in sources.presets():
        if word in preset.name or word in preset.config["model_type"]:
            found = model(preset.name)
            entries.append({"name": preset.name, "hub": preset.hub or None, "class": found.class_name, "unique": found.count().unique,
                            "published": preset.published or None, "source": preset.source, "config": preset.config})  # fmt: skip
    types = [{"model_type": kind, "classes": list(family(kind).classes)} for kind in MODULES if word in kind]
    return {"presets": entries, "architectures": types}


def _report(word: str) -> Report:
    from weighbridge.report import Column, Report, Row, Table

    answer = _json(word)
    rows = [Row((entry["name"], entry["class"], entry["unique"], entry["published"] or "", entry["source"])) for entry in answer["presets"]]
    columns = (Column("preset"), Column("class"), Column("parameters", "integer"), Column("published"), Column("source of the config"))
    types = [Row((entry["model_type"], ", ".join(entry["classes"]))) for entry in answer["architectures"]]
    tables = (Table(columns, tuple(rows)), Table((Column("model type"), Column("classes")), tuple(types)))
    return Report(f"{len(rows)} presets, {len(types)} model types", tables=tables)
