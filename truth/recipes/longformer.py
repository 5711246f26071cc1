"""Longformer's random configs and inputs: one window for all layers, or one for each; a question, and what it is asked of."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw even windows, small ones, so that texts fill several."""
    layers = raw.get("num_hidden_layers", 12)
    raw["attention_window"] = rng.choice([2, 4, 8]) if rng.random() < 0.5 else [rng.choice([2, 4, 8]) for _ in range(layers)]
    return raw


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make a text; with a question, one parted from the rest by three separators, where the class looks for it."""
    made = plain(model, lengths)
    name, tokens = type(model).__name__, made["input_ids"]
    if not name.endswith(("ForQuestionAnswering", "ForMultipleChoice")):
        return made
    if lengths.question is None:
        raise RefusedError("without a question")
    before = lengths.question if name.endswith("Answering") else lengths.seq - lengths.question - 2
    separator = model.config.sep_token_id
    tokens.fill_(separator + 1)
    tokens[..., [before, before + 1, lengths.seq - 1]] = separator
    return {**made, "attention_mask": import_module("torch").ones_like(tokens)}


def passes(model: Any) -> list[Pass]:
    """Return passes with a question, of the classes that look for one."""
    asking = type(model).__name__.endswith(("ForQuestionAnswering", "ForMultipleChoice"))
    return [Pass(2, 9, question=4), Pass(1, 18, question=5)] if asking else []
