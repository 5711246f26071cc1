"""The fields that a visitor can change: sizes with their sliders, and switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from weighbridge.accounts.parameters import count, unique_of
from weighbridge.api.model import Model
from weighbridge.blueprints.describe import with_sizes
from weighbridge.config.bind import find_sub_config
from weighbridge.config.fields import Config, SubConfig
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import Say
from weighbridge.value import Description

TRIES = 8
"""Divisors of a size that are tried as its slider's step."""

LARGEST_STEP = 4096
"""Divisors are looked for up to here; a step beyond it would pass over every model anybody builds."""


class Control(NamedTuple):
    """One field.

    Attributes:
        key: Its key path in the config.
        label: What it is, in words.
        letter: The paper's letter, of a size.
        kind: ``size`` or ``switch``.
        value: The value in use.
        step: Of a size: by how much the slider moves it; the least divisor of the value that gives a model again.
        most: Of a size: where the slider ends.
        cost: Of a size: how many parameters one such step costs; None if it cannot be made.
    """

    key: str
    label: str
    letter: str
    kind: str
    value: Any
    step: int = 1
    most: int = 0
    cost: int | None = None


def controls(found: Model, say: Say) -> list[Control]:
    """Return the controls of a model from a config."""
    if found.description is None:
        return []
    description, class_name = found.description, found.class_name
    by_key: dict[str, Control] = {}  # a key that two fields read, such as attention_bias, is one control
    for control in _fields(SubConfig(description.raw, description.family.fields), description.sizes, say, ""):
        by_key.setdefault(control.key, control)
    listed = list(by_key.values())
    own = unique_of(found)
    sized = [control if control.kind == "switch" else _with_step(description, class_name, control, own) for control in listed]
    return [control._replace(kind="size") if control.kind == "labels" else control for control in sized if not _is_unused(control)]


def _is_unused(control: Control) -> bool:
    """Tell whether a control sets the number of labels of a class that has none."""
    return control.kind == "labels" and not control.cost


class Group(NamedTuple):
    """The fields of one part of the config.

    Attributes:
        path: The part's key path; empty for the config itself.
        sizes, switches: Its fields.
    """

    path: str
    sizes: tuple[Control, ...]
    switches: tuple[Control, ...]


def groups_of(listed: list[Control]) -> list[Group]:
    """Put fields of the same part of a config together, in the order of their first.

    >>> [group.path for group in groups_of([Control("text.hidden", "", "", "size", 8), Control("tied", "", "", "switch", True)])]
    ['text', '']
    """
    parts = dict.fromkeys(control.key.rpartition(".")[0] for control in listed)

    def controls_at(path: str, kind: str) -> tuple[Control, ...]:
        return tuple(control for control in listed if control.kind == kind and control.key.rpartition(".")[0] == path)

    return [Group(path, controls_at(path, "size"), controls_at(path, "switch")) for path in parts]


def letter_like_formula(listed: list[Control], letters: Mapping[str, str]) -> list[Control]:
    """Give each size the letter that it has in the formula; one that is not in it has the index of those beside it, if they share one.

    >>> sizes = [Control(f"vision.{key}", "", letter, "size", 1) for key, letter in (("hidden", "H"), ("heads", "A"))]
    >>> [control.letter for control in letter_like_formula(sizes, {"vision.hidden": "H_vision"})]
    ['H_vision', 'A_vision']
    """
    indices: dict[str, set[str]] = {}
    for key, letter in letters.items():
        indices.setdefault(key.rpartition(".")[0], set()).add(letter.partition("_")[2])

    def letter_of(control: Control) -> str:
        shared = indices.get(control.key.rpartition(".")[0], set())
        index = next(iter(shared)) if len(shared) == 1 else ""
        own = f"{control.letter}_{index}" if index and control.letter and "_" not in control.letter else control.letter
        return letters.get(control.key, own)

    return [control._replace(letter=letter_of(control)) for control in listed]


def _fields(config: SubConfig, sizes: Config, say: Say, path: str) -> Iterator[Control]:
    """Yield a control for each size and switch of a config, sub-configs included, whose keys begin with *path*."""
    for field in config.fields:
        value = getattr(sizes, field.word)
        key = path + field.key
        if field.kind == "nested":
            inner = find_sub_config(field, config.raw, path)
            if inner:
                yield from _fields(inner, value, say, f"{key}.")
        elif field.key and field.kind in ("size", "labels") and type(value) is int:
            yield Control(key, say(field.meaning), field.letter, field.kind, value, 1, max(4 * value, 16))
        elif field.key and field.kind == "switch":
            yield Control(key, say(field.meaning), "", "switch", value)


def _with_step(description: Description, class_name: str, control: Control, own: int) -> Control:
    """Return a size with the least divisor of its value by which it can grow: a hidden size goes in steps that its heads divide."""
    divisors = (step for step in range(1, min(control.value, LARGEST_STEP) + 1) if control.value % step == 0)
    for step, _ in zip(divisors, range(TRIES), strict=False):
        more = _count_with(description, class_name, control.key, control.value + step)
        if more is not None:
            return control._replace(step=step, cost=more - own)
    return control


def _count_with(description: Description, class_name: str, key: str, value: int) -> int | None:
    """Count the model with another size; None if there is none."""
    try:
        found = count(with_sizes(description, class_name, {key: value})[0])
    except WeighbridgeError:
        return None
    return found if isinstance(found, int) else None
