"""Names of tensors that differ only by the numbers of layers or experts, in one line that says which."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(r"(?:(?<=[._/])|^)\d+(?=[._/]|$)")
"""The number of a layer or an expert in a name."""


def pattern(name: str) -> str:
    """Return a name with a star in place of each number: equal for names that are folded together.

    >>> pattern("encoder.layer.3.output.dense.weight")
    'encoder.layer.*.output.dense.weight'
    """
    return NUMBER.sub("*", name)


def folded_name(names: Sequence[str]) -> str:
    """Write names of one pattern as one: a number that is the same in all of them stands, else a star, and how many there are.

    >>> folded_name(["layer.3.bias"]), folded_name(["layer.0.bias", "layer.1.bias", "layer.2.bias"])
    ('layer.3.bias', 'layer.*.bias × 3')
    """
    if len(names) == 1:
        return names[0]
    columns = zip(*(NUMBER.findall(name) for name in names), strict=True)
    shown = iter([column[0] if len(set(column)) == 1 else "*" for column in columns])
    name = NUMBER.sub(lambda _: next(shown), names[0])
    return f"{name} × {len(names)}"
