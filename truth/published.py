"""Record how the reference library names what it saves: ``python -m truth.published``.

While it saves, the library turns the names and fusions of memory back to those of published files, module
by module. ``src/weighbridge/verification/published.json`` gets, for each class that we describe, the models inside it, the steps back of
each, which name of tied tensors is kept where that is not the first, and what is not saved.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import weighbridge
from truth.check import _configs, classes
from truth.live import RefusedError, live_class, versions
from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.core.errors import WeighbridgeError

TARGET = Path(__file__).parents[1] / "src" / "weighbridge" / "verification" / "published.json"
SILENT = {"PermuteForRope", "Interleave"}
"""Operations on numbers that leave every name and shape as it is."""

TOWERS = ("text_model", "vision_model")
"""What CLIP's towers and their kin had all their tensors under."""


def step(transform: Any) -> dict[str, Any] | None:
    """Return the way back of one step in our form.

    None where it is a prefix that only some files have, and the library takes no step without knowing the file. A
    tower's is otherwise: all files had it, but for those of classes that hold the tower's inside.
    """
    kind = type(transform).__name__
    prefix = kind == "PrefixChange"
    if prefix and transform.prefix_to_remove not in TOWERS:
        return None
    assert prefix or kind in ("WeightRenaming", "WeightConverter"), f"{kind} has no form here"
    back = transform.reverse_transform()
    found: dict[str, Any] = {"find": back.compiled_sources.pattern, "to": back.target_patterns}
    found |= {"tower": True} if prefix else {}
    if kind == "WeightConverter":
        found |= {"from": back.source_patterns, "by": [done for done in map(operation, back.operations) if done]}
    return found


def operation(one: Any) -> list[Any] | None:
    """Return an operation's name and dimensions, or None for one that changes no shape."""
    name = type(one).__name__
    if name in SILENT or (name == "Transpose" and one.check_dims):  # which turns only what does not fit
        return None
    if name == "Transpose":
        return ["Transpose", one.dim0, one.dim1]
    assert name in ("Chunk", "Concatenate", "SplitModulelist") and not getattr(one, "num_shards_attribute", None), name
    return [name, one.dim]


