"""UDOP: biases of several kinds, and words with their places on a page."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any

from truth.forward import Pass


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw biases and the form of the feed-forward step."""
    kinds: list[dict[str, Any]] = [{"type": name} for name in ("1d", "horizontal", "vertical")]
    for kind in kinds:
        if rng.random() < 0.4:
            kind |= {"relative_attention_num_buckets": rng.randint(4, 40), "prefix_bucket": rng.random() < 0.3}
    raw["relative_bias_args"] = rng.choice((None, kinds, kinds[: rng.randint(1, 2)]))
    return raw | {"feed_forward_proj": rng.choice(("relu", "gated-gelu", "gelu")), "relative_attention_num_buckets": rng.choice((4, 8, 32))}


def passes(model: Any) -> list[Pass]:
    """List passes over pages, with some tokens of text."""
    return [Pass(2, 9, 4)]


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make words with a box for each, and the decoder's words where there is one."""
    torch = import_module("torch")
    words = torch.ones(lengths.batch, lengths.seq, dtype=torch.long)
    made = {"input_ids": words, "bbox": torch.zeros(lengths.batch, lengths.seq, 4)}
    if "decoder_input_ids" in inspect.signature(model.forward).parameters:
        made["decoder_input_ids"] = torch.ones(lengths.batch, lengths.decoder_seq or lengths.seq, dtype=torch.long)
    return made
