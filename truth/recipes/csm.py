"""Random configs and inputs of language models over Mimi's codes."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw an even inner width, and tokens that are there."""
    if raw["model_type"] == "csm":
        if raw.get("depth_decoder_config") is not None:
            raw["depth_decoder_config"].pop("tie_word_embeddings", None)
        return raw
    return raw | {"ffn_dim": 2 * rng.randint(2, 30), "audio_pad_token_id": 1, "audio_bos_token_id": 2}


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make codes, a row for each codebook (and one for words)."""
    books = model.config.num_codebooks + (model.config.model_type != "csm")
    if type(model).__name__ == "CsmForConditionalGeneration":
        return plain(model, lengths)
    return {"input_ids": import_module("torch").zeros(lengths.batch, lengths.seq, books, dtype=import_module("torch").long)}
