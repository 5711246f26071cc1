"""Random configs and inputs of Nemotron 3.5 Transcribe: encoders of one frame rate, mel frames, states."""

from __future__ import annotations

import random
from importlib import import_module
from typing import Any

from truth.live import RefusedError
from truth.recipes import nemotron3_diarization


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw what must fit."""
    kind = raw["model_type"]
    if kind == "nemo_speechlm":
        raw["audio_config"] = _audio(rng, raw.get("audio_config") or {})
        raw["word_timestamp_config"] = _encoder(rng, raw.get("word_timestamp_config") or {}, times=True)
        raw["text_config"] = {"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
        raw["text_config"] |= {"intermediate_size": rng.randint(4, 30), "vocab_size": rng.randint(50, 99), "num_key_value_heads": 1}
        return raw
    return _audio(rng, raw) if kind == "nemotron3_5_transcribe_audio" else _encoder(rng, raw, times=kind.endswith("timestamp"))


def _encoder(rng: random.Random, raw: dict[str, Any], *, times: bool = False) -> dict[str, Any]:
    heads = rng.choice((1, 2, 4))
    raw |= {"num_attention_heads": heads, "hidden_size": heads * 8, "num_key_value_heads": rng.choice((heads, None))}
    raw |= {"num_hidden_layers": rng.randint(1, 3), "intermediate_size": rng.randint(3, 30)}
    if times:
        vocab = rng.randint(20, 60)
        return raw | {"upsampling_factor": rng.randint(1, 4), "vocab_size": vocab, "blank_token_id": vocab - 1}
    return raw | {"subsampling_factor": rng.randint(2, 8), "num_mel_bins": rng.randint(2, 9)}


def _audio(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    own = nemotron3_diarization.draw(
        rng, {"model_type": "nemotron3_diarization", "audio_config": {"num_hidden_layers": 2, "intermediate_size": 9}}
    )
    raw["diarization_config"] = own
    raw["asr_config"] = _encoder(rng, raw.get("asr_config") or {}) | {"subsampling_factor": own["audio_config"]["subsampling_factor"]}
    return raw


def inputs(model: Any, lengths: Any) -> dict[str, Any]:
    """Make mel frames, states, or tokens; what tells speakers apart cuts sound into chunks."""
    torch, config, kind = import_module("torch"), model.config, type(model).__name__
    if kind.endswith("AsrAudioModel"):
        return {"input_features": torch.zeros(lengths.batch, lengths.seq, config.num_mel_bins)}
    if kind.endswith("TimestampModel"):
        return {"inputs_embeds": torch.zeros(lengths.batch, lengths.seq, config.hidden_size)}
    if kind.endswith("AudioModel"):
        raise RefusedError("sound is cut into chunks")
    return {"input_ids": torch.ones(lengths.batch, lengths.seq, dtype=torch.long)}
