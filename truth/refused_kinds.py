"""Which kinds of values no class of a model type builds under a key where ours would, or one class does not: nulls, words, lists, negative numbers.

``python -m truth.refused_kinds [TYPE ...]`` asks every class of every type, on several configs, and writes ``blueprints/refused_kinds.txt``;
with types named it renews their lines alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from functools import cache
from typing import Any

from truth import live, trials
from truth.aliases import find_aliases
from truth.changes import ABSENT, IDLE, Change, apply_change, looked_up_keys, source, words
from truth.check import classes
from truth.draw import draw
from truth.probe import hurry
from truth.refused_rotary import ours_builds, theirs_builds
from truth.renew_lines import renew_lines
from weighbridge.blueprints import family, refused_kinds
from weighbridge.blueprints.refused_kinds import PATH

TOUCHES = (0.7, 0.7, 0.3)
"""How much is changed in the drawn configs that are asked beside the one that the records of ``truth flips`` have, and the default."""
READ = ("head_dim", "partial_rotary_factor", "rope_theta")
"""Keys that rotary positions look for in any config that has a set of their parameters."""
ANYWHERE = frozenset(("dtype", "id2label", "label2id"))
"""Keys of every config, which ours holds to one rule (``blueprints/field_types.py``)."""
SAMPLES: dict[str, tuple[Any, ...]] = {
    "null": (None,),
    "bool": (True, False),
    "word": ("nothing of the kind",),
    "list": ([8, 8], [1]),
    "object": ({"a": 1},),
    "number": (8, 2),
    "zero": (0,),
    "negative": (-1,),
    "fraction": (1.5,),
    "above": (1.5, 8),
}
"""By kind: values of it; a kind is refused if all are."""
ASKED: tuple[tuple[Any, str], ...] = (
    (bool, "null word list"),
    (int, "null bool word list object zero negative fraction"),
    (float, "null word list object negative above"),
    (str, "null bool list object number"),
    ((list, tuple), "null bool word object number empty"),
    (Mapping, "null bool word list number empty"),
    (type(None), "list object word"),
)
"""By what a class has under a key: the kinds that it is asked about."""


def places(config: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths of the keys of a live config and its sub-configs, each with the kinds that it is asked about."""
    text = source(config)
    stated = config.to_dict()
    further = READ if hasattr(config, "rope_parameters") else ()
    for key, value in {**dict.fromkeys(further), **stated}.items():
        inner = live.value(config, key)
        if key in IDLE or key in ANYWHERE or key.startswith("_") or not key:
            continue
        if hasattr(inner, "to_dict"):
            yield (*above, key), "null empty"
            yield from places(inner, (*above, key))
        else:
            yield (*above, key), _kinds_to_ask(key, value, text)
    yield from (((*above, key), "null") for key in looked_up_keys(text) if key not in stated and live.value(config, key) is None)


