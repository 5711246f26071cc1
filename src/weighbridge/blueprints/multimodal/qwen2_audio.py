"""Qwen2-Audio, Voxtral, Audio Flamingo 3 and MOSS-Transcribe-Diarize: language models with Whisper's encoder.

Source: arXiv 2407.10759 (Qwen2-Audio), 2507.13264 (Voxtral), 2507.08128 (Audio Flamingo 3); names as in transformers 5.23.0,
models/qwen2_audio/modeling_qwen2_audio.py, models/voxtral and models/audioflamingo3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.modules.audio_encoders import under_older_names
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.speech import whisper
from weighbridge.config.family import Family
from weighbridge.config.fields import MEL_BINS, TIED, Config, Field, constant, derived, size, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import Stream, length, merge, unknown
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

ENCODER = (
    size("hidden", "hidden_size", 1280, "H", "hidden size", "d_model"),
    size("mlp", "intermediate_size", 5120, "I", "intermediate size", "encoder_ffn_dim"),
    size("layers", "num_hidden_layers", 32, "L", "layers", "encoder_layers"),
    size("heads", "num_attention_heads", 20, "A", "attention heads", "encoder_attention_heads"),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    MEL_BINS.with_default(128),
    size("source", "max_source_positions", 1500, "F", "positions of the encoder"),
)
VOXTRAL = {
    "vocab_size": 131072,
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 30,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "max_position_embeddings": 131072,
}
MASKED = unknown("clips are as long as their mask says")


def encoder(c: Config) -> Part:
    """Describe the encoder: Whisper's."""
    return replace(whisper.encoder(c), name="", kind="audio")


def per_clip(module: Part) -> Part:
    """Mark a part that runs once for each clip of sound, and not without."""
    return replace(module, requires="audios", executions="audios")


def one_map(c: Config) -> Part:
    """Describe Qwen2-Audio's projector: one linear layer."""
    return part("multi_modal_projector", linear("linear", c.audio.hidden, c.text.hidden), kind="projector", stream=MASKED)


def two_maps(c: Config) -> Part:
    """Describe Audio Flamingo 3's projector: two linear layers."""
    H = c.text.hidden
    linears = linear("linear_1", c.audio.hidden, H, bias=c.bias), linear("linear_2", H, H, bias=c.bias)
    return part("multi_modal_projector", *linears, kind="projector", stream=MASKED)


def wide_maps(c: Config) -> Part:
    """Describe Voxtral's projector: states side by side, as many as are as wide as the encoder's inner layer."""
    H = c.text.hidden
    stream: Stream = merge(length(c.audio.source) * c.audio.hidden, c.audio.mlp)
    linears = linear("linear_1", c.audio.mlp, H, bias=False), linear("linear_2", H, H, bias=False)
    return part("multi_modal_projector", *linears, kind="projector", stream=stream)


def merged_frames(c: Config) -> Part:
    """Describe MOSS-Transcribe-Diarize's projector: states side by side, two linear layers and a norm."""
    H, wide = c.text.hidden, c.audio.hidden * c.merge
    linears = linear("linear_1", wide, H, bias=c.bias), linear("linear_2", H, H, bias=c.bias)
    return part("multi_modal_projector", *linears, layer_norm("norm", H), kind="projector", stream=MASKED)


def body(c: Config, join: Callable[[Config], Part], *, last: bool = True) -> tuple[Node, ...]:
    """Describe the encoder, the text, and the projector behind the one or *last* of all."""
    tower, text = (
        as_child("audio_tower", submodel(c.audio), requires="audios", executions="audios"),
        as_child("language_model", submodel(c.text)),
    )
    return (tower, text, per_clip(join(c))) if last else (tower, per_clip(join(c)), text)


def fill_text_defaults(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put Voxtral's own defaults into what its config leaves open of the text.

    >>> fill_text_defaults({"text_config": {"hidden_size": 8}})["text_config"]["head_dim"]
    128
    """
    return {**raw, "text_config": {**VOXTRAL, **(raw.get("text_config") or {})}}


def moss() -> dict[str, Family]:
    """Return MOSS-Transcribe-Diarize and its encoder, which is Whisper's; the head shares the text's words."""
    encoder_fields = variant(ENCODER, MEL_BINS.with_default(80), hidden=1024, mlp=4096, layers=24, heads=16)
    qwen = {"hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8}
    parts = (
        model_config("audio", "audio_config", "moss_transcribe_diarize_audio", fixed=True),
        model_config("text", "text_config", "qwen3 llama", absent=qwen),
        size("merge", "audio_merge_size", 4, "G", "frames side by side"),
        switch("bias", "projector_bias", True),
        TIED,
    )

    def model_parts(c: Config) -> tuple[Node, ...]:
        return body(c, merged_frames)

    heads = {
        "MossTranscribeDiarizeModel": without_head(model_parts),
        "MossTranscribeDiarizeForConditionalGeneration": with_lm_head(model_parts),
    }
    quiet, name = IGNORED_KEYS | {"audio_token_id", "audio_chunk_size"}, "moss_transcribe_diarize"
    tower = "MossTranscribeDiarizeAudioModel"
    return {
        name: Family(name, parts, heads, "MossTranscribeDiarizeModel", quiet),
        f"{name}_audio": Family(f"{name}_audio", encoder_fields, {tower: encoder}, tower, frozenset(("activation_function",))),
    }


def families_of(
    name: str, prefix: str, fields: tuple[Field, ...], inside: Callable[[Config], tuple[Node, ...]], heads: str
) -> dict[str, Family]:
    """Return the whole and its encoder; the head never shares the text's words."""
    parts = (
        model_config("audio", "audio_config", f"{name}_encoder"),
        model_config("text", "text_config", heads),
        *fields,
        constant("tied", False),
    )
    classes = {f"{prefix}Model": without_head(inside), f"{prefix}ForConditionalGeneration": with_lm_head(inside)}
    plain = IGNORED_KEYS | {"tie_word_embeddings", "audio_token_id", "audio_token_index", "hidden_size"}
    quiet = frozenset("scale_embedding activation_function layerdrop encoder_layerdrop init_std vocab_size".split())
    normalize_config = fill_text_defaults if name == "voxtral" else None
    encoder_fields = under_older_names(ENCODER) if name == "qwen2_audio" else ENCODER
    return {
        name: Family(name, parts, classes, f"{prefix}Model", plain, normalize_config=normalize_config),
        f"{name}_encoder": Family(f"{name}_encoder", encoder_fields, {f"{prefix}Encoder": encoder}, f"{prefix}Encoder", quiet),
    }


FAMILIES = {
    **moss(),
    **families_of("qwen2_audio", "Qwen2Audio", (), lambda c: body(c, one_map, last=False), "qwen2 llama"),
    **families_of("voxtral", "Voxtral", (), lambda c: body(c, wide_maps), "llama"),
    **families_of("audioflamingo3", "AudioFlamingo3", (switch("bias", "projector_bias", True),), lambda c: body(c, two_maps), "qwen2"),
}
