"""Activations with parameters of their own, PReLU and xIELU, put into the tree wherever a config's key chooses one.

Which modules a key reaches was seen in the live classes (``learned_activations.json``, written by ``python -m truth.learned_activations``).
"""

from __future__ import annotations

from weighbridge.config.bind import find_sub_config
from weighbridge.config.check import ACTIVATIONS_WITH_PARAMETERS
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import Config, Field, constant
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import part, replace
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PATH = __file__.removesuffix(".py") + ".json"
TENSORS = {
    "prelu": (Tensor("weight", (1,), "gain"),),
    "xielu": (Tensor("alpha_p", (1,), "gain"), Tensor("alpha_n", (1,), "gain"), Tensor("beta", (), "buffer"), Tensor("eps", (), "buffer")),
}


class Place(NamedTuple):
    """Where an activation stands.

    Attributes:
        path: Its name in one of the type's classes, without the numbers of layers; empty where the key reaches modules that are
            not those of the sub-config's own model alone.
        before: The child of the same module that it stands after, if it is not the first that has parameters.
    """

    path: str
    before: str


LEARNED = "learned_activations"
"""The word under which a sub-config's sizes have the activations of its model."""


def with_learned_activations(known: Family, raw: Mapping[str, Any]) -> Family:
    """Return a family whose classes have the activations that a config chooses.

    Raises:
        ConfigError: It is not known which modules the key reaches.

    >>> from weighbridge.blueprints import family
    >>> from weighbridge.config.bind import bind
    >>> bert = family("bert")
    >>> tree = with_learned_activations(bert, {"hidden_act": "prelu"}).classes["BertModel"](bind(bert.fields, {}))
    >>> tree.children[1].children[0].children[1].children[-1].name
    'intermediate_act_fn'
    """
    chosen = _chosen_activations(known.model_type, known.fields, raw)
    if not chosen:
        return known
    return known._replace(classes={name: _add_activations(blueprint, chosen) for name, blueprint in known.classes.items()})


