"""Every other name of a config's fields, alone and beside the name it stands for.

Aliases are those of the config class (``attribute_map``), those that its code takes out of what it is given, and those that
our own fields declare. The reference puts an ``attribute_map`` key in place after its own derivations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from truth import live
from truth.changes import ABSENT, Change, source, translated_keys
from truth.check import classes
from truth.trials import Trial
from weighbridge.blueprints import family
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Field

MOST = 2
"""Values that are tried for each alias."""
CODE_BESIDE = {"nomic_bert"}
"""Types whose published configs are read by code beside them: ours takes its keys, which the library's own class does not know."""


def trials(model_type: str, configs: list[dict[str, Any]]) -> Iterator[Trial]:
    """Yield each alias of a type and its sub-configs alone, beside its key with the same value, and beside it with another."""
    names = classes(model_type)
    chosen = list(dict.fromkeys((names[0], names[-1])))
    for number, raw in enumerate(configs):
        given = {key: value for key, value in raw.items() if key != "model_type"}
        try:
            config = live.config_class(model_type)(**given)
        except Exception:  # one that does not build is no base
            continue
        for path, key, value, kind in find_aliases(config, family(model_type).fields, raw):
            if key not in type(config).attribute_map.values() and model_type in CODE_BESIDE:
                continue
            for class_name in chosen:
                few = 1 if class_name != names[0] else MOST
                yield from _of_alias(class_name, number, path, key, value, plausible(values(value), kind)[:few])


def plausible(candidates: list[Any], kind: str) -> list[Any]:
    """Leave out values of another kind than the field takes: a number for a switch is refused here, whatever a class makes of it.

    >>> plausible([2, 8, True], "switch"), plausible([2, 8, True], "size")
    ([True], [2, 8])
    """
    if kind == "switch":
        return [value for value in candidates if value is None or isinstance(value, bool)]
    if kind == "size":
        return [value for value in candidates if not isinstance(value, bool)]
    return candidates


def _of_alias(class_name: str, base: int, path: tuple[str, ...], key: str, value: Any, others: list[Any]) -> Iterator[Trial]:
    there = (*path[:-1], key)
    for other in others:
        alone = Change(path, other)
        if not key:
            yield Trial(class_name, base, (alone,))
            continue
        yield Trial(class_name, base, (Change(there, ABSENT), alone))
        yield Trial(class_name, base, (Change(there, other), alone))
        yield Trial(class_name, base, (Change(there, value), alone))


def values(value: Any) -> list[Any]:
    """Return other values of a field, near enough for a class to build.

    >>> values(8), values(True), values([1, 2])
    ([16, 4, 9], [False], [[2, 1], [1, 2, 2]])
    """
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [2 * value, max(1, value // 2), value + 1] if value > 0 else [2]
    if isinstance(value, float):
        return [2 * value]
    if isinstance(value, (list, tuple)):
        return [list(value)[::-1], [*value, *list(value)[-1:]]]
    return [2, 8, True] if value is None else []


def find_aliases(
    config: Any, fields: tuple[Field, ...], raw: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str, Any, str]]:
    """Yield each alias with its path, the key it stands for (empty if only the class's code knows), that key's value and kind of field."""
    mapped = dict(type(config).attribute_map)
    ours = {alias: field.key for field in fields if field.kind not in ("derived", "nested") for alias in field.aliases if field.key}
    kinds = {key: field.kind for field in fields for key in (field.key, *field.aliases)}
    popped = dict.fromkeys(translated_keys(config, source(config)), "")
    for alias, key in {**popped, **ours, **mapped}.items():
        value = live.value(config, key or alias)
        if alias != key and alias not in raw and not hasattr(value, "to_dict") and not isinstance(value, Mapping):
            yield (*above, alias), key, value, kinds.get(key) or kinds.get(alias, "")
    for key in getattr(type(config), "sub_configs", {}):
        inner, field = live.value(config, key), next((field for field in fields if field.key == key and field.kind == "nested"), None)
        if inner is None or field is None or not hasattr(inner, "to_dict"):
            continue
        given = raw.get(key)
        found = find_sub_config(field, raw)
        yield from find_aliases(inner, found.fields if found else (), given if isinstance(given, Mapping) else {}, (*above, key))
