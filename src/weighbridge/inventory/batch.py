"""Many configs, grouped so that configs that differ in sizes alone are one blueprint over columns.

What is grouped is only what certainly belongs together; the rest is weighed one at a time. Either way the row is the same, and
the first and last of every group are weighed alone as well, and compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

from weighbridge.blueprints import MODULES, family
from weighbridge.blueprints.field_types import refuse_types
from weighbridge.blueprints.refused_kinds import refuse_kinds
from weighbridge.blueprints.refused_rotary import refuse_rotary
from weighbridge.blueprints.refused_values import refuse_pairs
from weighbridge.columns.column import Column
from weighbridge.columns.evaluate import Block, blocks, table_of
from weighbridge.config.check import ACTIVATIONS_WITH_PARAMETERS
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.errors import ConfigError, WeighbridgeError
from weighbridge.inventory.rows import WORDS, accounts_of, quantization, row_of_config
from weighbridge.inventory.schema import LARGEST, OK, Row, fit_int64

NamedConfig: TypeAlias = tuple[str, dict[str, Any]]
"""Where a config is from, and the config."""

FEWEST = 8
"""Configs that are worth a group; fewer are weighed one at a time."""


class _Keys(NamedTuple):
    """Of a family's keys: those that may be columns, those that decide, and whether it can be grouped at all."""

    sizes: frozenset[str]
    deciding: frozenset[str]


def rows_of_configs(configs: Sequence[NamedConfig]) -> list[Row]:
    """Weigh configs, each given with where it is from; one row each, in their order.

    >>> [row["unique"] for row in rows_of_configs([("a", {"model_type": "bert"}), ("b", {"model_type": "bert", "vocab_size": 21128})])]
    [109482240, 102267648]
    """
    found: list[Row | None] = [None] * len(configs)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for index, (_, raw) in enumerate(configs):
        key = _group_key(raw)
        if key is not None:
            groups.setdefault(key, []).append(index)
    for members in groups.values():
        if len(members) >= FEWEST:
            for index, row in zip(members, _weigh_group([configs[index] for index in members]), strict=True):
                found[index] = row
    seen: dict[tuple[Any, ...], Row] = {}
    return [row if row is not None else _weigh_config(config, seen) for row, config in zip(found, configs, strict=True)]


def _weigh_config(config: NamedConfig, seen: dict[tuple[Any, ...], Row]) -> Row:
    """Weigh one config, unless one with the very same keys and values was just weighed."""
    path, raw = config
    try:
        key = tuple(sorted((name, repr(value)) for name, value in raw.items()))
    except (TypeError, RecursionError):
        return row_of_config(raw, path)
    if key not in seen:
        if len(seen) > 10_000:
            seen.clear()
        seen[key] = row_of_config(raw, path)
    return seen[key] | {"path": path}


