"""Values that no class of a model type builds under a key, or one class does not, though the config class may take them (``refused_kinds.txt``).

The file is written by ``python -m truth.refused_kinds``, which asks the classes: a line for each type, with the paths of keys, each with the kinds
of values that are refused there, nulls alone if it names none. Behind a ``!`` stands a key that a config must state, since its default
is refused; behind bars other names of it. What stands behind ``@`` and names of classes is refused by these alone.
"""

from __future__ import annotations

from weighbridge.blueprints.field_types import usual_sub_config
from weighbridge.blueprints.type_lines import find_line
from weighbridge.config.bind import say_value
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PATH = __file__.removesuffix(".py") + ".txt"


class Refused(NamedTuple):
    """What is refused under a key.

    Attributes:
        parents: The keys of the sub-configs around it, outermost first.
        kinds: Some of those that :func:`kinds_of` tells.
        wanted: Whether a config without the key is refused, too.
        others: Other names of a key that is wanted.
    """

    parents: tuple[str, ...]
    key: str
    kinds: frozenset[str]
    wanted: bool
    others: tuple[str, ...] = ()


def refuse_kinds(model_type: str, class_name: str, raw: Mapping[str, Any]) -> None:
    """Refuse a value of a kind that a class does not build with.

    Raises:
        ConfigError: Such a value, or none where one is wanted.

    >>> refuse_kinds("clip", "CLIPModel", {"vision_config": {"image_size": None}})
    Traceback (most recent call last):
    weighbridge.core.errors.ConfigError: vision_config.image_size: null is not possible, the class wants a value
    """
    for one in refused_of(model_type, class_name):
        parents, key, kinds, wanted, others = one
        inner = _stated(model_type, raw, one) if parents else raw
        if inner is None or not (key in inner or wanted):
            continue
        value = inner.get(key)
        if kinds.isdisjoint(kinds_of(value)) or (others and any(inner.get(name) is not None for name in others)):
            continue
        path = ".".join((*parents, key))
        if value is None:
            raise ConfigError(
                mark("null is not possible, the class wants a value")
                if key in inner
                else mark("the class has no value of its own for it; state one"),
                key=path,
            )
        raise ConfigError(
            Text("no class of this type can be built with {found}; without the key it takes its default", found=say_value(value)),
            key=path,
            value=value,
        )


def _stated(model_type: str, raw: Mapping[str, Any], one: Refused) -> Mapping[str, Any] | None:
    """Return the sub-config in which a key stands; an absent one leaves out what is wanted, unless an older file states it outside."""
    if one.wanted and one.parents[0] not in raw and not any(name in raw for name in (one.key, *one.others)):
        return {}
    return usual_sub_config(model_type, raw, one.parents)


def kinds_of(value: Any) -> Iterator[str]:
    """Yield the kinds of a value.

    >>> [" ".join(kinds_of(value)) for value in (None, True, 0, -2, 1.5, "gelu", [], {"a": 1})]
    ['null', 'bool', 'number zero', 'number negative', 'number fraction above', 'word', 'list empty', 'object']
    """
    if value is None:
        yield "null"
    elif isinstance(value, bool):
        yield "bool"
    elif isinstance(value, (int, float)):
        yield "number"
        if value == 0:
            yield "zero"
        if value < 0:
            yield "negative"
        if isinstance(value, float) and not value.is_integer():
            yield "fraction"
        if value > 1:
            yield "above"
    elif isinstance(value, (str, list, dict)):
        yield {str: "word", list: "list", dict: "object"}[type(value)]
        if not value:
            yield "empty"


_READ: dict[str, dict[str, tuple[Refused, ...]]] = {}


def refused_of(model_type: str, class_name: str = "") -> tuple[Refused, ...]:
    """Return what all classes of a type refuse, and what one of them refuses beside.

    >>> refused_of("altclip")[0].key
    'logit_scale_init_value'
    """
    found = _READ.get(model_type)
    if found is None:
        found = _READ[model_type] = _read_line(find_line(PATH, f"{model_type}: "))
    return found.get(class_name, found[""])


def _read_line(line: str) -> dict[str, tuple[Refused, ...]]:
    """Read a line: by class, what it refuses, and by nothing what all do.

    >>> {name: [one.key for one in listed] for name, listed in _read_line("a !b|c=null,word @One,Two d @Two e").items()}
    {'': ['a', 'b'], 'One': ['a', 'b', 'd'], 'Two': ['a', 'b', 'd', 'e']}
    """
    everywhere, *parts = line.split("@")
    shared = tuple(map(_read, everywhere.split()))
    found = {"": shared}
    for part in parts:
        names, *entries = part.split()
        own = tuple(map(_read, entries))
        for name in names.split(","):
            found[name] = (*found.get(name, shared), *own)
    return found


def _read(entry: str) -> Refused:
    path, _, kinds = entry.removeprefix("!").partition("=")
    *parents, key = path.split(".")
    key, *others = key.split("|")
    return Refused(tuple(parents), key, frozenset((kinds or "null").split(",")), entry[0] == "!", tuple(others))


def forget() -> None:
    """Read the file anew when it is next asked for, which was written since."""
    _READ.clear()
