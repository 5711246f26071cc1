"""Types of rotary positions that no class of a model type builds (``refused_rotary.txt``, written by ``python -m truth.refused_rotary``)."""

from __future__ import annotations

from weighbridge.blueprints.type_lines import find_line

PATH = __file__.removesuffix(".py") + ".txt"
UNKNOWN = "unknown"
"""Stands for every type that was not asked about, such as a misspelt one."""
ASKED = frozenset("axial default dynamic linear llama3 longrope mrope proportional su yarn".split())


def is_refused(model_type: str, key: str, kind: str) -> bool:
    """Say whether no class of a type builds rotary positions of a kind, stated under a key, by its path.

    >>> is_refused("llama", "rope_scaling", "mrope"), is_refused("llama", "rope_scaling", "yarn")
    (True, False)
    """
    for entry in find_line(PATH, f"{model_type}: ").split():
        place, _, kinds = entry.partition("=")
        if place == key:
            return (kind if kind in ASKED else UNKNOWN) in kinds.split(",")
    return False
