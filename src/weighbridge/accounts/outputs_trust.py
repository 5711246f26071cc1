"""How surely the outputs of products and convolutions are known: for which model types they were equal to those of live classes.

An implementation that pads windows, cuts a sequence into chunks or scans a state space puts out more, or less, than the definition needs.
"""

from __future__ import annotations

import json

from weighbridge.accounts.flops import Flops, flops_of, outputs_of
from weighbridge.accounts.inputs import Inputs
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.value import ModelValue

PATH = __file__.removesuffix("outputs_trust.py") + "estimated_outputs.json"


def flops_and_outputs(model: ModelValue, given: Inputs) -> tuple[Flops, int, str]:
    """Count the arithmetic of a pass and the elements that it puts out, and tell what the latter are worth: ``exact`` or ``estimate``.

    >>> from weighbridge import model
    >>> flops_and_outputs(model("vit-base-patch16-224"), Inputs())[1:]
    (23895544, 'exact')
    """
    return flops_of(model, given), outputs_of(model, given), trust_of_outputs(model)


def trust_of_outputs(model: ModelValue) -> str:
    """Tell whether :func:`outputs_of` is ``exact``: whether live classes of its type, and of all types inside it, put out as much.

    >>> from weighbridge import model
    >>> trust_of_outputs(model("bert-base-uncased")), trust_of_outputs(model("mamba2-130m"))
    ('exact', 'estimate')
    """
    if model.description is None or model.class_name in model.description.family.remote:
        return "estimate"
    found = {model.model_type, *_types_within(model.description.raw)}
    return "exact" if found.isdisjoint(estimated_types()) else "estimate"


def estimated_types() -> frozenset[str]:
    """Return the types whose live classes put out others on random configs, or were not compared (written by ``python -m truth.outputs``)."""
    with open(PATH, encoding="utf-8") as file:
        return frozenset(json.load(file))


def _types_within(value: object) -> Iterator[str]:
    """Yield the model types that a config names anywhere."""
    if isinstance(value, dict):
        if isinstance(value.get("model_type"), str):
            yield value["model_type"]
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _types_within(inner)
