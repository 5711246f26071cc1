"""Parameters of quantized models once they are loaded: ours beside those of a live class whose modules the library replaced."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from weighbridge.conventions.loading import loading_of
from weighbridge.load import load


def compare(counted: Iterable[tuple[str, dict[str, Any], int]]) -> tuple[int, int]:
    """Print each class whose count differs from ours, and the sums; return how many are equal and how many differ.

    Args:
        counted: Classes with their configs and the parameters of the live class.
    """
    equal, differ, unknown = 0, 0, 0
    for class_name, raw, live in counted:
        found = loading_of(load(raw, class_name))
        if found is None or found.quantizer is None:
            unknown += 1
        elif found.loaded == live:
            equal += 1
        else:
            differ += 1
            print(class_name, raw, found.loaded, "live", live)
    print(f"{equal} equal, {differ} differ, {unknown} not described")
    return equal, differ
