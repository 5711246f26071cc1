"""One size of many configs as a NumPy column, exact at any magnitude.

NumPy's int64 products wrap without a word. A :class:`Column` carries bounds on its values as Python ints; what its
bounds do not prove to fit 64 bits is computed in Python's own integers, entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add, mul, sub
from typing import TYPE_CHECKING, Any, NoReturn, final

from weighbridge.config.bind import LARGEST
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text
from weighbridge.core.sizes import Quantity, Size, UndecidedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Values = NDArray[np.int64] | NDArray[np.object_]

LIMIT = 2**63 - 1


@final
class Column(Quantity):
    """One size of many configs: values with bounds that every operation keeps up to date.

    Attributes:
        values: int64, or Python ints where 64 bits do not do.
        low, high: No value is below or above them.
    """

    __slots__ = ("high", "low", "values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Values, low: int, high: int) -> None:
        self.values = values
        self.low = low
        self.high = high

    def __add__(self, other: Size) -> Column:
        return _combine(self, other, add)

    def __radd__(self, other: Size) -> Column:
        return _combine(self, other, add)

    def __sub__(self, other: Size) -> Column:
        return _combine(self, other, sub)

    def __rsub__(self, other: Size) -> Column:
        return _combine(self, other, lambda a, b: b - a)

    def __mul__(self, other: Size) -> Column:
        return _combine(self, other, mul)

    def __rmul__(self, other: Size) -> Column:
        return _combine(self, other, mul)

    def __floordiv__(self, other: Size) -> Column:
        return _divide(self.values, _as_values(other), exactly=False)

    def __rfloordiv__(self, other: Size) -> Column:
        return _divide(_as_values(other), self.values, exactly=False)

    def divide_exactly(self, other: Size) -> Column:
        """Divide without remainder, naming the first row that has one."""
        return _divide(self.values, _as_values(other), exactly=True)

    def rdivide_exactly(self, other: Size) -> Column:
        """Divide an int by this column without remainder."""
        return _divide(_as_values(other), self.values, exactly=True)

    def scale(self, above: int, below: int) -> Column:
        """Multiply by a ratio and drop the fraction, naming the first row in which floats round it to another number."""
        import numpy as np

        found = self * above // below
        unlike = np.asarray((self.values * (above / below)).astype(np.int64) != found.values)
        if below & (below - 1) and unlike.any():
            row = int(unlike.argmax())
            text = Text("{hidden} times {ratio} is rounded", hidden=self.values[row], ratio=above / below)
            raise ConfigError(text, value=above / below)
        return found

    def _refuse_comparison(self, *_: object) -> NoReturn:
        raise UndecidedError("a column holds many sizes: it is neither true nor false, and cannot be compared")

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __index__ = __int__ = _refuse_comparison


def require_numpy() -> None:
    """Say how NumPy comes, where it is missing.

    Raises:
        UsageError: It is.
    """
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise UsageError("counting many configs at a time needs NumPy: pip install 'weighbridge[columns]'") from None


def column(values: object, key: str = "", minimum: int = 1) -> Column:
    """Take a sequence of whole numbers as a column.

    Raises:
        ConfigError: Values that are no integers, too large for a size, or below *minimum*.

    >>> column([768, 1024]).high
    1024
    """
    import numpy as np

    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.size:
        raise ConfigError(
            Text("expected a column of whole numbers, found {dtype} of shape {shape}", dtype=array.dtype, shape=array.shape), key=key
        )
    low, high = int(array.min()), int(array.max())
    if high > LARGEST or low < minimum:
        wrong = high if high > LARGEST else low
        row = int((array == wrong).argmax())
        raise ConfigError(
            Text(
                "{wrong:,} in row {row} is not possible: sizes are {minimum} to {largest:,}",
                wrong=wrong,
                row=row,
                minimum=minimum,
                largest=LARGEST,
            ),
            key=key,
            value=wrong,
        )
    return Column(array.astype(np.int64, copy=False), low, high)


def values_of(size: Size, rows: int) -> Values:
    """Return a size as an array of *rows* values: int64, or Python ints where 64 bits do not do.

    >>> values_of(7, 2).tolist(), values_of(2**70, 1).dtype.kind
    ([7, 7], 'O')
    """
    import numpy as np

    if isinstance(size, Column):
        return size.values
    assert isinstance(size, int)
    return np.full(rows, size, dtype=np.int64 if -LIMIT <= size <= LIMIT else object)


def _as_values(size: Size) -> Any:
    if isinstance(size, Column):
        return size.values
    if not isinstance(size, int):
        raise TypeError(f"a column and a {type(size).__name__} cannot be combined")
    return size


def _combine(left: Column, right: Size, operation: Callable[[Any, Any], Any]) -> Column:
    """Apply a ring operation; its values at the corners of the bounds are its own bounds."""
    other = _as_values(right)
    low, high = (right.low, right.high) if isinstance(right, Column) else (other, other)
    corners = [operation(a, b) for a in (left.low, left.high) for b in (low, high)]
    least, most = min(corners), max(corners)
    # The operands must fit as well: a plain int beyond 64 bits would make floats or unsigned numbers of a column.
    if min(least, low) >= -LIMIT and max(most, high) <= LIMIT and left.values.dtype.kind == "i":
        return Column(operation(left.values, other), least, most)
    return _as_int64(operation(_python_ints(left.values), _python_ints(other)))


def _python_ints(values: Any) -> Any:
    return values.astype(object) if hasattr(values, "astype") else values


def _is_wide(values: Any) -> bool:
    """Say whether a plain int or an array holds what does not fit 64 bits."""
    return abs(values) > LIMIT if isinstance(values, int) else bool(values.dtype.kind == "O")


def _as_int64(values: Any) -> Column:
    """Return a column of Python ints, as int64 again if all of them fit."""
    import numpy as np

    low, high = int(values.min()), int(values.max())
    fits = low >= -LIMIT and high <= LIMIT
    return Column(values.astype(np.int64) if fits else values, low, high)


def _divide(above: Any, below: Any, *, exactly: bool) -> Column:
    import numpy as np

    if any(_is_wide(side) for side in (above, below)):
        above, below = _python_ints(above), _python_ints(below)
    if not np.all(below):
        raise ConfigError(Text("a size of 0 in row {argmin} divides another", argmin=int(np.argmin(np.atleast_1d(below) != 0))), value=0)
    if exactly:
        rest = np.atleast_1d(above % below) != 0
        if rest.any():
            row = int(rest.argmax())
            top, bottom = (int(np.broadcast_to(side, rest.shape)[row]) for side in (above, below))
            raise ConfigError(Text("{top:,} is not divisible by {bottom:,} in row {row}", top=top, bottom=bottom, row=row), value=top)
    return _as_int64(above // below)
