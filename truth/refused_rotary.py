"""Which types of rotary positions no class of a model type builds: asked of the classes, since each knows its own.

``python -m truth.refused_rotary`` sets every set of rotary parameters in a small config of each type, and in its sub-configs, to every type that the
reference knows and to two that it does not, complete with all that it needs, and writes ``blueprints/refused_rotary.txt``: by model type and
key path, the types that none of its classes builds where ours would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from truth import live
from truth.changes import Change, apply_change
from truth.check import classes
from truth.live import RefusedError
from truth.probe import hurry
from truth.trials import bases
from weighbridge import model
from weighbridge.blueprints import MODULES, is_remote, type_lines
from weighbridge.blueprints.refused_rotary import PATH, UNKNOWN
from weighbridge.core.errors import WeighbridgeError

KEYS = ("rope_parameters", "rope_scaling")
"""The key, and its older name, which some classes read otherwise."""
KINDS: dict[str, dict[str, Any]] = {
    "linear": {"factor": 2.0},
    "dynamic": {"factor": 2.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 16},
    "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16},
    "proportional": {"partial_rotary_factor": 0.5},
    "axial": {},
    "mrope": {"mrope_section": [2, 1, 1]},
    "su": {"short_factor": [1.0] * 4, "long_factor": [1.0] * 4},
    UNKNOWN: {},
}
"""By type: all that it needs. The factors of LongRoPE, which Phi called ``su``, must fit the heads, so that these are not asked about."""


def places(config: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of a live config and its sub-configs that have rotary parameters."""
    if hasattr(config, "rope_parameters"):
        yield above
    for key in getattr(type(config), "sub_configs", {}):
        inner = live.value(config, key)
        if hasattr(inner, "to_dict"):
            yield from places(inner, (*above, key))


def find_refused(model_type: str) -> dict[str, list[str]]:
    """Return, by the path of the key, the types of rotary positions that no class of a type builds, and ours would."""
    found: dict[str, set[str]] = {}
    names = classes(model_type)
    for raw in bases(model_type, "rotary"):
        given = {key: value for key, value in raw.items() if key != "model_type"}
        for place in places(live.config_class(model_type)(**given)):
            kinds = set(asked(model_type))
            for key in KEYS:  # what one key takes, the other is not asked about
                kinds = {kind for kind in kinds if _is_refused(model_type, names, raw, (*place, key), kind)}
                path = ".".join((*place, key))
                found[path] = found.get(path, kinds) & kinds
    return {path: sorted(kinds) for path, kinds in found.items() if kinds}


def asked(model_type: str) -> list[str]:
    """Return the types that a model type is asked about."""
    return [kind for kind in KINDS if kind != "su" or "phi" not in model_type]


def _is_refused(model_type: str, names: list[str], raw: dict[str, Any], path: tuple[str, ...], kind: str) -> bool:
    without = {key: value for key, value in raw.items() if key not in KEYS} if len(path) == 1 else raw
    changed = apply_change(without, Change(path, {"rope_type": kind, "rope_theta": 10000.0, **KINDS[kind]}))
    return ours_builds(names, changed) and not theirs_builds(model_type, names, changed)


def ours_builds(names: list[str], raw: Mapping[str, Any]) -> bool:
    """Say whether a blueprint of ours builds one of the classes."""
    for name in names:
        try:
            model(raw, name)
        except WeighbridgeError:
            continue
        return True
    return False


def theirs_builds(model_type: str, names: list[str], raw: Mapping[str, Any]) -> bool:
    """Say whether one of the classes is built, or takes so long that it is not known."""
    for name in names:
        try:
            with hurry():
                live.build(model_type, name, raw)
        except TimeoutError:
            return True  # not known
        except RefusedError:
            continue
        return True
    return False


def main() -> None:
    """Write the file."""
    lines = []
    Path(PATH).write_text("", "utf-8")  # so that ours builds what the classes refuse
    type_lines.forget(PATH)
    for model_type in sorted(name for name in MODULES if not is_remote(name)):
        found = find_refused(model_type)
        if found:
            lines.append(f"{model_type}: " + " ".join(f"{path}={','.join(kinds)}" for path, kinds in sorted(found.items())))
            print(lines[-1], flush=True)
    Path(PATH).write_text("".join(f"{line}\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
