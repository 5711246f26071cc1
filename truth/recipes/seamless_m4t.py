"""SeamlessM4T's random configs and inputs: heads that divide the width, few units, and frames or tokens or states."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.forward import Pass, plain
from truth.recipes import hifigan

HEADS = ("encoder", "decoder", "t2u_encoder", "t2u_decoder", "speech_encoder")


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit, and the kind of positions."""
    raw = hifigan.draw(rng, raw)
    raw["hidden_size"] = 12 * rng.choice((1, 2))
    raw |= {f"{name}_attention_heads": rng.choice((1, 2, 3, 6)) for name in HEADS}
    raw |= {"conv_depthwise_kernel_size": rng.choice((3, 5, 7)), "variance_predictor_kernel_size": rng.choice((1, 3, 5))}
    raw |= {"num_adapter_layers": rng.randint(1, 2), "adaptor_kernel_size": rng.randint(2, 4), "adaptor_stride": rng.randint(1, 3)}
    raw |= {"t2u_vocab_size": rng.randint(20, 60)}
    if rng.random() < 0.8:
        kinds = ("relative_key", "none") if raw["model_type"].endswith("v2") else ("relative", "rotary", "relative_key")
        raw["position_embeddings_type"] = rng.choice(kinds)
    return raw | {"pad_token_id": 0, "t2u_pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 3}


def inputs(model: Any, lengths: Pass) -> dict[str, Any]:
    """Make frames for what hears, states for the encoder of units, tokens for the others."""
    torch, name = import_module("torch"), type(model).__name__
    ahead = torch.full((lengths.batch, lengths.decoder_seq or lengths.seq), 3, dtype=torch.long)
    states = torch.zeros(lengths.batch, lengths.seq, model.config.hidden_size)
    if "TextToUnit" in name:
        return {"inputs_embeds": states, "decoder_input_ids": ahead}
    if ("coder" in name and "Speech" not in name) or "Hifi" in name:
        return plain(model, lengths)
    frames = {"input_features": torch.zeros(lengths.batch, lengths.seq, model.config.feature_projection_input_dim)}
    if name.endswith("SpeechEncoder"):
        return frames
    taken = frames if "ForSpeech" in name else {"input_ids": torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)}
    return taken | {"decoder_input_ids": ahead}
