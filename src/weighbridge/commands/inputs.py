"""The options that say how much is put into a model, made from the one list of inputs."""

from __future__ import annotations

from weighbridge.accounts import inputs
from weighbridge.commands.options import Option

INPUTS = tuple(
    Option(entry.name, entry.meaning, "RxC" if entry.example else "N", "text" if entry.example else "whole", entry.default)
    for entry in inputs.INPUTS
)
"""All of them."""

TEXT = INPUTS[:2]
"""Batch and tokens alone, for commands that say little about arithmetic."""
