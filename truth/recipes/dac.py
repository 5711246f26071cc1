"""DAC's random configs and inputs: ratios, codebooks of a power of two, a decoder wide enough to be halved, and a wave."""

from __future__ import annotations

import random
from importlib import import_module
from math import prod
from typing import Any

from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what is no size, and what must fit."""
    ratios = [rng.randint(2, 5) for _ in range(rng.randint(1, 4))]
    raw |= {"downsampling_ratios": ratios, "codebook_size": 2 ** rng.randint(2, 6), "n_codebooks": rng.randint(1, 4)}
    return raw | {"encoder_hidden_size": rng.randint(1, 6), "decoder_hidden_size": 2 ** len(ratios) * rng.randint(1, 3) + rng.randint(0, 3)}


def passes(model: Any) -> list[Pass]:
    """List waves of some frames and a rest, which the encoder shortens."""
    hop = prod(model.config.downsampling_ratios)
    return [Pass(1, 9 * hop), Pass(2, 12 * hop + 1)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make a wave of one channel."""
    torch = import_module("torch")
    return {"input_values": torch.zeros(lengths.batch, 1, lengths.seq)}
