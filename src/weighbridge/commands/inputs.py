"""The options that say how much is put into a model, made from the one list of inputs, and their values put together."""

from __future__ import annotations

from weighbridge.accounts import inputs
from weighbridge.accounts.inputs import Inputs
from weighbridge.commands.options import Arguments, Option

INPUTS = tuple(
    Option(entry.name, entry.meaning, "RxC" if entry.example else "N", "grid" if entry.example else "whole", entry.default)
    for entry in inputs.INPUTS
)
"""All of them."""

LENGTHS = tuple(option._replace(default=None) if option.name == "seq" else option for option in INPUTS)
"""The same where a number of tokens that is not given follows the model: the usual one, or as many as there are positions."""

TEXT = LENGTHS[:2]
"""Batch and tokens alone, for commands that say little about arithmetic."""


def inputs_from(arguments: Arguments, **changed: int | None) -> Inputs:
    """Return how much is put in: what the options said, each checked when it was read, but for what is *changed*."""
    values = {**vars(arguments), **changed}
    return Inputs(**{name: values[name] for name in Inputs._fields if values.get(name) is not None})
