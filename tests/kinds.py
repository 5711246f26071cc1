"""The model types by kind: tests that ask little of each type take those of one folder of blueprints at a time."""

from __future__ import annotations

from weighbridge.blueprints import MODULES


def kind_of(model_type: str) -> str:
    """Return the folder whose file describes a type."""
    return MODULES[model_type].partition(".")[0]


KINDS = sorted({kind_of(model_type) for model_type in MODULES})
assert len(KINDS) > 5


def types_of(kind: str) -> list[str]:
    """Return the types of one kind."""
    return [model_type for model_type in sorted(MODULES) if kind_of(model_type) == kind]
