"""A million configs at once: sizes as NumPy columns, with a guard against silent overflow.

NumPy's int64 products wrap without a word. A :class:`Column` carries bounds on its values as
Python ints; an operation whose bounds leave 64 bits is checked entry by entry, and what does
not fit raises.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, final

from weighbridge.accounts.parameters import Tally, tally
from weighbridge.blueprints import family
from weighbridge.config.bind import LARGEST, bind
from weighbridge.config.fields import Sizes
from weighbridge.core.errors import ConfigError, UnknownArchitecture
from weighbridge.core.sizes import Quantity, Size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Int64 = NDArray[np.int64]

LIMIT = 2**63 - 1
BLOCK = 32_768
"""Rows worked on at a time: a block's columns stay in the processor's cache."""


@final
class Column(Quantity):
    """One size of many configs: int64 values with bounds that every operation keeps up to date."""

    __slots__ = ("high", "low", "values")

    def __init__(self, values: Int64, low: int, high: int) -> None:
        self.values = values
        self.low = low
        self.high = high

    def __add__(self, other: Size) -> Column:
        return _combined(self, other, lambda a, b: a + b)

    def __radd__(self, other: Size) -> Column:
        return _combined(self, other, lambda a, b: b + a)

    def __sub__(self, other: Size) -> Column:
        return _combined(self, other, lambda a, b: a - b)

    def __rsub__(self, other: Size) -> Column:
        return _combined(self, other, lambda a, b: b - a)

    def __mul__(self, other: Size) -> Column:
        return _combined(self, other, lambda a, b: a * b)

    def __rmul__(self, other: Size) -> Column:
        return _combined(self, other, lambda a, b: b * a)

    def __floordiv__(self, other: Size) -> Column:
        return _measured(self.values // _plain(other))

    def __rfloordiv__(self, other: Size) -> Column:
        return _measured(_plain(other) // self.values)

    def divided_exactly(self, other: Size) -> Column:
        """Divide without remainder, naming the first row that has one."""
        return _divided(self.values, _plain(other))

    def dividing_exactly(self, other: Size) -> Column:
        """Divide an int by this column without remainder."""
        return _divided(_plain(other), self.values)


def column(values: object, key: str = "", minimum: int = 1) -> Column:
    """Take a sequence of whole numbers as a column.

    Raises:
        ConfigError: Values that are no integers, do not fit 64 bits or are below *minimum*.

    >>> column([768, 1024]).high
    1024
    """
    import numpy as np

    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise ConfigError(f"expected a column of whole numbers, found {array.dtype} of shape {array.shape}", key=key)
    low, high = int(array.min()), int(array.max())
    if high > LARGEST or low < minimum:
        wrong = high if high > LARGEST else low
        row = int((array == wrong).argmax())
        raise ConfigError(f"{wrong:,} in row {row} is not possible: sizes are {minimum} to {LARGEST:,}", key=key, value=wrong)
    return Column(array.astype(np.int64, copy=False), low, high)


def count(model_type: str, columns: Mapping[str, Any], model_class: str | None = None) -> Int64:
    """Count the unique parameters of many configs of one type.

    Args:
        model_type: Such as ``bert``.
        columns: The config's fields. Sizes may be columns (sequences or arrays of ints, all of one length)
            or a single int for all; switches are single values.
        model_class: The class to count; by default the type's base class.

    Returns:
        One exact count per config, int64.

    Raises:
        OverflowError: A count does not fit 64 bits.
        ConfigError: As for a single config, naming the row.

    >>> count("bert", {"num_hidden_layers": [12, 24]}).tolist()
    [109482240, 194536704]
    """
    import numpy as np

    parts = [_array(block.unique, rows) for block, rows in tallies(model_type, columns, model_class)]
    return np.concatenate(parts)


def tallies(model_type: str, columns: Mapping[str, Any], model_class: str | None = None) -> Iterator[tuple[Tally, int]]:
    """Yield the tally of each block of configs, columns in place of ints, and its number of rows."""
    known = family(model_type)
    name = model_class or known.base
    if name not in known.classes:
        raise UnknownArchitecture(f"no class {name!r} of model type {model_type!r}", key="architectures", value=name)
    keys = {key: field for field in known.fields if field.kind in ("size", "labels") for key in (field.key, *field.aliases)}
    single = {key: value for key, value in columns.items() if not _is_column(value)}
    many = {}
    for key, value in columns.items():
        if _is_column(value):
            if key not in keys:
                raise ConfigError("only sizes can be columns", key=key)
            many[key] = column(value, key, keys[key].minimum)
    rows = {len(found.values) for found in many.values()} or {1}
    if len(rows) > 1:
        raise ConfigError(f"columns of unlike lengths: {sorted(rows)}")
    # Switches are the same for all rows, so they are read once, off the first.
    first = bind(known.fields, {**single, **{key: int(found.values[0]) for key, found in many.items()}})
    for start in range(0, max(rows), BLOCK):
        block = {key: Column(found.values[start : start + BLOCK], found.low, found.high) for key, found in many.items()}
        sizes: Sizes = bind(known.fields, {**single, **block}, like=first)
        yield tally(known.classes[name](sizes)), min(BLOCK, max(rows) - start)


def _is_column(value: object) -> bool:
    return isinstance(value, (list, tuple)) or hasattr(value, "__array__")


def _array(size: Size, rows: int) -> Int64:
    import numpy as np

    return size.values if isinstance(size, Column) else np.full(rows, size, dtype=np.int64)


def _plain(size: Size) -> Any:
    if isinstance(size, Column):
        return size.values
    if not isinstance(size, int):
        raise TypeError(f"a column and a {type(size).__name__} cannot be combined")
    return size


def _combined(left: Column, right: Size, operation: Callable[[Any, Any], Any]) -> Column:
    """Apply a ring operation; bounds prove most of them safe, the rest are checked entry by entry."""
    other = _plain(right)
    low, high = (right.low, right.high) if isinstance(right, Column) else (other, other)
    corners = [operation(a, b) for a in (left.low, left.high) for b in (low, high)]
    low, high = min(corners), max(corners)
    if low >= -LIMIT and high <= LIMIT:
        return Column(operation(left.values, other), low, high)
    return _checked(left.values, other, operation)


def _checked(values: Int64, other: Any, operation: Callable[[Any, Any], Any]) -> Column:
    import numpy as np

    exact = operation(values.astype(object), other.astype(object) if isinstance(other, np.ndarray) else other)
    for row, value in enumerate(exact):
        if not -LIMIT <= value <= LIMIT:
            raise OverflowError(f"a count of row {row} does not fit 64 bits: {value:,}")
    return _measured(exact.astype(np.int64))


def _measured(values: Int64) -> Column:
    return Column(values, int(values.min()), int(values.max()))


def _divided(above: Any, below: Any) -> Column:
    import numpy as np

    rest = np.atleast_1d(above % below)
    if rest.any():
        row = int((rest != 0).argmax())
        top, bottom = (int(np.broadcast_to(side, rest.shape)[row]) for side in (above, below))
        raise ConfigError(f"{top:,} does not divide exactly by {bottom:,} in row {row}", value=top)
    return _measured(above // below)
