"""A size is an int, a symbol or a column; whatever is written here serves all three.

Blueprints add, subtract, multiply and exactly divide sizes, and round them up. Nothing else:
no comparison, no ``range``, no ``int()``. That is what lets one function give a count, a
formula and a million counts.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias


class UndecidedError(TypeError):
    """A quantity was asked what only a number can answer: whether it is true, or larger than another."""


class Quantity:
    """What a size that is not an int can do. Symbols and columns are the two kinds.

    Every operation returns a quantity again; comparing, hashing by value and truth are left
    out on purpose, since a blueprint must never ask what a size is.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # what each kind defines: Python itself refuses an operator that a kind lacks

        def __add__(self, other: Size) -> Quantity: ...

        def __radd__(self, other: Size) -> Quantity: ...

        def __sub__(self, other: Size) -> Quantity: ...

        def __rsub__(self, other: Size) -> Quantity: ...

        def __mul__(self, other: Size) -> Quantity: ...

        def __rmul__(self, other: Size) -> Quantity: ...

        def __floordiv__(self, other: Size) -> Quantity: ...

        def __rfloordiv__(self, other: Size) -> Quantity: ...

        def divide_exactly(self, other: Size) -> Quantity:
            """Divide without remainder; what has a remainder is an error."""

        def rdivide_exactly(self, other: Size) -> Quantity:
            """Divide *other*, an int, by this quantity without remainder."""

    def scale(self, above: int, below: int) -> Size:
        """Multiply by a ratio and drop the fraction; where the values are known, what floats would round otherwise is an error."""
        return self * above // below


Size: TypeAlias = int | Quantity


def product(sizes: Iterable[Size]) -> Size:
    """Multiply sizes; the empty product is 1, since a scalar tensor has one element.

    >>> product((3, 4)), product(())
    (12, 1)
    """
    total: Size = 1
    for size in sizes:
        total = total * size
    return total


def exact(numerator: Size, denominator: Size) -> Size:
    """Divide exactly: a remainder is an error, never dropped.

    Raises:
        ConfigError: Ints that do not divide, or a column in which some do not.

    >>> exact(768, 12)
    64
    """
    if type(numerator) is int and type(denominator) is int:
        quotient, remainder = divmod(numerator, denominator)
        if remainder:
            raise ConfigError(
                Text("{numerator:,} is not divisible by {denominator:,}", numerator=numerator, denominator=denominator),
                value=numerator,
            )
        return quotient
    if isinstance(numerator, Quantity):
        return numerator.divide_exactly(denominator)
    if not isinstance(denominator, Quantity):
        raise ConfigError(
            Text("{numerator!r:.60} / {denominator!r:.60}: sizes are whole numbers", numerator=numerator, denominator=denominator),
            value=numerator,
        )
    return denominator.rdivide_exactly(numerator)


def is_some(number: Size) -> bool:
    """Say whether there is any of what is numbered; a symbol or a column always stands for some.

    >>> is_some(12), is_some(0)
    (True, False)
    """
    return type(number) is not int or number > 0


def round_up(size: Size, multiple: Size) -> Size:
    """Round up to the next multiple.

    >>> round_up(30522, 64), round_up(64, 64)
    (30528, 64)
    """
    return (size + multiple - 1) // multiple * multiple


MOST_LAYERS = 100_000
"""The most layers that are looked at one by one; where all are alike, they are stored once, and there may be any number."""


def as_int(size: object) -> int:
    """Return a size of a tree, or a measure of one, whose sizes are all ints: it is an int itself.

    >>> as_int(768)
    768
    """
    assert isinstance(size, int), size
    return size


def layer_range(*ends: int) -> range:
    """Return the indices of layers that are described one by one: what ``range`` returns, up to :data:`MOST_LAYERS` of them.

    Raises:
        UsageError: There are more.

    >>> layer_range(3), layer_range(1, 3)
    (range(0, 3), range(1, 3))
    """
    found = range(*ends)
    if found.stop > MOST_LAYERS:
        raise UsageError(
            Text("{many:,} layers, which are looked at one by one; the most accepted is {most:,}", many=found.stop, most=MOST_LAYERS)
        )
    return found
