"""Which keys no class of a model type builds at null where ours would: of sub-configs too, and of keys that their config class takes at null.

``python -m truth.refused_nulls`` asks every class of every type, on several configs, and writes ``blueprints/refused_nulls.txt``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from truth import live, trials
from truth.changes import IDLE, Change, apply_change
from truth.check import classes
from truth.draw import draw
from truth.refused_rotary import ours_builds, theirs_builds
from weighbridge.blueprints import MODULES, is_remote, type_lines
from weighbridge.blueprints.refused_nulls import PATH

TRIED = 2
"""Drawn configs beside the one that the records of ``truth flips`` have."""


def nulls(config: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the keys of a live config and its sub-configs that are no null."""
    for key, value in config.to_dict().items():
        inner = live.value(config, key)
        if key in IDLE or key.startswith("_") or not key or value is None:
            continue
        if hasattr(inner, "to_dict"):
            yield from nulls(inner, (*above, key))
        elif not isinstance(value, Mapping):
            yield (*above, key)


def find_nulls(model_type: str) -> list[str]:
    """Return the keys that no class of a type builds at null on any config that is tried, and ours would."""
    recorded = next((entry for entry in RECORDS if entry["type"] == model_type), None)
    if recorded is None:
        return []
    names, raw = classes(model_type), recorded["bases"][-1]
    taken = {change for _, texts in _texts(recorded) for change in texts}
    config = _config(model_type, raw)
    found = [path for path in nulls(config) if f"{'.'.join(path)}=null" not in taken and _is_refused(model_type, names, raw, path)]
    for number in range(TRIED if found else 0):
        other = draw(f"nulls {number}", model_type, 0.7)
        if theirs_builds(model_type, names[:1], other):
            found = [path for path in found if not _builds_here(model_type, names, other, path)]
    return sorted(".".join(path) for path in found)


def _builds_here(model_type: str, names: list[str], raw: dict[str, Any], path: tuple[str, ...]) -> bool:
    return theirs_builds(model_type, names, apply_change(raw, Change(path, None)))


def _is_refused(model_type: str, names: list[str], raw: dict[str, Any], path: tuple[str, ...]) -> bool:
    changed = apply_change(raw, Change(path, None))
    return ours_builds(names, changed) and not theirs_builds(model_type, names, changed)


def _config(model_type: str, raw: Mapping[str, Any]) -> Any:
    return live.config_class(model_type)(**{key: value for key, value in raw.items() if key != "model_type"})


def _texts(entry: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    yield from ((where, [text for texts in digests.values() for text in texts]) for where, digests in entry["live"].items())
    yield from entry["idle"].items()


RECORDS = trials.read("flips")


def main() -> None:
    """Write the file."""
    Path(PATH).write_text("", "utf-8")  # so that ours builds what the classes refuse
    type_lines.forget(PATH)
    found = {model_type: find_nulls(model_type) for model_type in sorted(MODULES) if not is_remote(model_type)}
    Path(PATH).write_text("".join(f"{name}: {' '.join(keys)}\n" for name, keys in found.items() if keys), "utf-8")


if __name__ == "__main__":
    main()
