"""Where activations with parameters of their own stand, by the config key that chooses them: seen in the live classes.

``prelu`` and ``xielu`` may be chosen wherever a config names an activation. ``python -m truth.learned_activations [TYPE ...]`` builds
every class with each such key set to ``prelu`` and writes the places into ``blueprints/learned_activations.json``; a key whose places do
not give what the live classes have is written without one, and stays refused.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import compare, live
from truth.changes import Change, apply_change
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.listing import of_rows
from truth.probe import hurry
from weighbridge import model
from weighbridge.blueprints import MODULES, family, is_remote
from weighbridge.blueprints.learned_activations import _PLACES, PATH, Place, read
from weighbridge.core.errors import WeighbridgeError


def find_places(model_type: str) -> dict[str, set[Place]]:
    """Return, by the path of the key, the places of a type's activations."""
    result: dict[str, set[Place]] = {}
    for class_name, raw, config in _buildable_classes(model_type):
        for path in _keys(config):
            built = _live(model_type, class_name, apply_change(raw, Change(path, "prelu")))
            if built is not None:
                result.setdefault(".".join(path), set()).update(_places(built))
    return {key: _unlike(stand) for key, stand in result.items()}


def _unlike(stand: set[Place]) -> set[Place]:
    """Leave out what has one name and stands behind different children: the layers of an encoder alone and of a decoder alone."""
    return {place for place in stand if sum(place.path == other.path for other in stand) == 1}


def _buildable_classes(model_type: str, seed: str = "activations") -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Yield each class with the default config and small ones that it builds from; a config of three may lack the kind of layer that has it."""
    for class_name in classes(model_type):
        some = 0
        drawn = (draw(f"{seed} {index}", model_type, touch) for index, touch in enumerate(TOUCHES))
        for raw in ({"model_type": model_type}, *drawn):
            if _live(model_type, class_name, raw) is not None:
                given = {key: value for key, value in raw.items() if key != "model_type"}
                yield class_name, raw, live.config_class(model_type)(**given)
                some += 1
            if some == MOST:
                break


MOST = 5
"""Configs of each class."""


def _live(model_type: str, class_name: str, raw: dict[str, Any]) -> Any:
    try:
        with hurry():
            return live.build(model_type, class_name, raw)
    except (live.RefusedError, TimeoutError):
        return None


def _keys(config: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the keys that name an activation."""
    known = import_module("transformers.activations").ACT2FN
    for key, value in config.to_dict().items():
        inner = live.value(config, key)
        if hasattr(inner, "to_dict") and len(above) < 2:
            yield from _keys(inner, (*above, key))
        elif isinstance(value, str) and value in known:
            yield (*above, key)


def _places(built: Any) -> Iterator[Place]:
    learned = import_module("torch").nn.PReLU
    for name, module in built.named_modules():
        before = ""
        for child, inner in module.named_children():
            if isinstance(inner, learned):
                yield Place(".".join(part for part in (*name.split("."), child) if part and not part.isdigit()), before)
            before = child if next(inner.parameters(), None) is not None else before


def agrees(model_type: str, key: str) -> bool:
    """Hold ours to the live classes, with one key set to the activation, on other configs than the places were found in."""
    for class_name, raw, _ in _buildable_classes(model_type, "agrees"):
        asked = apply_change(raw, Change(tuple(key.split(".")), "prelu"))
        theirs = _live(model_type, class_name, asked)
        if theirs is None:
            continue
        try:
            difference: object = compare.difference(of_rows(model(asked, class_name).tensors()), live.listing(theirs))
        except WeighbridgeError:  # one class does not read the key, or has no place for it: to refuse is not wrong
            continue
        except Exception as error:  # whatever it is, these places do not do
            difference = error
        if difference:
            print(model_type, class_name, key, str(difference)[:100], flush=True)
            return False
    return True


def write(table: Mapping[str, Mapping[str, set[Place]]]) -> None:
    """Write the places: a line for each, with the types that have it."""
    lines: dict[tuple[str, Place], list[str]] = {}
    for model_type, keys in table.items():
        for key, stand in keys.items():
            for place in stand:
                lines.setdefault((key, place), []).append(model_type)
    text = ",\n".join(json.dumps([key, *place, " ".join(sorted(lines[key, place]))]) for key, place in sorted(lines))
    Path(PATH).write_text(f"[\n{text}\n]\n", "utf-8")
    _PLACES.clear()


def _is_of_submodel(model_type: str, key: str) -> bool:
    """Say whether a key is one of a sub-config that may be of several types, which carries its activations by itself."""
    outer, _, inner = key.partition(".")
    return bool(inner) and any(field.key == outer and field.resolve is not None for field in family(model_type).fields)


def main(names: list[str]) -> None:
    """Renew the rows of these types, or of all."""
    table: dict[str, dict[str, set[Place]]] = {}
    for key, path, before, types in read() if Path(PATH).exists() else ():
        for model_type in types.split():
            table.setdefault(model_type, {}).setdefault(key, set()).add(Place(path, before))
    chosen = names or [name for name in MODULES if not is_remote(name)]
    for model_type in chosen:
        table[model_type] = {key: set() if _is_of_submodel(model_type, key) else stand for key, stand in find_places(model_type).items()}
        write(table)
        for key in [key for key in table[model_type] if not agrees(model_type, key)]:
            table[model_type][key] = {Place("", "")}  # refused
    write(table)


if __name__ == "__main__":
    main(sys.argv[1:])
