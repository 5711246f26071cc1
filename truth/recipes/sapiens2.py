"""Random configs and inputs of Sapiens2: heads of keys and values by layer, and the rotation of vectors that are patches."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import plain


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw heads that divide the queries' heads, for the middle layers or for each."""
    layers = raw["num_hidden_layers"] = rng.randint(1, 5)
    heads = raw["num_attention_heads"] = rng.choice((2, 4, 6))
    raw |= {"hidden_size": heads * rng.choice((4, 8, 12)), "num_key_value_attention_heads": rng.choice((1, 2, heads))}
    raw |= {"num_first_full_attention_layers": rng.randint(0, 3), "num_last_full_attention_layers": rng.randint(0, 3)}
    if rng.random() < 0.3:
        raw["num_key_value_heads_per_layer"] = [rng.choice((1, 2, heads)) for _ in range(layers)]
    raw["head_config"] = head(rng)
    return raw


def head(rng: random.Random) -> dict[str, Any]:
    """Draw how a head enlarges the map of patches, and perhaps tells the focal length."""

    def widths(least: int) -> list[int]:
        return [rng.randint(1, 9) for _ in range(rng.randint(least, 3))]

    found: dict[str, Any] = {"upsample_out_channels": widths(1), "conv_out_channels": widths(0), "use_pixel_shuffle": rng.random() < 0.5}
    for name in ("upsample", "conv"):
        if rng.random() < 0.3:
            found[f"{name}_kernel_sizes"] = [rng.choice((1, 3)) + (name == "upsample") for _ in found[f"{name}_out_channels"]]
    if rng.random() < 0.5:
        found |= {"scale_conv_out_channels": widths(1), "scale_final_hidden_sizes": [rng.randint(1, 9), rng.randint(1, 9)]}
        found |= {"scale_conv_kernel_size": 3} if rng.random() < 0.5 else {}
    return found


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make images, or vectors for an encoder."""
    made = plain(model, lengths)
    if type(model).__name__ == "Sapiens2Encoder":
        torch = import_module("torch")
        width = model.config.hidden_size // model.config.num_attention_heads
        made["position_embeddings"] = (torch.zeros(lengths.seq - 1, width), torch.zeros(lengths.seq - 1, width))
    return made
