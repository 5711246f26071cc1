"""Values of a forward pass without numbers: a shape, strides, and the storage that is looked at, as torch lays tensors out."""

from __future__ import annotations

from math import prod

from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.core.sizes import Size


def elements(shape: Sequence[Size]) -> int:
    """Count the elements of a shape whose sizes are ints; of columns it is a column.

    >>> elements((2, 3, 4))
    24
    """
    return prod(shape)  # type: ignore[arg-type]


INDEX, FLOAT, BOOL = 8, 4, 1
"""Bytes of an index (int64), of float32 and of a bool."""


class Storage:
    """A piece of memory: its bytes, and whether it is held already (parameters and inputs are from the start)."""

    __slots__ = ("bytes", "held")

    def __init__(self, size: int, held: bool = False) -> None:
        self.bytes = size
        self.held = held


class Value:
    """A tensor in a forward pass: a view of a storage.

    Attributes:
        shape, strides: In elements.
        size: Bytes of an element.
        storage: What it looks at.
        grad: Whether a gradient flows through it.
        maker: The place of the call that made it among the tape's, or None of what was given.
    """

    __slots__ = ("grad", "maker", "shape", "size", "storage", "strides")

    def __init__(self, shape: tuple[int, ...], size: int, *, grad: bool = True, held: bool = False) -> None:
        self.shape, self.size, self.grad = shape, size, grad
        self.strides = dense(shape)
        self.storage = Storage(prod(shape) * size, held)
        self.maker: int | None = None

    @property
    def bytes(self) -> int:
        """Bytes of its elements."""
        return prod(self.shape) * self.size

    def view(self, shape: tuple[int, ...], strides: tuple[int, ...]) -> Value:
        """Return a view of the same storage."""
        view = Value.__new__(Value)
        view.shape, view.strides, view.size, view.storage, view.grad = shape, strides, self.size, self.storage, self.grad
        view.maker = self.maker
        return view

    def transpose(self, first: int, second: int) -> Value:
        """Swap two axes; the storage stays."""
        order = list(range(len(self.shape)))
        order[first], order[second] = order[second], order[first]
        return self.view(tuple(self.shape[axis] for axis in order), tuple(self.strides[axis] for axis in order))


def dense(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a contiguous tensor.

    >>> dense((2, 3, 4))
    (12, 4, 1)
    """
    strides = [1] if shape else []
    for size in shape[:0:-1]:
        strides.append(strides[-1] * size)
    return tuple(strides[::-1])


def view_strides(shape: tuple[int, ...], strides: tuple[int, ...], wanted: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the strides of a view of another shape, or None if the data must be copied (``computeStride`` in TensorUtils.cpp).

    >>> view_strides((2, 3, 4), (12, 4, 1), (6, 4)), view_strides((2, 3, 4), (12, 1, 3), (6, 4))
    ((4, 1), None)
    """
    if not prod(shape):
        return dense(wanted)
    found = [0] * len(wanted)
    place = len(wanted) - 1
    elements, left, base = 1, 1, strides[-1] if strides else 1
    for axis in range(len(shape) - 1, -1, -1):
        elements *= shape[axis]
        if axis == 0 or (shape[axis - 1] != 1 and strides[axis - 1] != elements * base):
            while place >= 0 and (left < elements or wanted[place] == 1):
                found[place] = left * base
                left *= wanted[place]
                place -= 1
            if left != elements:
                return None
            if axis > 0:
                base, elements, left = strides[axis - 1], 1, 1
    return tuple(found) if place == -1 else None
