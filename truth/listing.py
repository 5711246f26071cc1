"""What both sides of a comparison are brought to: a plain listing of named shapes."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import NamedTuple

from weighbridge.core.tree import Row


class Line(NamedTuple):
    """One tensor under its full name.

    Attributes:
        name: As in ``named_parameters`` or ``state_dict``.
        shape: Its sizes.
        tied_to: The first name of the same storage, if that is another.
        frozen: Whether it is a parameter that does not learn.
    """

    name: str
    shape: tuple[int, ...]
    tied_to: str | None = None
    frozen: bool = False


class Listing(NamedTuple):
    """A model's tensors: parameters in the order of ``named_parameters``, then persistent buffers."""

    parameters: tuple[Line, ...]
    buffers: tuple[Line, ...]

    @property
    def unique(self) -> int:
        """Elements of all parameters, each storage once."""
        return sum(prod(line.shape) for line in self.parameters if line.tied_to is None)

    @property
    def buffered(self) -> int:
        """Elements of all persistent buffers."""
        return sum(prod(line.shape) for line in self.buffers if line.tied_to is None)


def of_rows(rows: Iterable[Row]) -> Listing:
    """Bring our rows to a listing.

    >>> of_rows([Row("weight", (3, 4), "weight", None, None, False), Row("mask", (9,), "buffer", None, None, False)]).unique
    12
    """
    parameters: list[Line] = []
    buffers: list[Line] = []
    for row in rows:
        shape = tuple(_whole(size) for size in row.shape)
        (buffers if row.role == "buffer" else parameters).append(Line(row.name, shape, row.tied_to, row.frozen))
    return Listing(tuple(parameters), tuple(buffers))


def _whole(size: object) -> int:
    assert type(size) is int, f"a shape holds {size!r}, which is no int"
    return size
