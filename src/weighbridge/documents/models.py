"""The presets and architectures known, as a document and as JSON."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from weighbridge import blueprints
from weighbridge.accounts.parameters import unique_of
from weighbridge.blueprints import MODULES, family
from weighbridge.core.messages import Say, translator
from weighbridge.documents.document import Column, Document, Row, Table, notes
from weighbridge.load import load
from weighbridge.presets import presets


def as_json(word: str, *, model_type: str = "", least: int = 0, most: int | None = None) -> dict[str, Any]:
    """Return the presets and architectures whose name contains *word*.

    Args:
        word: In any case; the empty string is in every name.
        model_type: Only this type.
        least, most: Only presets with so many unique parameters.

    >>> [entry["name"] for entry in as_json("gpt2", model_type="gpt2", most=150_000_000)["presets"]][0]
    'gpt2'
    """
    entries: list[dict[str, Any]] = []
    wanted = word.lower()
    for preset in presets():
        kind = preset.config["model_type"]
        if (wanted in preset.name.lower() or wanted in kind) and model_type in ("", kind):
            found = load(preset.name)
            unique = unique_of(found)
            if least <= unique and (most is None or unique <= most):
                entries.append(
                    {
                        "name": preset.name,
                        "hub": preset.hub or None,
                        "class": found.class_name,
                        "unique": unique,
                        "published": preset.published or None,
                        "source": preset.source,
                        "config": preset.config,
                    }
                )
    types = [
        {"model_type": kind, "classes": list(family(kind).classes)}
        for kind in sorted(MODULES, key=lambda kind: _relevance(kind, wanted))
        if wanted in kind and model_type in ("", kind) and not least and most is None
    ]
    members = Counter(entry["config"]["model_type"] for entry in entries)
    first: dict[str, int] = {}
    for entry in entries:
        first.setdefault(_series(entry["name"]), len(first))
    entries.sort(key=lambda entry: (*_family_first(entry, wanted, members), first[_series(entry["name"])], entry["unique"]))
    return {"presets": entries, "architectures": types}


def _family_first(entry: dict[str, Any], wanted: str, members: Counter[str]) -> tuple[object, ...]:
    """Order presets by family: the one asked for, its versions, then those with most members; in a family those called so first."""
    kind, name = entry["config"]["model_type"], entry["name"].lower()
    rank = _relevance(kind, wanted)
    many = -members[kind] if wanted and rank[0] > 1 else 0
    return rank[0], many, rank, kind, not name.startswith(wanted), wanted not in name


def _series(name: str) -> str:
    """Return a preset's name without its size, which orders a series.

    >>> _series("llama-3.1-70b"), _series("t5-v1_1-xl")
    ('llama-3.1', 't5-v1_1')
    """
    return re.sub(r"[-_](\d+(\.\d+)?[bm]|tiny|mini|small|medium|base|large|huge|x+l)(?![a-z])", "", name.lower())


def _relevance(kind: str, wanted: str) -> tuple[int, list[tuple[int, str]]]:
    """Rank a model type for a search word: 0 equal, 1 a version of it, 2 starts with it, 3 contains it, 4 does not.

    >>> sorted(["squeezebert", "qwen3_moe", "qwen2", "qwen"], key=lambda kind: _relevance(kind, "qwen"))
    ['qwen', 'qwen2', 'qwen3_moe', 'squeezebert']
    """
    if not wanted:
        return 0, natural_order(kind)
    here = kind.find(wanted)
    rest = kind[here + len(wanted) :].strip("0123456789.-_") if here == 0 else ""
    return (4 if here < 0 else 3 if here else 2 if rest else 1 if kind != wanted else 0), natural_order(kind)


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders numbers in names by value and words alphabetically.

    >>> sorted(["llama-13b", "llama-7b", "llama-3-8b", "llama"], key=natural_order)
    ['llama', 'llama-3-8b', 'llama-7b', 'llama-13b']
    """
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in re.split(r"(\d+)", name.lower())]


def names(word: str) -> list[str]:
    """Return the names of the presets that contain *word*."""
    return [preset.name for preset in presets() if word.lower() in preset.name.lower()]


def document(answer: dict[str, Any], lang: str = "en", *, sources: bool = False, types: bool = True) -> Document:
    """Lay out what :func:`as_json` found: presets by model type, and the model types.

    Args:
        sources: Say where each config comes from.
        types: List the model types with their classes; else only how many there are.
    """
    say = translator(lang)
    found = answer["architectures"]
    title = say("presets: {presets}; model types: {types}").format(presets=f"{len(answer['presets']):,}", types=f"{len(found):,}")
    tables = [_presets(answer["presets"], say, sources=sources)]
    if types:
        rows = tuple(Row((entry["model_type"], ", ".join(entry["classes"]))) for entry in found)
        tables.append(Table((Column(say("model type")), Column(say("classes"))), rows))
    more = [] if types else [say("The model types and their classes: weigh models --types.")]
    return Document(title, "", (*(table for table in tables if table.rows), *notes(more)), lang)


def _presets(entries: list[dict[str, Any]], say: Say, *, sources: bool) -> Table:
    """Return the presets under their model types."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        groups.setdefault(entry["config"]["model_type"], []).append(entry)
    empty: tuple[str, ...] = ("",) * sources
    rows = []
    for kind, inside in groups.items():
        rows.append(Row((kind, "", None, "", *empty), strong=True))
        rows += [
            Row(
                (entry["name"], entry["class"], entry["unique"], entry["published"] or "", *((entry["source"],) if sources else ())),
                depth=1,
            )
            for entry in inside
        ]
    more = (Column(say("source of the config")),) * sources
    return Table(
        (Column(say("preset")), Column(say("class")), Column(say("parameters"), "integer"), Column(say("published")), *more), tuple(rows)
    )


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
