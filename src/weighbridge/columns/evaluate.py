"""Accounts over tables of configs: rows are grouped by class and switches, and each group is evaluated once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.accounts.parameters import tally
from weighbridge.blueprints import family
from weighbridge.blueprints.describe import from_config
from weighbridge.blueprints.learned_activations import with_learned_activations
from weighbridge.columns.column import Column, column, require_numpy, values_of
from weighbridge.columns.groups import group
from weighbridge.config.bind import bind, find_sub_config, with_overrides
from weighbridge.config.check import refuse_undescribed
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field
from weighbridge.core.errors import ConfigError, UnknownArchitecture, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Size, UndecidedError
from weighbridge.core.suggestions import did_you_mean
from weighbridge.core.tree import Part, Tensor, walk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from weighbridge.columns.column import Values

BLOCK = 32_768
"""Rows worked on at a time: a block's columns stay in the processor's cache."""

ACCOUNTS: Mapping[str, Callable[[Part], Size]] = {
    "parameters": lambda tree: tally(tree).unique,
    "active": lambda tree: tally(tree).active,
    "trainable": lambda tree: tally(tree).trainable,
    "stored": lambda tree: tally(tree).stored,
    "embedding": lambda tree: tally(tree).embedding,
    "non_embedding": lambda tree: tally(tree).non_embedding,
    "buffers": lambda tree: tally(tree).buffers,
}
"""What can be measured of every row: each takes a tree, whatever its sizes are."""


class Table(NamedTuple):
    """A table of configs of one type: what is the same in all rows, and the sizes that differ."""

    known: Family
    class_name: str
    single: dict[str, Any]
    many: dict[str, NDArray[np.int64]]
    rows: int


def count(model_type: str, columns: Mapping[str, Any], model_class: str | None = None) -> Values:
    """Count the unique parameters of many configs of one type.

    Args:
        model_type: Such as ``bert``.
        columns: The config's fields. Sizes may be columns (sequences or arrays of ints, all of one length)
            or a single int for all; switches are single values.
        model_class: The class to count; by default the type's base class.

    Returns:
        One exact count per config: int64, or Python ints where a count does not fit 64 bits.

    Raises:
        ConfigError: As for a single config, naming the row.

    >>> count("bert", {"num_hidden_layers": [12, 24]}).tolist()
    [109482240, 194536704]
    """
    return measure(model_type, columns, ("parameters",), model_class)["parameters"]


def measure(
    model_type: str,
    columns: Mapping[str, Any],
    accounts: Sequence[str] | Mapping[str, Callable[[Part], Size]] = ("parameters", "active"),
    model_class: str | None = None,
) -> dict[str, Values]:
    """Evaluate accounts of many configs of one type.

    Args:
        model_type, columns, model_class: As for :func:`count`; a dotted key reaches into a sub-config.
        accounts: Names out of :data:`ACCOUNTS`, or functions of a tree by name.

    Returns:
        For each account, one exact value per config.

    Raises:
        ConfigError: A row that makes no model.
        UsageError: An account that nobody knows.

    >>> measure("mixtral", {"num_local_experts": [8, 16]}, model_class="MixtralForCausalLM")["active"].tolist()
    [12879925248, 12880973824]
    """
    require_numpy()
    import numpy as np

    chosen = _accounts(accounts)
    table = table_of(model_type, columns, model_class)
    parts: list[tuple[Any, dict[str, Values]]] = list(_evaluate(table, chosen))
    if len(parts) == 1 and len(parts[0][0]) == table.rows:
        return parts[0][1]
    result: dict[str, Values] = {}
    for name in chosen:
        wide = any(values[name].dtype == object for _, values in parts)
        result[name] = np.empty(table.rows, dtype=object if wide else np.int64)
        for rows, values in parts:
            result[name][rows] = values[name]
    return result


def _accounts(accounts: Sequence[str] | Mapping[str, Callable[[Part], Size]]) -> Mapping[str, Callable[[Part], Size]]:
    if isinstance(accounts, Mapping):
        return accounts
    for name in accounts:
        if name not in ACCOUNTS:
            raise UsageError(
                Text(
                    "no account {name!r}; {did_you_mean}",
                    name=name,
                    did_you_mean=did_you_mean(name, ACCOUNTS) or Text("known: {names}", names=", ".join(ACCOUNTS)),
                )
            )
    return {name: ACCOUNTS[name] for name in accounts}


def table_of(model_type: str, columns: Mapping[str, Any], model_class: str | None = None) -> Table:
    """Take a mapping of columns and single values as a table.

    Raises:
        ConfigError: Columns of unlike lengths, or of what is no size.
        UnknownArchitecture: No such class.

    >>> table_of("bert", {"num_hidden_layers": [2, 4, 6], "vocab_size": 100}).rows
    3
    """
    known = family(model_type)
    name = model_class or known.base
    if name not in known.classes:
        raise UnknownArchitecture(
            Text("no class {name!r} of model type {model_type!r}", name=name, model_type=model_type), key="architectures", value=name
        )
    lists = {field.key for field in known.fields if field.kind == "sequence"} | {"architectures", "layer_types"}
    single = {key: value for key, value in columns.items() if not _is_column(value) or (key in lists and not hasattr(value, "__array__"))}
    nested = {key: value for key, value in single.items() if "." in key}
    single = with_overrides({key: value for key, value in single.items() if "." not in key}, nested)
    many = {}
    for key, value in columns.items():
        if _is_column(value) and not (key in lists and not hasattr(value, "__array__")):
            many[key] = column(value, key, _size_field(known, single, key).minimum).values
    lengths = {len(values) for values in many.values()} or {1}
    if len(lengths) > 1:
        raise ConfigError(Text("columns of different lengths: {lengths}", lengths=sorted(lengths)))
    return Table(known, name, single, many, max(lengths))  # type: ignore[arg-type]


def _is_column(value: object) -> bool:
    return isinstance(value, (list, tuple)) or hasattr(value, "__array__")


def _size_field(known: Family, single: Mapping[str, Any], path: str) -> Field:
    fields, raw = known.fields, single
    *parents, last = path.split(".")
    for parent in parents:
        nested = next((field for field in fields if field.key == parent and field.kind == "nested"), None)
        inner = find_sub_config(nested, raw) if nested else None
        if inner is None:
            raise ConfigError(Text("{model_type} has no sub-config {parent!r}", model_type=known.model_type, parent=parent), key=path)
        fields, raw = inner.fields, inner.raw
    for field in fields:
        if field.kind in ("size", "labels") and last in (field.key, *field.aliases):
            return field
    raise ConfigError("only sizes can be columns", key=path)


class Block(NamedTuple):
    """Rows evaluated together: their numbers, the sizes that the blueprint read, and the tree it made of them."""

    rows: Any
    sizes: Config
    tree: Part


def blocks(table: Table) -> Iterator[Block]:
    """Yield the rows of a table in blocks of one tree each, whose sizes are columns.

    Raises:
        ConfigError: A row that makes no model.
        TypeError: A rule of the fields compares sizes, so that no column can tell; or some row has a tensor of less than nothing.
    """
    import numpy as np

    known = table.known
    first = with_overrides(table.single, {key: int(values[0]) for key, values in table.many.items()})
    refuse_undescribed(known.fields, first)
    known = with_learned_activations(known, first)
    _refuse_doubles(table)
    for rows_alike, like in group(known, table.single, table.many, np.arange(table.rows)):
        for start in range(0, len(rows_alike), BLOCK):
            block = rows_alike[start : start + BLOCK]
            where = slice(int(block[0]), int(block[-1]) + 1) if len(rows_alike) == table.rows else block
            raw = with_overrides(table.single, {key: _one_or_many(values[where]) for key, values in table.many.items()})
            sizes = bind(known.fields, raw, like=like)
            tree = known.classes[table.class_name](sizes)
            _refuse_less_than_nothing(tree)
            yield Block(block, sizes, tree)


def _refuse_less_than_nothing(tree: Part) -> None:
    """Refuse a tree that some row gives a size below 0: row by row it is said which makes no model."""
    for _, part in walk(tree):
        for node in part.children:
            sizes = node.shape if isinstance(node, Tensor) else (node.repeat,) if isinstance(node, Part) else ()
            if any(isinstance(size, Column) and size.low < 0 and size.values.min() < 0 for size in sizes):
                raise UndecidedError(f"{node.name}: less than nothing in some rows")


def _one_or_many(values: NDArray[np.int64]) -> int | Column:
    """Return a column, or the one size that it holds throughout: an int is quicker, and an account may compare it."""
    low, high = int(values.min()), int(values.max())
    return low if low == high else Column(values, low, high)


def _evaluate(table: Table, accounts: Mapping[str, Callable[[Part], Size]]) -> Iterator[tuple[Any, dict[str, Values]]]:
    """Yield the row numbers of each block and its values."""
    if table.known.normalize_config is None:
        try:
            found = [
                (block.rows, {name: values_of(account(block.tree), len(block.rows)) for name, account in accounts.items()})
                for block in blocks(table)
            ]
        except (TypeError, AssertionError):
            pass  # a rule of the fields, or an account, compares sizes to choose another: then it is evaluated row by row
        else:
            yield from found
            return
    yield from _one_by_one(table, accounts)


def _refuse_doubles(table: Table) -> None:
    """Refuse two keys of one field where one of them is a column: either could be meant."""
    for field in table.known.fields:
        given = [key for key in (field.key, *field.aliases) if key and (key in table.many or table.single.get(key) is not None)]
        if len(given) > 1 and any(key in table.many for key in given) and field.kind != "derived":
            raise ConfigError(
                Text("is given together with {given}, and both name the same field", given=given[0]), key=given[1], hint="keep one"
            )


def _one_by_one(table: Table, accounts: Mapping[str, Callable[[Part], Size]]) -> Iterator[tuple[Any, dict[str, Values]]]:
    """Weigh rows one at a time, where their layout or a comparison of sizes keeps them from being columns."""
    import numpy as np

    known, rows = table.known, np.arange(table.rows)
    results: dict[str, list[int]] = {name: [] for name in accounts}
    for row in rows:
        raw = with_overrides(table.single, {key: int(values[row]) for key, values in table.many.items()})
        try:
            tree = from_config({"model_type": known.model_type, **raw}, "config", table.class_name, None).tree
        except ConfigError as error:
            raise ConfigError(Text("row {row}: {error}", row=row, error=error), value=error.value) from None
        for name, account in accounts.items():
            results[name].append(account(tree))  # type: ignore[arg-type]
    arrays = {name: np.array(values, dtype=object) for name, values in results.items()}
    yield rows, {name: values.astype(np.int64) if all(abs(v) < 2**63 for v in values) else values for name, values in arrays.items()}
