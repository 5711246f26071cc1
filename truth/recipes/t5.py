"""T5's random configs: gated and plain feed-forward, local and transient-global attention."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the activation and, for LongT5, the kind of attention."""
    if rng.random() < 0.7:
        raw["feed_forward_proj"] = rng.choice(("relu", "gelu", "gated-gelu", "gated-silu"))
    if raw["model_type"] == "longt5":
        raw["encoder_attention_type"] = rng.choice(("local", "transient-global"))
        raw["local_radius"] = rng.randint(3, 20)
        raw["global_block_size"] = rng.randint(2, 9)
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens; Pop2Piano hears mel frames, as wide as it is."""
    if type(model).__name__ != "Pop2PianoForConditionalGeneration":
        return plain(model, lengths)
    torch = import_module("torch")
    tokens = torch.zeros(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=torch.long)
    return {"input_features": torch.zeros(lengths.batch, lengths.seq, model.config.d_model), "decoder_input_ids": tokens}
