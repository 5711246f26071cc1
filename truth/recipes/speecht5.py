"""SpeechT5's random configs and inputs: waves, mel frames, tokens, or states, as a class takes them."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw the lists that describe convolutions, and odd kernels."""
    layers = rng.randint(1, 2)
    raw["conv_dim"] = [rng.randint(3, 9) for _ in range(layers)]
    raw |= {"conv_kernel": [rng.randint(1, 2) for _ in range(layers)], "conv_stride": [1] * layers}
    raw |= {"feat_extract_norm": rng.choice(("group", "layer")), "num_conv_pos_embedding_groups": rng.choice((1, 2))}
    raw |= {
        "hidden_size": rng.choice((12, 24)),
        "encoder_attention_heads": rng.choice((1, 2, 3)),
        "decoder_attention_heads": rng.choice((1, 2, 4)),
    }
    raw |= {"mask_time_prob": rng.choice((0.0, 0.05)), "mask_feature_prob": rng.choice((0.0, 0.1))}
    raw |= {"speech_decoder_postnet_layers": rng.randint(1, 4), "speech_decoder_postnet_kernel": rng.choice((3, 5))}
    return raw | {"pad_token_id": 1, "encoder_max_relative_position": rng.randint(20, 40)}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make what a class takes."""
    if lengths.encoder_seq is not None:
        raise RefusedError("states to attend to are not made here")
    torch, config, name = import_module("torch"), model.config, type(model).__name__
    own, ahead = (lengths.batch, lengths.seq), (lengths.batch, lengths.decoder_seq or lengths.seq)
    made = {
        "tokens": lambda shape: torch.full(shape, 3, dtype=torch.long),
        "wave": lambda shape: torch.rand(*shape),
        "mels": lambda shape: torch.rand(*shape, config.num_mel_bins),
        "states": lambda shape: torch.rand(*shape, config.hidden_size),
    }
    if name in ("SpeechT5Encoder", "SpeechT5Decoder"):
        return {"hidden_states": made["states"](own)}
    if "coder" in name:
        heard = "wave" if "Encoder" in name else "mels"
        kind = "states" if "Without" in name else "tokens" if "Text" in name else heard
        return {"input_values": made[kind](own)}
    taken, given = {
        "SpeechT5Model": (("input_values", "states"), ("decoder_input_values", "states")),
        "SpeechT5ForSpeechToText": (("input_values", "wave"), ("decoder_input_ids", "tokens")),
        "SpeechT5ForTextToSpeech": (("input_ids", "tokens"), ("decoder_input_values", "mels")),
        "SpeechT5ForSpeechToSpeech": (("input_values", "wave"), ("decoder_input_values", "mels")),
    }[name]
    return {taken[0]: made[taken[1]](own), given[0]: made[given[1]](ahead)}