def _group_key(raw: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return what all configs of a group share, or None for a config that is weighed alone."""
    model_type = raw.get("model_type")
    if type(model_type) is not str or model_type not in MODULES:
        return None
    keys = _keys(model_type)
    if keys is None:
        return None
    shape: list[Any] = [model_type]
    for name, value in raw.items():
        kind = type(value)
        if kind is str and value in ACTIVATIONS_WITH_PARAMETERS:
            return None
        if kind is int and name in keys.sizes:
            shape.append(name)
        elif name in keys.deciding:
            if kind is dict and name != "id2label":
                return None
            shape.append((name, len(value) if name == "id2label" and kind is dict else repr(value)))
    return tuple(sorted(shape, key=str))


_KEYS: dict[str, _Keys | None] = {}


def _keys(model_type: str) -> _Keys | None:
    if model_type not in _KEYS:
        _KEYS[model_type] = _keys_of(family(model_type))
    return _KEYS[model_type]


def _keys_of(known: Family) -> _Keys | None:
    if known.normalize_config is not None or any(field.kind == "nested" for field in known.fields):
        return None
    sizes = {name for field in known.fields if field.kind == "size" for name in (field.key, *field.aliases) if name}
    concrete = {name for field in known.fields if field.kind != "size" for name in (field.key, *field.aliases) if name}
    decisive = {"architectures", "id2label", "num_labels", "per_layer_config", "tie_word_embeddings", "text_config", "decoder"}
    return _Keys(frozenset(sizes - concrete), frozenset(sizes | concrete | decisive))


def _weigh_group(configs: list[NamedConfig]) -> Iterable[Row]:
    """Count a group as columns; where that fails, or a config counted by itself disagrees, one at a time."""
    try:
        rows = _as_columns(configs)
    except (WeighbridgeError, TypeError, AssertionError, KeyError):
        return [row_of_config(raw, path) for path, raw in configs]
    for index in {0, len(configs) - 1}:
        path, raw = configs[index]
        if row_of_config(raw, path) != rows[index]:
            return [row_of_config(raw, path) for path, raw in configs]
    return rows


def _as_columns(configs: list[NamedConfig]) -> list[Row]:
    """Weigh configs of one type and class that differ in nothing but sizes, as columns: those of one block at a time."""
    first = configs[0][1]
    model_type = first["model_type"]
    known, keys = family(model_type), _keys(model_type)
    assert keys is not None
    stated = first.get("architectures")
    class_name = stated[0] if stated else known.base
    columns = {name: [raw[name] for _, raw in configs] for name, value in first.items() if type(value) is int and name in keys.sizes}
    columns = {name: values for name, values in columns.items() if values.count(values[0]) < len(values)}
    single = {name: value for name, value in first.items() if name not in columns}
    table = table_of(model_type, single | columns, class_name)
    if table.rows != len(configs):  # nothing but what is alike: one of them tells of all that state the same
        seen: dict[tuple[Any, ...], Row] = {}
        return [_weigh_config(config, seen) for config in configs]
    rows: list[Row | None] = [None] * len(configs)
    for block in blocks(table):
        numbers = block.rows.tolist()
        found = _of_block(block, model_type, class_name, [configs[number] for number in numbers])
        for number, row in zip(numbers, found, strict=True):
            rows[number] = row
    return [row for row in rows if row is not None]


def _of_block(block: Block, model_type: str, class_name: str, configs: list[NamedConfig]) -> list[Row]:
    """Return the rows of configs of one tree, a column of the table at a time."""
    many = len(configs)
    accounts = accounts_of(block.tree, model_type, configs[0][1])
    sizes = {word: _list(value, many) for word, value in vars(block.sizes).items() if type(value) in (int, Column)}
    cells: dict[str, list[Any]] = {"path": [path for path, _ in configs]}
    for name, value in (("status", OK), ("kind", "config"), ("model_type", model_type), ("class", class_name)):
        cells[name] = [value] * many
    cells |= {name: sizes[word] for name, word in WORDS.items() if word in sizes}
    cells |= {name: _list(value, many) for name, value in accounts.items()}
    cells["quantization"] = [quantization(raw) for _, raw in configs]
    cells["fingerprint"] = _fingerprints(class_name, block.sizes, sizes, many)
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    rows = [fit_int64(row) for row in rows] if any(map(_may_be_wide, accounts.values())) else rows
    return [
        row
        if _fits(model_type, class_name, Config(**{word: values[number] for word, values in sizes.items()}), raw)
        else row_of_config(raw, path)
        for number, (row, (path, raw)) in enumerate(zip(rows, configs, strict=True))
    ]


def _fits(model_type: str, class_name: str, sizes: Config, raw: dict[str, Any]) -> bool:
    """Say whether a row's values are such as its classes take and fit together, which columns do not ask."""
    fields = family(model_type).fields
    try:
        refuse_types(model_type, raw)
        refuse_kinds(model_type, class_name, raw)
        refuse_pairs(model_type, fields, sizes, raw)
        refuse_rotary(model_type, fields, sizes, raw)
    except ConfigError:
        return False
    return True


def _may_be_wide(value: Any) -> bool:
    """Say whether a count may not fit 64 bits."""
    return value.values.dtype.kind != "i" if isinstance(value, Column) else value is not None and abs(value) > LARGEST


def _list(value: Any, rows: int) -> list[Any]:
    return value.values.tolist() if isinstance(value, Column) else [value] * rows


def _fingerprints(class_name: str, sizes: Config, columns: Mapping[str, list[int]], rows: int) -> list[str]:
    """Return what :func:`weighbridge.inventory.rows.fingerprint` gives for each row."""
    words = sorted(word for word, value in vars(sizes).items() if not callable(value))
    facts: list[Iterable[str]] = []
    for word in words:
        name, own = f"\0{word}=", getattr(sizes, word)
        facts.append([f"{name}{value!r}" for value in columns[word]] if isinstance(own, Column) else [f"{name}{own!r}"] * rows)
    prefix, result = blake2b(class_name.encode(), digest_size=8), []
    for pieces in zip(*facts, strict=True):
        digest = prefix.copy()
        digest.update("".join(pieces).encode())
        result.append(digest.hexdigest())
    return result
