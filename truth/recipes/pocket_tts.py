"""Random configs of Pocket TTS, Phonon and their codec: a flow head that fits the model, heads that divide, few strides."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import encodec


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    if "tokenizer" in raw["model_type"]:
        return _codec(rng, raw)
    heads = rng.choice((1, 2, 4))
    raw |= {"num_attention_heads": heads, "hidden_size": heads * 2 * rng.randint(1, 4), "latent_dim": rng.randint(2, 12)}
    raw |= {"num_key_value_heads": rng.choice((1, heads, None)), "head_dim": rng.choice((8, 16, None))}
    if raw["model_type"] == "gradium_phonon_tts":
        raw["duration_delta_embedding_dim"] = 2 * rng.randint(1, 8)
    flow = raw.setdefault("flow_head_config", {})
    flow |= {"condition_dim": raw["hidden_size"], "latent_dim": raw["latent_dim"], "flow_type": rng.choice(("lsd", "drifting"))}
    flow |= {"loss_weighting_num_layers": rng.randint(1, 4)}
    return raw


def _codec(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    heads = rng.choice((1, 2, 4))
    raw |= {"num_attention_heads": heads, "hidden_size": heads * rng.randint(1, 4) * 2, "num_key_value_heads": heads}
    raw = encodec.draw(rng, raw)
    for key in ("codebook_size", "num_quantizers", "num_semantic_quantizers", "vector_quantization_hidden_dimension"):
        raw.pop(key, None)
    if raw["model_type"] != "pocket_tts_audio_tokenizer":
        raw.pop("encoder_config", None)
        raw.pop("decoder_config", None)
    return raw | {"audio_channels": 1, "latent_stride": rng.randint(1, 4), "head_dim": rng.choice((8, None))}


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make tokens; a codec's waves are filled up to whole frames."""
    if "tokenizer" in model.config.model_type:
        raise RefusedError("waves are filled up to whole frames")
    torch = import_module("torch")
    return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
