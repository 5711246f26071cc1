"""Tables of configs in and out: mappings of arrays, Arrow tables, Polars and pandas frames.

A row is a config. Sizes are columns of whole numbers; every other column (the class, a switch, a word) is what rows are grouped by, and
so is whether a value is there at all: where it is null, the class's default holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.columns.column import require_numpy
from weighbridge.columns.evaluate import measure
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from weighbridge.columns.column import Values

    Array = NDArray[Any]

KINDS = ("numpy", "arrow", "polars", "pandas")
"""What a table can be, and be turned into."""


def measure_table(
    table: Any,
    accounts: Sequence[str] | Mapping[str, Callable[[Part], Size]] = ("parameters", "active"),
    model_type: str | None = None,
    to: str | None = None,
) -> Any:
    """Weigh every row of a table.

    Args:
        table: A mapping of arrays or lists, a ``pyarrow.Table``, a Polars or a pandas frame. Its columns are config keys; ``model_type`` and
            ``class`` may be among them.
        accounts: As for :func:`weighbridge.columns.measure`.
        model_type: Of all rows, where the table has no such column.
        to: One of :data:`KINDS`; by default what *table* is.

    Returns:
        Of a mapping, one of arrays by account; of a frame, the frame with a column more for each account. Counts that do not fit 64 bits are
        Python ints, in Arrow and Polars decimal numbers.

    Raises:
        ConfigError: A row that makes no model, or has no model type.
        UsageError: No table, an account that nobody knows, or a package that is missing.

    >>> measure_table({"model_type": ["bert", "gpt2"], "vocab_size": [21128, 50257]}, ["parameters"])["parameters"].tolist()
    [102267648, 124439808]
    """
    require_numpy()
    import numpy as np

    own, columns = kind_of(table), arrays_of(table)
    if to is not None and to not in KINDS:
        raise UsageError(Text("to: expected one of {kinds}, found {to!r:.40}", kinds=", ".join(KINDS), to=to))
    rows = len(next(iter(columns.values()), ()))
    found: dict[str, Array] = {}
    for numbers, single, sizes in _groups_of_rows(columns, rows):
        single = {key: value for key, value in single.items() if value is not None}
        stated, class_name = single.pop("model_type", model_type), single.pop("class", None)
        if not isinstance(stated, str):
            raise ConfigError(
                Text("row {row}: no model type; give a column model_type, or the argument", row=int(numbers[0])), key="model_type"
            )
        try:
            part = measure(stated, {**single, **sizes}, accounts, class_name)
        except ConfigError as error:
            raise ConfigError(Text("of the rows from {row} on that are alike: {error}", row=int(numbers[0]), error=error)) from None
        for name, values in part.items():
            whole = found.setdefault(name, np.zeros(rows, dtype=np.int64))
            if values.dtype == object and whole.dtype != object:
                found[name] = whole = whole.astype(object)
            whole[numbers] = values if len(values) == len(numbers) else values[0]
    return _put(table, found, own, to or own)


def kind_of(table: Any) -> str:
    """Tell what a table is.

    >>> kind_of({"vocab_size": [1]})
    'numpy'
    """
    module = type(table).__module__.partition(".")[0]
    kind = {"pyarrow": "arrow", "polars": "polars", "pandas": "pandas"}.get(module, "numpy" if isinstance(table, Mapping) else None)
    if kind is None:
        name = type(table).__name__
        raise UsageError(Text("a {name} is not a table; expected a mapping of arrays, or an Arrow, Polars or pandas table", name=name))
    return kind


def arrays_of(table: Any) -> dict[str, Array]:
    """Return the columns of any table as arrays; what is null in a column of whole numbers is None there.

    >>> {key: values.tolist() for key, values in arrays_of({"vocab_size": [5, 7]}).items()}
    {'vocab_size': [5, 7]}
    """
    kind = kind_of(table)
    if kind == "numpy":
        columns = {key: _array(values) for key, values in table.items()}
        rows = {len(values) for values in columns.values() if values.ndim}
        if len(rows) > 1:
            raise ConfigError(Text("columns of different lengths: {lengths}", lengths=sorted(rows)))
        return {key: values if values.ndim else _repeat(values.item(), max(rows, default=1)) for key, values in columns.items()}
    if kind == "arrow":
        return {name: _of_arrow(table.column(name)) for name in table.column_names}
    if kind == "polars":
        return {name: _array(table[name].to_list()) if table[name].null_count() else table[name].to_numpy() for name in table.columns}
    return {str(name): _of_pandas(table[name]) for name in table.columns}


def _repeat(value: Any, rows: int) -> Array:
    import numpy as np

    return np.full(rows, value)


def _array(values: Any) -> Array:
    import numpy as np

    array = np.asarray(values)
    return array if array.dtype.kind in "iubO" else array.astype(object)


def _of_arrow(column: Any) -> Array:
    return _array(column.to_pylist()) if column.null_count else _array(column.to_numpy())


def _of_pandas(series: Any) -> Array:
    if not series.isna().any():
        return _array(series.to_numpy())
    # pandas makes floats of whole numbers as soon as one is missing
    values = [None if missing else value for value, missing in zip(series.tolist(), series.isna().tolist(), strict=True)]
    return _array([int(value) if isinstance(value, float) and value.is_integer() else value for value in values])


def _groups_of_rows(columns: Mapping[str, Array], rows: int) -> Iterator[tuple[NDArray[np.intp], dict[str, Any], dict[str, Array]]]:
    """Yield rows that are alike in all but their sizes: their numbers, what they have in common, and their sizes."""
    import numpy as np

    codes = np.zeros(rows, dtype=np.intp)
    apart: dict[str, Array] = {}
    for key, values in columns.items():
        if values.dtype.kind in "iu":
            continue
        found: dict[Any, int] = {}
        own = np.array([found.setdefault(_mark(value), len(found)) for value in values.tolist()], dtype=np.intp)
        _, codes = np.unique(codes * len(found) + own, return_inverse=True)
        apart[key] = values
    for code in range(int(codes.max()) + 1 if rows else 0):
        numbers = np.flatnonzero(codes == code)
        many = {key: values[numbers] for key, values in columns.items() if key not in apart}
        single = {}
        for key, values in apart.items():
            first = values[numbers[0]]
            if type(first) is int:
                many[key] = values[numbers].astype(np.int64)
            else:
                single[key] = first.item() if isinstance(first, np.generic) else first
        yield numbers, single, many


def _mark(value: Any) -> tuple[str, str]:
    """Return what rows of one group have in common: of a size only that it is one."""
    return type(value).__name__, "" if type(value) is int else repr(value)


def _put(table: Any, found: Mapping[str, Values], own: str, to: str) -> Any:
    """Return what was found, in the form that was asked for; beside the table's own columns where that is a frame."""
    if to == "numpy":
        return dict(found)
    columns: dict[str, Any] = dict(found) if own == "numpy" else {**arrays_of(table), **found}
    try:
        if to == "pandas":
            import pandas

            return table.assign(**found) if own == "pandas" else pandas.DataFrame(columns)
        if to == "arrow":
            import pyarrow

            return pyarrow.table({name: _arrow_column(values) for name, values in columns.items()})
        import polars

        series = [
            polars.Series(name, _as_decimals(values), strict=False) for name, values in (found if own == "polars" else columns).items()
        ]
        return table.with_columns(series) if own == "polars" else polars.DataFrame(series)
    except ImportError as error:
        raise UsageError(
            Text("to {to}: {name} is not installed: pip install 'weighbridge[frames]'", to=to, name=error.name or to)
        ) from None


def _arrow_column(values: Values) -> Any:
    import pyarrow

    if values.dtype == object and any(type(value) is int and abs(value) >= 2**63 for value in values):
        from decimal import Decimal

        return pyarrow.array([None if value is None else Decimal(value) for value in values], pyarrow.decimal256(76, 0))
    return pyarrow.array(values.tolist() if values.dtype == object else values)


def _as_decimals(values: Values) -> Any:
    if values.dtype != object:
        return values
    from decimal import Decimal

    return [Decimal(value) if type(value) is int and abs(value) >= 2**63 else value for value in values.tolist()]
