"""What holding ours to the classes of other packages shares: building on the meta device, a digest of tensors, a difference shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from weighbridge import Model


@contextmanager
def meta() -> Iterator[None]:
    """Build modules without weights."""
    torch = import_module("torch")
    with torch.device("meta"):
        yield


def import_torchvision() -> None:
    """Import torchvision where its compiled operators do not fit torch: nothing that is built here needs them."""
    torch = import_module("torch")
    register = torch.library.register_fake

    def register_unless_there(name: str, *more: Any, **keywords: Any) -> Any:
        return (lambda function: function) if name.startswith("torchvision::") else register(name, *more, **keywords)

    torch.library.register_fake = register_unless_there
    try:
        import_module("torchvision")
    finally:
        torch.library.register_fake = register


def tensors_of(found: Model) -> dict[str, list[int]]:
    """Return the names and shapes of a model's parameters, as ours has them."""
    return {row.name: [int(str(side)) for side in row.shape] for row in found.tensors() if row.role != "buffer"}


def digest(rows: Mapping[str, list[int]]) -> str:
    """Return a digest of names and shapes in their order: equal for equal lists of tensors alone.

    >>> digest({"a.weight": [2, 3]}) == digest({"a.weight": [3, 2]})
    False
    """
    text = "\n".join(f"{name} {','.join(map(str, shape))}" for name, shape in rows.items())
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def print_differences(name: str, ours: Mapping[str, list[int]], theirs: Mapping[str, list[int]], most: int = 8) -> None:
    """Print where two lists of tensors differ."""
    print(f"{name}: tensors differ")
    only = [f"  ours alone {key} {shape}" for key, shape in ours.items() if theirs.get(key) != shape]
    more = [f"  theirs     {key} {shape}" for key, shape in theirs.items() if ours.get(key) != shape]
    print(*(only[:most] + more[:most] or ["  the order"]), sep="\n")
