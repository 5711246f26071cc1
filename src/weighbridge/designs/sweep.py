"""One or several sizes of a config over ranges: every combination counted exactly, and what doubles when a size doubles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from weighbridge.accounts.parameters import tally_of
from weighbridge.blueprints.describe import from_config
from weighbridge.columns import ACCOUNTS, measure
from weighbridge.columns.column import require_numpy
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import as_int
from weighbridge.value import ModelValue

ROWS = 1_000_000
"""Combinations that one sweep may have."""
ONE_BY_ONE = 50_000
"""Of these, with some that make no model, as many are weighed one at a time."""
_RANGE = re.compile(r"(\d{1,15}):(\d{1,15})(?::(\d{1,15}))?")


class Doubling(NamedTuple):
    """What happens to an account when one key doubles.

    Attributes:
        key: The key.
        value: What it is in the config.
        before, after: The account there, and with twice the value.
    """

    key: str
    value: int
    before: int
    after: int


class Sweep(NamedTuple):
    """A table of configs and what each amounts to.

    Attributes:
        keys: What was varied.
        rows: For each combination that makes a model, the keys' values and the accounts, by name.
        refused: Combinations that make none, with the reason (the first hundred).
        refusals: How many there are.
        doublings: For each key, what doubling its own value does to the parameters.
    """

    keys: tuple[str, ...]
    rows: tuple[dict[str, int], ...]
    refused: tuple[tuple[dict[str, int], str], ...]
    refusals: int
    doublings: tuple[Doubling, ...]


def parse_range(text: str, key: str) -> list[int]:
    """Read ``256:2048:64``, ``2:24`` or ``256,512,768``; both ends belong to a range.

    Raises:
        UsageError: It is none of these, or has no or too many values.

    >>> parse_range("2:8:3", "layers"), parse_range("768,1024", "hidden")
    ([2, 5, 8], [768, 1024])
    """
    match = _RANGE.fullmatch(text)
    if match:
        start, stop, step = int(match[1]), int(match[2]), int(match[3] or 1)
        if step < 1 or stop < start or (stop - start) // step >= ROWS:
            raise UsageError(
                Text(
                    "{key}={text}: expected start:stop:step with stop at or above start, and at most {rows:,} values",
                    key=key,
                    text=text,
                    rows=ROWS,
                )
            )
        return list(range(start, stop + 1, step))
    parts = text.split(",")
    if not all(part.strip().isdecimal() and len(part.strip()) <= 15 for part in parts):
        raise UsageError(Text("{key}={text}: expected a range such as 256:2048:64, or values such as 256,512,768", key=key, text=text[:60]))
    return [int(part) for part in parts]


def sweep(model: ModelValue, ranges: Mapping[str, Sequence[int]], accounts: Sequence[str] = ("parameters",)) -> Sweep:
    """Count every combination of values.

    Args:
        model: Made from a config; its class is the one that is counted.
        ranges: From a key path to the values it takes.
        accounts: Names out of :data:`weighbridge.columns.ACCOUNTS`.

    Raises:
        UsageError: No config, no ranges, too many combinations, an unknown account.
        ConfigError: A key that is no size.

    >>> from weighbridge import model
    >>> [row["parameters"] for row in sweep(model("bert-base-uncased"), {"num_hidden_layers": [6, 12]}).rows]
    [66955008, 109482240]
    """
    if model.description is None:
        raise UsageError(Text("{source}: a sweep needs a config; a file's header has only numbers", source=model.source))
    rows = 1
    for values in ranges.values():
        rows *= len(values)
    if not ranges:
        raise UsageError("sweep: over which sizes? Say, for example, --set num_hidden_layers=2:24")
    if rows > ROWS:
        raise UsageError(Text("a sweep has at most {rows:,} combinations, this one {what:,}", rows=ROWS, what=rows))
    unknown = [name for name in accounts if name not in ACCOUNTS]
    if unknown:
        raise UsageError(Text("no account {unknown!r}; known: {accounts}", unknown=unknown[0], accounts=", ".join(ACCOUNTS)))
    require_numpy()
    grid = _grid(ranges)
    try:
        found = measure(model.description.family.model_type, {**_fixed_config(model, grid), **grid}, accounts, model.class_name)
        kept = [
            {**{key: int(values[i]) for key, values in grid.items()}, **{name: int(found[name][i]) for name in accounts}}
            for i in range(rows)
        ]
        refused: list[tuple[dict[str, int], str]] = []
        refusals = 0
    except ConfigError:
        kept, refused, refusals = _one_by_one(model, grid, rows, accounts)
    return Sweep(tuple(ranges), tuple(kept), tuple(refused), refusals, tuple(_doublings(model, ranges)))


def _grid(ranges: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    import numpy as np

    axes = np.meshgrid(*(np.array(values, dtype=np.int64) for values in ranges.values()), indexing="ij")
    return {key: axis.reshape(-1) for key, axis in zip(ranges, axes, strict=True)}


def _fixed_config(model: ModelValue, grid: Mapping[str, Any]) -> dict[str, Any]:
    """Return the config without the keys that are varied, under any of their names."""
    assert model.description is not None
    varied = set(grid)
    for field in model.description.family.fields:
        # The keys of a derived field are those that it reads, and none of its own.
        if field.kind != "derived" and not grid.keys().isdisjoint((field.key, *field.aliases)):
            varied |= {field.key, *field.aliases}
    return {key: value for key, value in model.description.raw.items() if key not in varied}


def _one_by_one(
    model: ModelValue, grid: Mapping[str, Any], rows: int, accounts: Sequence[str]
) -> tuple[list[dict[str, int]], list[tuple[dict[str, int], str]], int]:
    """Weigh each combination alone, since some make no model."""
    if rows > ONE_BY_ONE:
        raise UsageError(
            Text(
                "some of {rows:,} combinations make no model; take steps that divide, or at most {one_by_one:,} combinations",
                rows=rows,
                one_by_one=ONE_BY_ONE,
            )
        )
    assert model.description is not None
    kept: list[dict[str, int]] = []
    refused: list[tuple[dict[str, int], str]] = []
    refusals = 0
    for i in range(rows):
        values = {key: int(column[i]) for key, column in grid.items()}
        try:
            tree = from_config(_fixed_config(model, grid), model.source, model.class_name, values).tree
        except ConfigError as error:
            refusals += 1
            if len(refused) < 100:
                refused.append((values, str(error)))
            continue
        kept.append({**values, **{name: as_int(ACCOUNTS[name](tree)) for name in accounts}})
    if not kept:
        raise ConfigError(Text("none of {rows:,} combinations makes a model: {refused}", rows=rows, refused=refused[0][1]))
    return kept, refused, refusals


def _doublings(model: ModelValue, ranges: Mapping[str, Sequence[int]]) -> list[Doubling]:
    """Say what doubling each key does; a key whose double makes no model, or that the config does not state, has no line."""
    assert model.description is not None
    before = as_int(tally_of(model).unique)
    found = []
    for key in ranges:
        value = _current_value(model, key)
        if value is None:
            continue
        try:
            doubled = from_config(_fixed_config(model, {key: None}), model.source, model.class_name, {key: 2 * value})
        except ConfigError:
            continue
        found.append(Doubling(key, value, before, as_int(tally_of(doubled).unique)))
    return found


def _current_value(model: ModelValue, key: str) -> int | None:
    assert model.description is not None
    for field in model.description.family.fields:
        if key in (field.key, *field.aliases) and field.kind == "size":
            value = getattr(model.description.sizes, field.word)
            return value if type(value) is int else None
    return None
