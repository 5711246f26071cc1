"""What belongs to the models of a text, made when it is first asked for: of most models that a long text names nothing is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeVar

Value = TypeVar("Value")


class OnDemand(Mapping[str | None, Value]):
    """From names to what is made of each, if anything is.

    >>> found = OnDemand(["12", "x"], lambda name: int(name) if name.isdigit() else None)
    >>> found["12"], "x" in found, list(found)
    (12, False, ['12'])
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], Value | None]) -> None:
        self._names, self._make = dict.fromkeys(sorted(names)), make
        self._known: dict[str | None, Value | None] = {}

    def know(self, name: str, value: Value) -> None:
        """Add a name with what belongs to it."""
        self._names[name] = None
        self._known[name] = value

    def __getitem__(self, name: str | None) -> Value:
        if name not in self._known:
            self._known[name] = self._make(name) if name in self._names and name is not None else None
        found = self._known[name]
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str | None]:
        return (name for name in self._names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
