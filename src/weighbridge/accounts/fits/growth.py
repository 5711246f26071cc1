"""How activations grow with the batch and with the length: two forward passes over sizes so large that their digits are the coefficients.

A forward runs on integers, and every storage is a product of sizes; so what is kept is a polynomial in the batch, and one in the tokens until a
window is full. A size of a power of two larger than any coefficient leaves each of them in digits of its own (Kronecker's substitution), and the
search for the largest batch evaluates a polynomial where it would run the forward again. One example, and one token, are run as they are: axes
of one element are laid out otherwise.
"""

from __future__ import annotations

from weighbridge.accounts.inputs import Inputs
from weighbridge.accounts.memory.account import forward_activations, settings
from weighbridge.accounts.memory.styles import local_window
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.tree import Attend, Part, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from weighbridge.accounts.adapters.activations import TrainedPlaces
    from weighbridge.value import ModelValue

    Bytes = Callable[[int], int]

DIGITS = 160
"""Bits of a coefficient: bytes of a model that nobody will build, for a length that nobody will read."""


class Polynomial(NamedTuple):
    """Bytes as a polynomial of one size, the coefficient of its lowest power first."""

    coefficients: tuple[int, ...]

    def at(self, size: int) -> int:
        """Return the bytes for a size.

        >>> Polynomial((5, 0, 2)).at(10)
        205
        """
        total = 0
        for coefficient in reversed(self.coefficients):
            total = total * size + coefficient
        return total


def polynomial(count: Bytes) -> Polynomial:
    """Return what *count* is, a polynomial with integers as coefficients, by asking it once.

    >>> polynomial(lambda size: 3 * size**2 - 7 * size + 1)
    Polynomial(coefficients=(1, -7, 3))
    """
    found, left = [], count(1 << DIGITS)
    while left:
        digit = left & ((1 << DIGITS) - 1)
        digit -= (digit >> (DIGITS - 1)) << DIGITS  # the upper half stands for numbers below zero
        found.append(digit)
        left = (left - digit) >> DIGITS
    return Polynomial(tuple(found))


class Growth:
    """What a forward keeps for any batch at the length asked for, and for any length at the batch asked for.

    Args:
        model: A model.
        how: How it is run; see :func:`weighbridge.accounts.memory.account.settings`.
        batch, seq: What was asked for.
        most: The longest text that it takes.
        where: Where it is trained; None where all of it is.
    """

    def __init__(self, model: ModelValue, how: Mapping[str, object], batch: int, seq: int, most: int, where: TrainedPlaces | None) -> None:
        self.model, self.how, self.most, self.where = model, how, most, where
        self.batch, self.seq = batch, seq
        beside = local_window(model.model_type, {} if model.description is None else model.description.raw)
        self.windows = sorted({*_windows(model.tree), *(() if beside is None else (beside,))})
        self.known: dict[tuple[object, ...], int | Polynomial | None] = {}

    def bytes(self, checkpointing: str, batch: int, seq: int) -> int | None:
        """Return the bytes of activations; None where the model does not take that length."""
        if seq > self.most:
            return None
        if seq > 1 and batch == self.batch:
            full = sum(seq >= window for window in self.windows)
            grown = self._recall(("seq", checkpointing, full), lambda: polynomial(lambda size: self._run(checkpointing, batch, size, seq)))
            size = seq
        elif batch > 1 and seq == self.seq:
            grown = self._recall(("batch", checkpointing), lambda: polynomial(lambda size: self._run(checkpointing, size, seq, seq)))
            size = batch
        else:
            grown = self._recall((checkpointing, batch, seq), lambda: self._run(checkpointing, batch, seq, seq))
        return grown.at(size) if isinstance(grown, Polynomial) else grown

    def _recall(self, key: tuple[object, ...], make: Callable[[], int | Polynomial]) -> int | Polynomial | None:
        if key not in self.known:
            try:
                self.known[key] = make()
            except UsageError:  # longer than its positions
                self.known[key] = None
        return self.known[key]

    def _run(self, checkpointing: str, batch: int, seq: int, compared: int) -> int:
        given, how = Inputs(batch=batch, seq=seq), settings(**{**self.how, "checkpointing": checkpointing})
        places = {} if self.where is None else {"trained": self.where.trained, "adapted": self.where.adapted}
        found = forward_activations(self.model, given, how, returns=False, compared=compared, **places)[0]  # type: ignore[arg-type]
        return found.bytes if found is not None else 0


def _windows(tree: Part) -> Iterator[int]:
    """Yield the windows of a model: a text that fills one is handled otherwise."""
    for _, part in walk(tree):
        for node in part.children:
            if isinstance(node, Attend) and isinstance(node.window, int):
                yield node.window
