"""Which sets of rotary parameters no class of a model type builds: asked of the classes, since each knows its own.

``python -m truth.refused_rotary [TYPE ...]`` sets every set of rotary parameters in small configs of each type, and in its sub-configs, to every type
that the reference knows and to two that it does not, complete with all that it needs, and writes ``blueprints/refused_rotary.txt``: by model type
and key path, the types that none of its classes builds where ours would, and how many factors LongRoPE wants. With types named it renews their lines alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from truth import live
from truth.changes import ABSENT as TAKEN_AWAY
from truth.changes import Change, apply_change
from truth.check import TOUCHES, classes
from truth.draw import draw
from truth.live import RefusedError
from truth.probe import hurry
from truth.renew_lines import renew_lines
from truth.trials import bases
from weighbridge import model
from weighbridge.blueprints import refused_rotary
from weighbridge.blueprints.refused_rotary import ABSENT, KEYS, LENGTHS, PATH, UNKNOWN, count_factors, inside, sizes_at
from weighbridge.core.errors import WeighbridgeError

BOUND = {"original_max_position_embeddings": 16}
ONE = {"short_factor": [1.0], "long_factor": [1.0], **BOUND}
"""Factors that fit any heads, since one is taken for all."""
STRANGE = {"short_factor": [1.0] * 997, "long_factor": [1.0] * 997, **BOUND}
KINDS: dict[str, tuple[dict[str, Any], ...]] = {
    "default": ({},),
    "linear": ({"factor": 2.0},),
    "dynamic": ({"factor": 2.0}, {"factor": 2.0, **BOUND}),
    "yarn": ({"factor": 4.0, **BOUND},),
    "llama3": ({"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, **BOUND},),
    "longrope": (ONE,),
    "proportional": ({"partial_rotary_factor": 0.5},),
    "axial": ({},),
    "mrope": ({"mrope_section": [2, 1, 1]},),
    "su": ({"short_factor": [1.0] * 4, "long_factor": [1.0] * 4}, ONE),
    UNKNOWN: ({},),
}
"""By type: all that it needs, in one or more ways. Phi counts the factors of LongRoPE, and called it ``su``, so that it is not asked about."""
FURTHER = 2
"""Drawn configs on which a type must be refused by the base class, too."""


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
    first = bases(model_type, "rotary")
    for raw in (*first, *_further(model_type, names[:1])):
        names = names if raw in first else names[:1]
        for place in places(_config(model_type, raw)):
            kinds = set(types_to_ask(model_type))
            for key in KEYS:  # what one key takes, the other is not asked about
                path = ".".join((*place, key))
                kinds &= found.get(path, kinds)
                kinds = {kind for kind in kinds if _is_refused(model_type, names, raw, (*place, key), kind)}
                found[path] = kinds
            if len(found[".".join((*place, KEYS[0]))]) and _wants_one(model_type, names, raw, place):
                found[".".join((*place, KEYS[0]))].add(ABSENT)
    result = {path: sorted(kinds) for path, kinds in found.items()}
    for path, turned in find_lengths(model_type).items():
        result.setdefault(path, []).append(LENGTHS + turned)
    return {path: kinds for path, kinds in result.items() if kinds}


def _further(model_type: str, names: list[str]) -> Iterator[dict[str, Any]]:
    for index in range(FURTHER):
        raw = draw(f"rotary {index}", model_type, 0.6)
        if theirs_builds(model_type, names, raw):
            yield raw


def types_to_ask(model_type: str) -> list[str]:
    """Return the types that a model type is asked about."""
    return [kind for kind in KINDS if kind not in ("su", "longrope") or "phi" not in model_type]


def _config(model_type: str, raw: Mapping[str, Any]) -> Any:
    return live.config_class(model_type)(**{key: deepcopy(value) for key, value in raw.items() if key != "model_type"})


def _with(raw: dict[str, Any], place: tuple[str, ...], key: str, value: Any) -> dict[str, Any]:
    for name in KEYS:
        if (place or name in raw) and name in inside(raw, place):
            raw = apply_change(raw, Change((*place, name), TAKEN_AWAY))
    return raw if value is None else apply_change(raw, Change((*place, key), value))


def _is_refused(model_type: str, names: list[str], raw: dict[str, Any], path: tuple[str, ...], kind: str) -> bool:
    """Say whether a type is refused in all the ways of writing it that ours takes."""
    *place, key = path
    spelled = ("rope_type", "type") if key == "rope_scaling" else ("rope_type",)
    stated = [{name: kind, "rope_theta": 10000.0, **needed} for needed in KINDS[kind] for name in spelled]
    tried = [changed for value in stated if ours_builds(names, changed := _with(raw, tuple(place), key, value))]
    return bool(tried) and not any(theirs_builds(model_type, names, changed) for changed in tried)


def _wants_one(model_type: str, names: list[str], raw: dict[str, Any], place: tuple[str, ...]) -> bool:
    if theirs_builds(model_type, names, {"model_type": model_type}):
        return False
    without = _with(raw, place, KEYS[0], None)
    return without != raw and ours_builds(names, without) and not theirs_builds(model_type, names, without)


def find_lengths(model_type: str) -> dict[str, str]:
    """Return, by the path of the key, which part of a head LongRoPE wants factors for, where the classes count them."""
    names, found = classes(model_type)[:1], dict[str, list[str]]()
    for index, touch in enumerate(TOUCHES[1:8:2]):
        raw = draw(f"lengths {index}", model_type, touch)
        if not theirs_builds(model_type, names, raw):
            continue
        for place in places(_config(model_type, raw)):
            if "partial_rotary_factor" in inside(raw, place):
                raw = apply_change(raw, Change((*place, "partial_rotary_factor"), TAKEN_AWAY))
            for key in KEYS:
                path, refused = ".".join((*place, key)), _with(raw, place, key, {"rope_type": "longrope", "rope_theta": 10000.0, **STRANGE})
                count = _count_wanted(model_type, names, refused)
                if count is not None:  # a single pair takes any number of them
                    fitting = list(_fitting(names, refused, place, key, count))
                    found[path] = [turned for turned in found.get(path, fitting) if turned in fitting]
    return {path: turned[0] for path, turned in found.items() if turned}


def _count_wanted(model_type: str, names: list[str], raw: dict[str, Any]) -> int | None:
    """Return how many factors the classes want that refuse so many, as they say it."""
    wanted = None
    for name in names:
        try:
            with hurry():
                live.build(model_type, name, raw)
        except TimeoutError:
            return None
        except RefusedError as error:
            said = re.search(r"broadcast a dimension of length (\d+) at -1! Mismatching argument at index 1", str(error))
            if said is None:
                return None
            wanted = int(said[1])
        else:
            return None
    return wanted


SHARES = (1.0, 0.5, 0.25, 0.75, 0.4)


def _fitting(names: list[str], raw: dict[str, Any], place: tuple[str, ...], key: str, count: int) -> Iterator[str]:
    """Yield the sizes and shares that give so many factors, the likeliest first."""
    try:
        described = model(raw, names[0]).description
    except WeighbridgeError:
        return
    if described is None:
        return
    known, _, whole = described
    sizes = sizes_at(known.fields, whole, place)
    if sizes is None:
        return
    dims = sorted(
        (word for word, value in vars(sizes).items() if word.endswith(("dim", "rope", "rotary")) and type(value) is int),
        key=lambda word: word != "head_dim",
    )
    for turned in (f"{word}*{share}" for share in SHARES for word in (*dims, "hidden/heads")):
        around = inside(raw, place)
        if count_factors(turned, sizes, around, around[key]) == count:
            yield turned


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
        except RefusedError as error:
            if not str(error).startswith("ImportError"):  # an extra that is not installed
                continue
        return True
    return False


def main() -> None:
    """Write the file."""

    def line_of(model_type: str) -> str:
        return " ".join(f"{path}={','.join(kinds)}" for path, kinds in sorted(find_refused(model_type).items()))

    renew_lines(PATH, line_of, refused_rotary.forget)


if __name__ == "__main__":
    main()