def activation_fields(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the field by which the sizes of a sub-config carry the activations that it chooses, if it does; see :func:`with_activations_of`."""
    chosen = _chosen_activations(model_type, fields, raw)
    return (constant(LEARNED, chosen),) if chosen else ()


def with_activations_of(c: Config, tree: Part) -> Part:
    """Return the tree of a sub-config with the activations that it chooses."""
    return _place_activations(tree, getattr(c, LEARNED)) if LEARNED in vars(c) else tree


def _chosen_activations(model_type: str, fields: tuple[Field, ...], raw: Mapping[str, Any]) -> list[tuple[Place, str]]:
    chosen: list[tuple[Place, str]] = []
    for key, value in learned_activations(fields, raw):
        stand = places().get((model_type, key))
        if stand is None and (_is_carried(fields, raw, key) or not _chooses_activation(key)):
            continue
        if stand is None or any(not place.path for place in stand):
            raise ConfigError(
                Text("{value} has parameters of its own, which are not described for this model type", value=value), key=key, value=value
            )
        chosen += [(place, value) for place in stand]
    return chosen


def _chooses_activation(key: str) -> bool:
    """Say whether a key may choose an activation; ``distribution_output`` may not, whatever its value.

    >>> _chooses_activation("text_config.hidden_act"), _chooses_activation("merge_type")
    (True, False)
    """
    last = key.rpartition(".")[2]
    return "act" in last or "nonlinear" in last or any(last == known.rpartition(".")[2] for _, known in places())


def learned_activations(fields: tuple[Field, ...], raw: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the paths of the keys that choose an activation with parameters, and its name; not where a field of the family describes it.

    >>> list(learned_activations((), {"text_config": {"hidden_act": "prelu"}, "hidden_act": "gelu"}))
    [('text_config.hidden_act', 'prelu')]
    """
    for key, value in raw.items():
        if type(value) is str and value in ACTIVATIONS_WITH_PARAMETERS:
            if all(field.default != value or key not in (field.key, *field.aliases) for field in fields):
                yield path + key, value
        elif type(value) is dict and path.count(".") < 4:
            inner = next((find_sub_config(field, raw, path) for field in fields if field.key == key and field.kind == "nested"), None)
            yield from learned_activations(inner.fields if inner else (), inner.raw if inner else value, f"{path}{key}.")


def _is_carried(fields: tuple[Field, ...], raw: Mapping[str, Any], key: str) -> bool:
    """Say whether the sizes of a sub-config carry the activation of a key by themselves."""
    name = key.partition(".")[0]
    field = next((field for field in fields if field.key == name and field.kind == "nested"), None)
    inner = find_sub_config(field, raw) if field is not None and name != key else None
    return inner is not None and any(field.word == LEARNED for field in inner.fields)


_PLACES: dict[tuple[str, str], list[Place]] = {}


def places() -> dict[tuple[str, str], list[Place]]:
    """Return the places of each type's activations, by type and the path of the key."""
    if not _PLACES:
        found: dict[tuple[str, str], list[Place]] = {}
        for key, path, before, types in read():
            for model_type in types.split():
                found.setdefault((model_type, key), []).append(Place(path, before))
        _PLACES.update(found)  # at once: another thread must not find a part of it
    return _PLACES


def read() -> list[list[str]]:
    """Read the lines: key, path, the child before it, and the types."""
    import json  # takes time, and hardly any config chooses such an activation

    with open(PATH, encoding="utf-8") as file:
        lines: list[list[str]] = json.load(file)
    return lines


def _add_activations(blueprint: Blueprint, chosen: list[tuple[Place, str]]) -> Blueprint:
    return lambda c: _place_activations(blueprint(c), chosen)


def _place_activations(tree: Part, chosen: list[tuple[Place, str]]) -> Part:
    found = _with_activations(tree, chosen)
    if found is tree:
        value = chosen[0][1]
        raise ConfigError(Text("{value} has parameters of its own, which are not described for this class", value=value))
    return found


def _with_activations(tree: Part, chosen: list[tuple[Place, str]], path: tuple[str, ...] = ()) -> Part:
    """Put the activations into the modules whose names they have."""
    children: tuple[Node, ...] = ()
    for child in tree.children:
        children += _of_child(child, chosen, (*path, *_names(child))) if isinstance(child, Part) else (child,)
    for place, value in chosen:
        above, _, name = place.path.rpartition(".")
        if above == ".".join(path):
            children = _insert_behind(children, place.before, part(name, *TENSORS[value], kind="activation"))
    return tree if children == tree.children else replace(tree, children=children)


def _of_child(child: Part, chosen: list[tuple[Place, str]], path: tuple[str, ...]) -> tuple[Part, ...]:
    """Return a child with its activations; one that fused experts share stands beside them, since it is not divided among them."""
    found = _with_activations(child, chosen, path)
    if child.experts is None or child.repeat is not None or len(found.children) == len(child.children):
        return (found,)
    added = [node for node in found.children if isinstance(node, Part) and node.kind == "activation" and node not in child.children]
    return child, part(child.name, *added, stream=child.stream)


def _names(part: Part) -> list[str]:
    return [name for name in part.name.split(".") if name and not name.isdigit()]


def _insert_behind(children: tuple[Node, ...], before: str, activation: Part) -> tuple[Node, ...]:
    """Put an activation behind a child; where there is no such child, this is another kind of layer."""
    if not before:
        return (*_tensors(children), activation, *children[len(tuple(_tensors(children))) :])
    at = next((index for index, child in enumerate(children) if isinstance(child, Part) and child.name.partition(".")[0] == before), None)
    return children if at is None else (*children[: at + 1], activation, *children[at + 1 :])


def _tensors(children: tuple[Node, ...]) -> Iterator[Node]:
    """Yield the module's own tensors, which stand before its children's."""
    for child in children:
        if isinstance(child, Part):
            return
        yield child
