"""Random configs and inputs of Chameleon: a name for every code, levels that norms of 32 groups divide."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth import seen
from truth.forward import Pass

IMAGE = 5


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw few levels on small images, and say which words are codes."""
    if raw["model_type"] == "chameleon_vqgan":
        return raw | small_codes(rng)
    raw["vq_config"] = (raw.get("vq_config") or {}) | small_codes(rng)
    heads = rng.choice((2, 4))
    raw |= {"num_attention_heads": heads, "num_key_value_heads": rng.choice((1, 2, heads)), "hidden_size": heads * rng.choice((8, 16))}
    raw |= {"vocab_size": raw["vq_config"]["num_embeddings"] + 10, "swin_norm": rng.random() < 0.5, "pad_token_id": None}
    raw["vocabulary_map"] = {"<image>": IMAGE} | {name(code): 9 + code for code in range(raw["vq_config"]["num_embeddings"])}
    return raw


def small_codes(rng: random.Random) -> dict[str, Any]:
    """Draw the encoder of images."""
    levels = [rng.randint(1, 3) for _ in range(rng.randint(1, 3))]
    side = 2 ** (len(levels) - 1) * rng.randint(2, 5) + rng.randint(0, 1)
    return {
        "base_channels": 32 * rng.randint(1, 2),
        "channel_multiplier": levels,
        "num_res_blocks": rng.randint(1, 3),
        "num_embeddings": rng.randint(20, 60),
        "resolution": side,
        "attn_resolutions": rng.choice((None, [], [side], [side // 2], [side, side // 4])),
        "attn_type": rng.choice(("vanilla", "vanilla", "none")),
    }


def name(code: int) -> str:
    """Return the word of a code, as the tokenizer has it: letters in place of digits.

    >>> name(107)
    'IMGIMGBAHZ'
    """
    return "IMGIMG" + "".join(chr(ord("A") + int(digit)) for digit in str(code)) + "Z"


def passes(model: Any) -> list[Pass]:
    """List passes with images."""
    return seen.passes(model)


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens and images of the encoder's size."""
    torch, codes = import_module("torch"), getattr(model.config, "vq_config", model.config)
    count = lengths.batch * (lengths.images or 1)
    pixels = {"pixel_values": torch.ones(count, codes.in_channels, codes.resolution, codes.resolution)}
    return seen.inputs(model, lengths, pixels) if hasattr(model.config, "vq_config") else pixels
