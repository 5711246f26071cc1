"""What the reference's config classes take under each key, as their strict dataclasses declare it.

``python -m truth.field_types`` writes ``blueprints/field_types.txt``: first a line for each model type, ``type = class``, then a line
for each class, with its keys behind the kind of value that they take. Of lists of layer kinds it is asked which entries
and lengths the class refuses; see ``blueprints/field_types.py``, which reads the file. ``python -m truth.class_rules`` comes before it.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import inspect
import json
import re
import types
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from truth import live
from truth.aliases import CODE_BESIDE
from weighbridge.blueprints import MODULES, class_rules, is_remote
from weighbridge.blueprints.field_types import PATH
from weighbridge.blueprints.type_lines import find_line

ANYTHING = "any"
GENERAL = "PreTrainedConfig"
LISTS = ("layer_types", "mlp_layer_types")
READ_BY_ROTARY = ("hidden_size", "max_position_embeddings", "num_attention_heads")
"""What sets of rotary parameters ask a config for."""


def kind(declared: Any) -> str:
    """Write a declared type in a word.

    >>> kind(int | None), kind(list[int] | tuple[int, ...]), kind(typing.Literal["mean", "cls"]), kind(dict[typing.Literal["full"], dict])
    ('int|null', '[int]', '"mean"|"cls"', '{full}')
    """
    origin, arguments = typing.get_origin(declared), typing.get_args(declared)
    if declared is None or declared is types.NoneType:
        return "null"
    if origin in (typing.Union, types.UnionType):
        found = list(dict.fromkeys(word for argument in arguments for word in kind(argument).split("|")))
        return ANYTHING if ANYTHING in found else "|".join(word for word in found if word) or "nothing"
    if origin is typing.Literal:
        return "|".join(json.dumps(value) for value in arguments)
    if declared is list or origin in (list, collections.abc.Sequence):
        return f"[{kind(arguments[0])}]" if arguments else "list"
    if declared is tuple or origin is tuple:
        return ""  # JSON has none
    if origin is dict and typing.get_origin(arguments[0]) is typing.Literal:
        return "{" + ",".join(typing.get_args(arguments[0])) + "}"
    if declared is dict or origin is dict:
        return "object"
    if declared in (int, float, bool, str):
        return str(declared.__name__)
    if isinstance(declared, type):
        return ""  # a config object, or a dictionary with declared keys, which only objects are
    return ANYTHING


def _of_class(cls: Any, general: dict[str, str]) -> dict[str, str]:
    declared = {field.name: field.type for field in dataclasses.fields(cls)}
    found = {}
    for key, checks in cls.__validators__.items():
        stated = _strip(kind(declared[key]))
        bounds = _bounds(checks[1:])
        if general.get(key) != stated + bounds and (stated != ANYTHING or key in general):
            found[key] = stated + bounds
    for alias, key in other_names(cls):
        if key in found and "Validation error for field" in _is_refused(cls, alias, object()):
            found[alias] = found[key]
    return found


def other_names(cls: Any) -> list[tuple[str, str]]:
    """Return the other names of a class's keys, each with its key: of its ``attribute_map``, and what it takes out of older files:
    of GPT-2's first ``("hidden_size", "n_embd")``.
    """
    text = inspect.getsource(cls.__post_init__)
    popped = re.findall(r'self\.(\w+) = kwargs\.(?:pop|get)\(\s*"(\w+)"', text)
    return [*cls.attribute_map.items(), *((alias, key) for key, alias in popped)]


def _strip(stated: str) -> str:
    """Write a list whose entries may be anything as a list."""
    return stated.replace("[any]", "list").replace("[]", "list") or "nothing"


def _bounds(checks: Any) -> str:
    """Say between which numbers a further check of a field wants it, asked with numbers."""
    taken = [number for number in (-1, -0.5, 0, 0.5, 1, 1.5, 2, 10**6) if all(_passes(check, number) for check in checks)]
    if not taken or len(taken) == 8:
        return ""
    return f"<{min(taken)}..{'' if max(taken) == 10**6 else max(taken)}>"


def _passes(check: Any, number: float) -> bool:
    try:
        check(number)
    except (TypeError, ValueError):
        return False
    return True


def _sub_configs(cls: Any) -> Iterator[str]:
    for key, spec in (cls.sub_configs_defaults or {}).items():
        auto = spec.config_class.__name__ == "AutoConfig"
        yield f"{key}={spec.model_type or '' if auto else ':' + spec.config_class.__name__}{_merged(cls, key, spec.init_kwargs)}"
    yield from (f"{key}=:{inner.__name__}" for key, inner in _further(cls))


def _merged(cls: Any, key: str, usual: dict[str, Any]) -> str:
    """Write, behind a plus sign, the values that a class puts beside those that a sub-config states."""
    puts = f'{{**self.sub_configs_defaults["{key}"].init_kwargs, **self.{key}}}'
    return "+" + repr(usual).replace(" ", "") if puts in inspect.getsource(cls) else ""


def _further(cls: Any) -> list[tuple[str, Any]]:
    """Return the sub-configs of which a class says nothing but their class."""
    known = cls.sub_configs_defaults or {}
    return [(key, inner) for key, inner in cls.sub_configs.items() if key not in known and inner.__name__ != "AutoConfig"]


def _refused_lists(cls: Any) -> Iterator[str]:
    """Yield which lists of layer kinds the class refuses, with a strange entry or longer than there are layers, and further words of its line."""
    if cls.default_rope_type == "axial" and "rope_parameters" in cls.__validators__:
        yield "axial"
    if "backbone_config" in cls.__validators__ and _is_refused(cls, "backbone_config", {}) == "KeyError: None":
        yield "named"
    for key in cls.sub_configs_defaults or {}:
        if _is_refused(cls, key, {}) == "KeyError: 'model_type'":
            yield f"named:{key}"
    if find_line(class_rules.PATH, f"{cls.__name__}: "):
        yield "rules"
    yield from (f"-{key}" for key in _read_only(cls))
    try:
        config = cls()
    except Exception:  # a class that does not build from its defaults is not asked
        return
    yield from (f"lacks:{key}" for key in READ_BY_ROTARY if not _has(config, key))
    if type(layers := live.value(config, "num_hidden_layers")) is int:
        named = cls.attribute_map.get("num_hidden_layers", "num_hidden_layers")
        if "layer_types" not in cls.__validators__ and cls.validate_layer_type is _live_base().validate_layer_type:
            yield "unlisted"
        yield f"layers={'|'.join((*(alias for alias, key in cls.attribute_map.items() if key == named), named))}={layers}"
    for key in LISTS:
        if key not in cls.__validators__:
            continue
        usual = list(getattr(config, key, None) or []) or ["full_attention" if key == "layer_types" else "dense"] * (
            live.value(config, "num_hidden_layers") or 0
        )
        if not usual or _is_refused(cls, key, usual):
            continue
        own = cls.validate_layer_type is not _live_base().validate_layer_type  # which knows other kinds
        if not own and "validate_layer_type" in _is_refused(cls, key, ["nothing of the kind", *usual[1:]]):
            yield f"{key}!"
        if any(word in _is_refused(cls, key, [*usual, usual[-1]]) for word in ("validate_layer_type", "must be equal to the number of")):
            yield f"{key}#"


def _has(config: Any, key: str) -> bool:
    try:
        return hasattr(config, key)
    except Exception:  # it has one for each layer
        return True


def _read_only(cls: Any) -> Iterator[str]:
    """Yield the keys that the class works out by itself and refuses to be given."""
    for key in sorted(set(dir(cls)) - set(dir(_live_base())) - set(cls.__dataclass_fields__)):
        found = getattr(cls, key, None)
        if isinstance(found, property) and found.fset is None and "has no setter" in _is_refused(cls, key, 1):
            yield key


def _is_refused(cls: Any, key: str, value: Any) -> str:
    try:
        cls(**{key: value})
    except Exception as error:  # whatever a value may provoke in there
        return f"{type(error).__name__}: {error}"
    return ""


def find_field_types() -> tuple[dict[str, str], dict[str, list[str]], dict[str, Any]]:
    """Return the class of each type by its name, the parts of each class's line, and the classes."""
    base = _live_base()
    general = _of_class(base, {})
    named: dict[str, str] = {}
    todo = []
    for model_type in MODULES:
        if is_remote(model_type) or model_type in CODE_BESIDE:
            continue
        try:
            cls = live.config_class(model_type)
        except live.RefusedError:
            continue
        named[model_type] = cls.__name__
        todo.append(cls)
    lines: dict[str, list[str]] = {GENERAL: _line(general, [], [])}
    classes: dict[str, Any] = {}
    while todo:
        cls = todo.pop()
        if cls.__name__ in lines:
            continue
        classes[cls.__name__] = cls
        todo += [inner for _, inner in _further(cls)]
        todo += [spec.config_class for spec in (cls.sub_configs_defaults or {}).values() if spec.config_class.__name__ != "AutoConfig"]
        lines[cls.__name__] = _line(_of_class(cls, general), list(_sub_configs(cls)), list(_refused_lists(cls)))
    return named, lines, classes


def _line(fields: dict[str, str], inner: list[str], lists: list[str]) -> list[str]:
    by_kind: dict[str, list[str]] = {}
    for key, stated in fields.items():
        by_kind.setdefault(stated, []).append(key)
    parts = [" ".join((stated.replace(" ", "_"), *sorted(keys))) for stated, keys in sorted(by_kind.items())]
    parts += [" ".join(("@", *inner))] if inner else []
    return parts + ([" ".join(("#", *lists))] if lists else [])


def _live_base() -> Any:
    live.versions()
    return import_module("transformers").PreTrainedConfig


def main() -> None:
    """Write the file."""
    named, lines, _ = find_field_types()
    text = [f"{model_type} = {cls}" for model_type, cls in sorted(named.items())]
    text += ["; ".join((f"{cls}:", *parts)) for cls, parts in sorted(lines.items())]
    Path(PATH).write_text("".join(f"{line}\n" for line in text), "utf-8")


if __name__ == "__main__":
    main()