def inside(model: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield the models of the library inside a model, the outermost ones only: path, key of the sub-config (or nothing), model."""
    found: list[str] = []
    base = import_module("transformers").PreTrainedModel
    for path, module in model.named_modules():
        if path and isinstance(module, base) and not any(path.startswith(outer + ".") for outer in found):
            found.append(path)
            yield path, _key(model.config, module.config), module


def _key(outer: Any, inner: Any) -> str:
    """Return the key under which a config holds another, the very same object or else one of its type."""
    keys = [key for key in outer.sub_configs if getattr(outer, key, None) is not None]
    same = [key for key in keys if getattr(outer, key) is inner]
    if same or inner is outer or inner.model_type == outer.model_type:
        return same[0] if same else ""
    return next((key for key in keys if getattr(outer, key).model_type == inner.model_type), "")


def keeps_later_name(model_type: str, class_name: str, patterns: list[str]) -> bool:
    """Tell whether, of tied names, one is left out of files that comes first in memory: names that *patterns* find may be left out."""
    raw = {"model_type": model_type, "tie_word_embeddings": True}
    try:
        rows = weighbridge.model(raw, class_name).tensors()
    except WeighbridgeError:
        return False
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row.tied_to or row.name, []).append(row.name)
    for first, group in names.items():
        out = [name for name in sorted(group) if any(re.search(pattern, name) for pattern in patterns)][: len(group) - 1]
        if first in out:
            return True
    return False


class Record:
    """What was found so far: models by class, and which of them were asked for and not only met inside others."""

    def __init__(self) -> None:
        self.models: dict[str, dict[str, Any]] = {}
        self.asked: set[str] = set()
        self.known = import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping

    def add(self, model: Any) -> None:
        """Take down a class and the models inside it."""
        name = type(model).__name__
        entry = self.models.setdefault(name, {"type": model.config.model_type, "base": model.base_model_prefix, "inside": {}})
        for path, key, inner in inside(model):
            entry["inside"].setdefault(path, [key, type(inner).__name__, inner.config.model_type])
            self.add(inner)

    def matters(self, name: str) -> bool:
        """Tell whether a class, or a model inside it, has steps back, or may have by what its config names."""
        entry = self.models.get(name)
        if entry is None:
            return False
        own = self.known(name) is not None or self.known(entry["type"]) is not None
        return own or any(key or self.matters(inner) for key, inner, _ in entry["inside"].values())

    def steps(self, models: dict[str, Any], types: set[str]) -> dict[str, Any]:
        """Return the steps back for every class of *types*, or that is in one of *models*."""
        table: dict[str, Any] = {}
        seen: dict[str, str] = {}
        described = {name for model_type in types for name in (model_type, *family(model_type).classes)}
        inner = {name for entry in models.values() for _, *names in entry.get("inside", {}).values() for name in names}
        for key in sorted(described | models.keys() | inner | {entry["as"] for entry in models.values() if "as" in entry}):
            steps = self.known(key)
            if steps is not None:
                found = [back for back in map(step, steps) if back]
                text = json.dumps(found)
                table[key] = seen.get(text, found)
                seen.setdefault(text, key)
        return table


def patterns_of(cls: Any) -> list[str]:
    """Return the patterns of a class's tied names; where only a model can tell them, any name may be one."""
    told = cls._tied_weights_keys
    return [".*"] if isinstance(told, property) else list(told or ())


def record(found: Record, model_type: str) -> None:
    """Take down the classes of a type; where nothing in it is ever renamed, those alone that leave something out."""
    known = family(model_type)
    renamed = any(field.kind == "nested" for field in known.fields)
    base = live_class(model_type, known.base)
    for name in sorted(classes(model_type), key=lambda name: name != known.base):
        cls = live_class(model_type, name)
        unsaved = list(cls._keys_to_ignore_on_save or ())
        tied = [*patterns_of(cls), *(f"{cls.base_model_prefix}.{key}" for key in patterns_of(base))]
        if not (renamed or name == known.base or unsaved or keeps_later_name(model_type, name, tied)):
            continue
        live = next((live for _, live in _configs(model_type, name, 3, "published") if not isinstance(live, RefusedError)), None)
        if live is None:
            continue
        found.add(live)
        found.asked.add(name)
        renamed = renamed or found.matters(name)
        patterns: list[str] = import_module("transformers.modeling_utils")._get_tied_weight_keys(live)
        found.models[name] |= {"kept": patterns if keeps_later_name(model_type, name, patterns) else [], "unsaved": unsaved}
        if live.config.model_type != model_type:
            found.models[name]["as"] = live.config.model_type


def main(arguments: list[str] | None = None) -> None:
    """Write the table, or put some types anew into it."""
    parser = argparse.ArgumentParser("python -m truth.published", description="how the reference library names what it saves")
    parser.add_argument("types", nargs="*", help="model types to put into the table anew; by default it is written from scratch")
    types = parser.parse_args(arguments).types
    found = Record()
    before: dict[str, Any] = json.loads(TARGET.read_text("utf-8")) if types else {"types": [], "models": {}}
    taken = [model_type for model_type in types or MODULES if not is_remote(model_type)]
    for model_type in taken:
        record(found, model_type)
    write(found, before["models"], sorted({*before["types"], *taken}))


def write(found: Record, before: dict[str, Any], types: list[str]) -> None:
    """Write what matters of it, a class a line."""
    models = before | {
        name: {key: value for key, value in entry.items() if value and key != "type"}
        for name, entry in found.models.items()
        if (found.matters(name) or any(entry.get(key) for key in ("kept", "unsaved", "as"))) and (name in found.asked or name not in before)
    }
    head = {"source": f"transformers {versions()['transformers']}, conversion_mapping.py", "command": "python -m truth.published"}
    tables = {"models": models, "steps": found.steps(models, set(types))}
    text = ",\n".join(f'"{title}": {{\n{_lines(table)}\n}}' for title, table in tables.items())
    TARGET.write_text(f'{{"about": {json.dumps(head)},\n"types": {json.dumps(types)},\n{text}}}\n', "utf-8")


def _lines(table: dict[str, Any]) -> str:
    return ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(table.items()))


if __name__ == "__main__":
    main()
