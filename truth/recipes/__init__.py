"""What a family's random configs need beyond the generic draw: one small file per blueprint module.

A recipe is named like the file in ``weighbridge/blueprints``, whatever its folder, and has one function,

    def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]

which mends or extends a generic draw (``raw["model_type"]`` says of which type) and returns it.
A family without a file takes the generic draw as it is. A family whose forward takes other inputs than
tokens, pixels or a wave has a second function,

    def inputs(model: Any, lengths: Pass) -> dict[str, Any]

which makes them; it raises ``RefusedError`` for lengths that it cannot make. One that sees or hears beside its text
has a third,

    def passes(model: Any) -> list[Pass]

with the passes in which it does.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

Recipe: TypeAlias = Callable[[random.Random, dict[str, Any]], dict[str, Any]]


def recipe(module: str) -> Recipe:
    """Return the recipe of a blueprint module, or one that changes nothing.

    >>> recipe("no such module")(random.Random(0), {"hidden_size": 8})
    {'hidden_size': 8}
    """
    found: Recipe | None = _own(module, "draw")
    return found or (lambda rng, raw: raw)


def recipe_inputs(module: str) -> Callable[[Any, Any], dict[str, Any]] | None:
    """Return what makes the inputs of a blueprint module's classes, or None if the generic way does.

    >>> recipe_inputs("no such module") is None
    True
    """
    found: Callable[[Any, Any], dict[str, Any]] | None = _own(module, "inputs")
    return found


def recipe_passes(module: str) -> Callable[[Any], list[Any]] | None:
    """Return what lists the further passes of a blueprint module's classes, if anything does.

    >>> recipe_passes("no such module") is None
    True
    """
    found: Callable[[Any], list[Any]] | None = _own(module, "passes")
    return found


def _own(module: str, name: str) -> Any:
    file = module.rpartition(".")[2]
    if not file.isidentifier() or not find_spec(f"truth.recipes.{file}"):
        return None
    return getattr(import_module(f"truth.recipes.{file}"), name, None)