def _other_names(model_type: str, config: Any, raw: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the paths of the other names of keys, each with the kinds that it is asked about."""
    for path, _, value, _ in find_aliases(config, family(model_type).fields, raw):
        yield path, next((kinds for kind, kinds in ASKED if isinstance(value, kind)), "null")


def _kinds_to_ask(key: str, value: Any, text: str) -> str:
    """Say which kinds a key is asked about; where a word may be meant, none is taken for a sample of all."""
    found = next((kinds for kind, kinds in ASKED if isinstance(value, kind)), "null")
    if "drop" in key and (value is None or type(value) is int):
        return "list object negative above" + (" null word" if value is not None else "")
    if isinstance(value, float) and not 0 <= value <= 1:
        found = found.removesuffix(" above")
    return found.replace(" word", "") if words(key, text) and key not in READ else found


def find_kinds(model_type: str) -> list[str]:
    """Return the keys of a type and the kinds of values that none of its classes builds there, and behind ``@`` those that some do not."""
    recorded = next((entry for entry in _records() if entry["type"] == model_type), None)
    if recorded is None:
        return []
    names, raw = classes(model_type), recorded["bases"][-1]
    taken = {change for _, texts in _texts(recorded) for change in texts}
    config = _config(model_type, raw)
    asked: dict[tuple[str, ...], set[str]] = {}
    for path, kinds in (*places(config), *_other_names(model_type, config, raw)):
        asked[path] = {kind for kind in kinds.split() if kind != "null" or f"{'.'.join(path)}=null" not in taken}
    shared = _refused(model_type, names, raw, asked)
    found = _entries(model_type, names, raw, shared)
    alone: dict[tuple[str, ...], list[str]] = {}
    if len(names) > 1:
        left = {path: kinds - shared[path] for path, kinds in asked.items()}
        plain_is_refused = any(entry.startswith("!") for entry in found)
        for name in names:
            own = _entries(model_type, [name], raw, _refused(model_type, [name], raw, left), asked_before=plain_is_refused)
            if own:
                alone.setdefault(tuple(own), []).append(name)
    return [*found, *(part for own, those in alone.items() for part in (f"@{','.join(those)}", *own))]


def _refused(
    model_type: str, names: list[str], raw: dict[str, Any], asked: Mapping[tuple[str, ...], set[str]]
) -> dict[tuple[str, ...], set[str]]:
    """Return of the kinds that are asked about those that none of the classes builds on any config that is tried, and ours would."""
    found = {
        path: {kind for kind in kinds if all(_is_refused(model_type, names, raw, path, value) for value in samples(raw, path, kind))}
        for path, kinds in asked.items()
    }
    for other in _further_configs(model_type):
        if any(found.values()) and theirs_builds(model_type, names[:1], other):
            found = {
                path: {
                    kind
                    for kind in kinds
                    if not any(_builds_here(model_type, names, other, path, value) for value in samples(other, path, kind))
                }
                for path, kinds in found.items()
            }
    return found


def _further_configs(model_type: str) -> Iterator[dict[str, Any]]:
    yield from (draw(f"nulls {number}", model_type, touch) for number, touch in enumerate(TOUCHES))
    yield {"model_type": model_type}


def _entries(
    model_type: str, names: list[str], raw: dict[str, Any], found: Mapping[tuple[str, ...], set[str]], *, asked_before: bool = False
) -> list[str]:
    """Write what classes refuse, and the keys without which they build nothing."""
    plain = {"model_type": model_type}
    few = {**plain, "num_hidden_layers": 1}  # without a layer that reads it, a key may be absent
    if asked_before or not ours_builds(names, plain) or any(theirs_builds(model_type, names, raw) for raw in (plain, few)):
        return sorted(_entry(path, kinds) for path, kinds in found.items() if kinds)
    wanted = {path for path in _empty(model_type) if _is_refused(model_type, names, raw, path, ABSENT)}
    stated = {path for path in _unstated(model_type, names, raw) if not _builds_here(model_type, names, raw, path, ABSENT)}
    kinds_at = {**found, **{path: {"null", *found.get(path, ())} for path in wanted | stated}}
    other = {path: _names_of(model_type, raw, path) for path in wanted | stated}
    return sorted(
        _entry(path, kinds, others=other.get(path, ()), wanted=path in wanted | stated) for path, kinds in kinds_at.items() if kinds
    )


def _names_of(model_type: str, raw: Mapping[str, Any], wanted: tuple[str, ...]) -> tuple[str, ...]:
    found = find_aliases(_config(model_type, raw), family(model_type).fields, {})
    return tuple(path[-1] for path, key, _, _ in found if (*path[:-1], key) == wanted)


def _unstated(model_type: str, names: list[str], raw: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Yield the keys whose default is refused as it is, and taken where a config states it: a tuple, or nothing in the config class."""
    config = _config(model_type, {})
    usual = {key: live.value(config, key) for key in config.to_dict()}
    tuples = {key: list(value) for key, value in usual.items() if isinstance(value, tuple)}
    stated = {"model_type": model_type, **tuples, **{key: value for key, value in raw.items() if key not in usual}}
    if theirs_builds(model_type, names, stated):
        for key in stated:
            if key != "model_type" and not theirs_builds(model_type, names, {name: value for name, value in stated.items() if name != key}):
                yield (key,)


def _plain_refusal(model_type: str, name: str) -> str:
    try:
        with hurry():
            live.build(model_type, name, {"model_type": model_type})
    except (live.RefusedError, TimeoutError) as error:
        return str(error)
    return ""


def samples(raw: Mapping[str, Any], path: tuple[str, ...], kind: str) -> tuple[Any, ...]:
    """Return the values of a kind that a key is asked about; nothing stands in a list, or in an object."""
    return ({}, []) if kind == "empty" else SAMPLES[kind]


def _empty(model_type: str) -> set[tuple[str, ...]]:
    """Return the paths of the keys that are null in the default of a type."""
    try:
        config = _config(model_type, {})
    except Exception:  # a class that refuses its own defaults
        return set()
    return {path for path, _ in places(config) if _at(config, path) is None}


def _at(config: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        config = live.value(config, key)
    return config


def _entry(path: tuple[str, ...], kinds: set[str], *, wanted: bool = False, others: tuple[str, ...] = ()) -> str:
    """Write what is refused under a key.

    >>> _entry(("text_config", "head_dim"), {"null"}), _entry(("head_dim",), {"word", "null"}, wanted=True, others=("width",))
    ('text_config.head_dim', '!head_dim|width=null,word')
    """
    written = "|".join((".".join(path), *others))
    return f"{'!' if wanted else ''}{written}" + ("" if kinds == {"null"} else f"={','.join(sorted(kinds))}")


def _builds_here(model_type: str, names: list[str], raw: dict[str, Any], path: tuple[str, ...], value: Any) -> bool:
    return theirs_builds(model_type, names, apply_change(raw, Change(path, value)))


def _is_refused(model_type: str, names: list[str], raw: dict[str, Any], path: tuple[str, ...], value: Any) -> bool:
    changed = apply_change(raw, Change(path, value))
    return ours_builds(names, changed) and not theirs_builds(model_type, names, changed)


def _config(model_type: str, raw: Mapping[str, Any]) -> Any:
    return live.config_class(model_type)(**{key: deepcopy(value) for key, value in raw.items() if key != "model_type"})


def _texts(entry: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    yield from ((where, [text for texts in digests.values() for text in texts]) for where, digests in entry["live"].items())
    yield from entry["idle"].items()


@cache
def _records() -> tuple[dict[str, Any], ...]:
    return tuple(trials.read("flips"))


def main() -> None:
    """Write the file."""
    renew_lines(PATH, lambda model_type: " ".join(find_kinds(model_type)), refused_kinds.forget)


if __name__ == "__main__":
    main()
