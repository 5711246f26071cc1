"""Nemotron 3 Diarization: who speaks when, by a rotary transformer over stacked mel frames, and a scale back to frames.

Source: NVIDIA 2026; names as in transformers 5.23.0, models/nemotron3_diarization/modeling_nemotron3_diarization.py. ``seq`` counts mel
frames.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MEL_BINS,
    MLP,
    Config,
    Field,
    computed,
    derived,
    nested,
    size,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Length, Stream, length, valid_up_to
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part, Tensor

AUDIO = (
    HIDDEN.with_default(512),
    MLP.with_default(2048),
    LAYERS.with_default(31),
    HEADS.with_default(8),
    KV_HEADS.with_default(lambda c: c.heads),
    derived("whole", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    MEL_BINS.with_default(128),
    size("stacked", "subsampling_factor", 8, "F", "frames side by side"),
)


def refuse_mismatch(c: Config) -> bool:
    """Refuse parts that do not fit each other, as the reference does."""
    head, kept = c.head, c.streaming
    pairs = (
        ("head_config.audio_hidden_size", head.audio, c.audio.hidden),
        ("head_config.subsampling_factor", head.stacked, c.audio.stacked),
        ("streaming_config.num_speakers", kept.speakers, head.speakers),
        ("streaming_config.subsampling_factor", kept.stacked, c.audio.stacked),
    )
    for key, found, expected in pairs:
        if found != expected:
            raise ConfigError(
                Text("expected {expected}, as the other parts have it, found {found}", expected=expected, found=found), key=key
            )
    if c.ahead >= c.chunk:
        raise ConfigError("it must be smaller than chunk_length", key="chunk_right_context", value=c.ahead)
    least = (1 + kept.silence) * kept.speakers
    if kept.cache < least:
        raise ConfigError(Text("it must be at least {least}", least=least), key="streaming_config.speaker_cache_length", value=kept.cache)
    return True


HEAD = (
    size("hidden", "hidden_size", 192, "H_hea", "hidden size"),
    size("speakers", "num_speakers", 8, "S", "speakers"),
    size("audio", "audio_hidden_size", 512, "H_aud", "width of the head's input"),
    size("stacked", "subsampling_factor", 8, "F_hea", "frames made from each state"),
)
STREAMING = (
    Field("speakers", "num_speakers", 8, "choice"),
    Field("stacked", "subsampling_factor", 8, "choice"),
    Field("cache", "speaker_cache_length", 264, "choice"),
    Field("silence", "speaker_cache_silence_frames_per_speaker", 1, "choice"),
)
WHOLE = (
    model_config("audio", "audio_config", "nemotron3_diarization_audio", fixed=True),
    nested("head", "head_config", HEAD),
    nested("streaming", "streaming_config", STREAMING),
    Field("chunk", "chunk_length", 340, "choice"),
    Field("ahead", "chunk_right_context", 40, "choice"),
    computed("checked", refuse_mismatch),
)


def stacks(c: Config, of: Stream = "seq") -> Length:
    """Return the stream of stacked frames; the last stack is filled up."""
    return (length(of) + (c.stacked - 1)) // c.stacked


def audio(c: Config) -> Part:
    """Describe Nemotron3DiarizationAudioModel; values have as many heads as queries."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim
    attention = part(
        "self_attn",
        linear("q_proj", H, A * D, bias=False),
        linear("k_proj", H, K * D, bias=False),
        linear("v_proj", H, A * D, bias=False),
        linear("o_proj", A * D, H),
        attend(heads=A, kv_heads=K, head_dim=D),
        kind="self_attention",
    )
    norms = layer_norm("layer_norm1", H), layer_norm("layer_norm2", H)
    mlp = plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True)
    return part(
        "",
        part("embedder", linear("projection", c.stacked * c.mels, H, bias=False), kind="embeddings"),
        layer_norm("input_layer_norm", H),
        part("layers", attention, norms[0], mlp, norms[1], kind="layer", repeat=c.layers),
        layer_norm("layer_norm", H),
        kind="audio",
        stream=stacks(c),
    )


def body(c: Config) -> tuple[Part, ...]:
    """Describe the encoder, a map to the head's width, and a convolution that makes frames of each state."""
    head, seen = c.head, stacks(c.audio)
    conv = part("conv", *conv1d_same("", head.hidden, head.hidden * head.stacked, 3).children, kind="convolution")
    upsampler = part("upsampler", conv, kind="convolution", stream=seen)
    return as_child("audio_tower", submodel(c.audio)), linear("proj", head.audio, head.hidden, stream=seen), upsampler


def classification(c: Config) -> Part:
    """Describe Nemotron3DiarizationForAudioFrameClassification: of each frame, which speakers are heard; long sound comes in chunks."""
    head = c.head
    frames = valid_up_to(stacks(c.audio), c.chunk, "stacked frames of one chunk")
    maps = linear("dense", head.hidden, head.hidden), linear("out_proj", head.hidden, head.speakers)
    return part(
        "",
        Tensor("silence_embeds", (c.audio.hidden,), "embedding"),
        replace(part("model", *body(c), kind="backbone"), stream=frames),
        part("classifier", *maps, kind="head", stream=frames * head.stacked),
        kind="model",
    )


CLASSES = {
    "Nemotron3DiarizationModel": lambda c: part("", *body(c), kind="model"),
    "Nemotron3DiarizationForAudioFrameClassification": classification,
}
IGNORED_KEYS = frozenset("chunk_left_context fifo_length speaker_cache_update_period".split())
FAMILIES = {
    "nemotron3_diarization": Family("nemotron3_diarization", WHOLE, CLASSES, "Nemotron3DiarizationModel", IGNORED_KEYS),
    "nemotron3_diarization_audio": Family(
        "nemotron3_diarization_audio",
        AUDIO,
        {"Nemotron3DiarizationAudioModel": audio},
        "Nemotron3DiarizationAudioModel",
        frozenset(("max_position_embeddings",)),
    ),
}
