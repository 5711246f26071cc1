"""Which keys of a config choose an activation, and which give a dropout its probability: seen in the live classes.

Each such key is given a value of its own, and every activation looked up and every dropout made is noted while the class is built.
``python -m truth.chosen_functions`` writes the keys, class by class, into ``blueprints/chosen_functions.txt``: an activation
that the library does not know is refused there, and a probability that is none.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.changes import Change, apply_change
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.probe import hurry
from weighbridge.blueprints import MODULES, is_remote
from weighbridge.blueprints.chosen_functions import PATH

TRIES = 3
"""Random configs that a class is built from, for want of a first that it takes."""


def chosen_keys(model_type: str) -> dict[str, tuple[set[str], set[str]]]:
    """Return, by class, the paths of the keys that choose its activations and of those that its dropouts read."""
    found: dict[str, tuple[set[str], set[str]]] = {}
    for class_name in classes(model_type):
        for index, touch in enumerate((*TOUCHES[-TRIES:], 1.0)):
            raw = draw(f"functions {index}", model_type, touch)
            seen = _seen(model_type, class_name, raw)
            if seen is not None:
                found[class_name] = seen
                break
    return found


def _seen(model_type: str, class_name: str, raw: dict[str, Any]) -> tuple[set[str], set[str]] | None:
    try:
        config = live.config_class(model_type)(**{key: value for key, value in raw.items() if key != "model_type"})
    except Exception:  # a random config that the library does not take
        return None
    names, numbers = {}, {}
    for index, (path, is_name) in enumerate(_keys(config)):
        if is_name:
            names[f"function_{index}"] = path
        else:
            numbers[(index + 1) / 4096] = path
    with _noted(set(names)) as (looked_up, dropped):
        asked = _with(raw, numbers)
        if _builds(model_type, class_name, _with(asked, names)):
            of_its_own = set()
        elif _builds(model_type, class_name, asked):
            of_its_own = _tables(model_type, class_name, asked, names)
        else:
            return None
    chosen = {".".join(names[name]) for name in looked_up if name in names}
    return {key for key in chosen if all(not one.startswith(f"{key}=") for one in of_its_own)} | of_its_own, {
        ".".join(numbers[p]) for p in dropped if p in numbers
    }


def _with(raw: dict[str, Any], values: dict[Any, tuple[str, ...]]) -> dict[str, Any]:
    for value, path in values.items():
        raw = apply_change(raw, Change(path, value))
    return raw


def _tables(model_type: str, class_name: str, raw: dict[str, Any], names: dict[str, tuple[str, ...]]) -> set[str]:
    """Return the keys that are looked up in a table of the class's own, each with the names that it has of the library's."""
    known = [name for name in import_module("transformers.activations").ACT2FN if name not in names]
    found = set()
    for name, path in names.items():
        if not _builds(model_type, class_name, apply_change(raw, Change(path, name))):
            taken = [other for other in known if _builds(model_type, class_name, apply_change(raw, Change(path, other)))]
            if taken:
                found.add(f"{'.'.join(path)}={','.join(taken)}")
    return found


def _builds(model_type: str, class_name: str, raw: dict[str, Any]) -> bool:
    try:
        with hurry():
            live.build(model_type, class_name, raw)
    except (live.RefusedError, TimeoutError):
        return False
    return True


@contextmanager
def _noted(names: set[str]) -> Iterator[tuple[set[str], set[Any]]]:
    """Let the library know these activations, and note which are looked up and which probabilities dropouts are made with."""
    activations, torch = import_module("transformers.activations"), import_module("torch")
    known, looked_up, dropped = activations.ACT2FN, set(), set()
    kind, dropout, recurrent = type(known), torch.nn.modules.dropout._DropoutNd, torch.nn.RNNBase
    before = kind.__getitem__, dropout.__init__, recurrent.__init__

    def look_up(self: Any, key: str) -> Any:
        looked_up.add(key)
        return before[0](self, key)

    def make(self: Any, p: Any = 0.5, inplace: bool = False) -> None:
        dropped.add(p)
        before[1](self, p, inplace)

    def recur(self: Any, *arguments: Any, **keywords: Any) -> None:
        dropped.add(keywords.get("dropout"))
        before[2](self, *arguments, **keywords)

    for name in names:
        known[name] = activations.GELUActivation
    kind.__getitem__, dropout.__init__, recurrent.__init__ = look_up, make, recur
    try:
        yield looked_up, dropped
    finally:
        kind.__getitem__, dropout.__init__, recurrent.__init__ = before
        for name in names:
            del known[name]


def _keys(config: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the paths of the keys that name an activation (true) or a probability (false)."""
    known = import_module("transformers.activations").ACT2FN
    for key, value in config.to_dict().items():
        inner = live.value(config, key)
        if hasattr(inner, "to_dict") and len(above) < 2:
            yield from _keys(inner, (*above, key))
        elif isinstance(value, str) and value in known and not key.startswith("_"):
            yield (*above, key), True
        elif "drop" in key and type(value) in (float, types.NoneType):
            yield (*above, key), False


def write(table: dict[str, dict[str, tuple[set[str], set[str]]]]) -> None:
    """Write a line for each type: what all of its classes read, then what one reads beside."""
    lines = []
    for model_type, found in sorted(table.items()):
        names, numbers = (set.intersection(*(seen[side] for seen in found.values())) for side in (0, 1))
        shared = (names, numbers)
        parts = [_side(shared)]
        for class_name, seen in sorted(found.items()):
            own = (seen[0] - shared[0], seen[1] - shared[1])
            parts += [f"{class_name} {_side(own)}"] if any(own) else []
        if any(part.strip(" |") for part in parts):
            lines.append(f"{model_type}: " + "; ".join(parts))
    Path(PATH).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def _side(keys: tuple[set[str], set[str]]) -> str:
    return " ".join((*sorted(keys[0]), "|", *sorted(keys[1])))


def main() -> None:
    """Ask all types, and write the file."""
    write({name: found for name in MODULES if not is_remote(name) and (found := chosen_keys(name))})


if __name__ == "__main__":
    main()
