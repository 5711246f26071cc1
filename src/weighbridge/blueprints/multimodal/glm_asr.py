"""GLM-ASR, Voxtral Realtime, Qwen3-ASR and Music Flamingo: language models with audio encoders of their own.

Source: arXiv 2512.14291 and the models' cards; names as in transformers 5.23.0, models/glmasr/modeling_glmasr.py,
models/voxtral_realtime, models/qwen3_asr and models/musicflamingo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.modules.audio_encoders import GLM, QWEN, VOXTRAL, glm, qwen, voxtral
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.multimodal import qwen2_audio
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, constant, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import unknown
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

HEARD = unknown("clips are as long as their mask says")


def projector(name: str, first: tuple[Size, Size], second: tuple[Size, Size], bias: bool = True) -> Part:
    """Describe a projector of two linear maps."""
    return part(name, linear("linear_1", *first, bias=bias), linear("linear_2", *second, bias=bias), kind="projector", stream=HEARD)


def glm_projector(c: Config) -> Part:
    """Describe GLM-ASR's: as many states side by side as are as wide as the encoder's inner layer."""
    H = c.text.hidden
    return projector("multi_modal_projector", (c.audio.mlp, 2 * H), (2 * H, H))


def voxtral_projector(c: Config) -> Part:
    """Describe Voxtral Realtime's: a few states side by side."""
    H = c.text.hidden
    return projector("multi_modal_projector", (c.audio.hidden * c.beside, H), (H, H), bias=False)


def qwen_projector(c: Config) -> Part:
    """Describe Qwen3-ASR's."""
    H = c.audio.hidden
    return projector("multi_modal_projector", (H, H), (H, c.audio.out))


def body(join: Callable[[Config], Part]) -> Callable[[Config], tuple[Node, ...]]:
    """Return what describes the encoder, the text, and the projector."""

    def model_parts(c: Config) -> tuple[Node, ...]:
        tower = as_child("audio_tower", submodel(c.audio), requires="audios", executions="audios", streams={"seq": HEARD})
        return tower, as_child("language_model", submodel(c.text)), replace(join(c), requires="audios", executions="audios")

    return model_parts


def fill_text_defaults(text: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return what puts the outer class's own defaults into what a config leaves open of the text."""

    def with_text_config(raw: Mapping[str, Any]) -> dict[str, Any]:
        stated = raw.get("text_config")
        return {**raw, "text_config": {**text, **(stated or {})}}

    return with_text_config


def families_of(
    stem: str, name: str, words: str, text: dict[str, Any], table: tuple[Field, ...], *more: Field, ignored_keys: str = ""
) -> dict[str, Family]:
    """Return the whole and its encoder."""
    encoders = {
        "glmasr": ("GlmAsrEncoder", glm),
        "voxtral_realtime": ("VoxtralRealtimeEncoder", voxtral),
        "qwen3_asr": ("Qwen3ASREncoder", qwen),
    }
    joins = {"glmasr": glm_projector, "voxtral_realtime": voxtral_projector, "qwen3_asr": qwen_projector}
    inside, (encoder, blueprint) = body(joins[stem]), encoders[stem]
    merged = stem != "qwen3_asr"
    fields = (
        model_config("text", "text_config", words, absent=text, only=stem == "voxtral_realtime"),
        model_config("audio", "audio_config", f"{stem}_encoder"),
        switch("tied", "tie_word_embeddings", True),
        *more,
    )
    classes = {f"{name}Model": without_head(inside), f"{name}ForConditionalGeneration": with_lm_head(inside)}
    if not merged:
        classes[f"{name}ForTokenClassification"] = lambda c: part(
            "", part("model", *inside(c), kind="backbone"), linear("score", c.text.hidden, c.labels, bias=c.label_bias), kind="model"
        )
    normalize_config = fill_text_defaults(text) if merged else None
    return {
        stem: Family(
            stem, fields, classes, f"{name}ForConditionalGeneration", IGNORED_KEYS | OUTER_IGNORED_KEYS, normalize_config=normalize_config
        ),
        f"{stem}_encoder": Family(f"{stem}_encoder", table, {encoder: blueprint}, encoder, OUTER_IGNORED_KEYS),
    }


OUTER_IGNORED_KEYS = frozenset(
    """activation_function audio_bos_token_id audio_eos_token_id audio_frame_step audio_length_per_tok audio_token_id
    default_num_delay_tokens encoder_layerdrop hidden_size max_position_embeddings n_window n_window_infer num_key_value_heads
    partial_rotary_factor scale_embedding sliding_window timestamp_token_id vocab_size""".split()
)
GLM_TEXT = {
    "vocab_size": 59264,
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 4,
    "max_position_embeddings": 8192,
}
VOXTRAL_TEXT = {
    "vocab_size": 131072,
    "hidden_size": 3072,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
}
QWEN_TEXT = {
    "hidden_size": 2048,
    "intermediate_size": 6144,
    "num_hidden_layers": 28,
    "num_attention_heads": 16,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "tie_word_embeddings": True,
}
MUSIC = (
    model_config("audio", "audio_config", "audioflamingo3_encoder"),
    model_config("text", "text_config", "qwen2 llama"),
    switch("bias", "projector_bias", True),
    constant("tied", False),
)
HEARS_MUSIC = {
    "MusicFlamingoModel": without_head(lambda c: qwen2_audio.body(c, qwen2_audio.two_maps)),
    "MusicFlamingoForConditionalGeneration": with_lm_head(lambda c: qwen2_audio.body(c, qwen2_audio.two_maps)),
}

FAMILIES = {
    **families_of("glmasr", "GlmAsr", "llama qwen2", GLM_TEXT, GLM),
    **families_of(
        "voxtral_realtime",
        "VoxtralRealtime",
        "voxtral_realtime_text",
        VOXTRAL_TEXT,
        VOXTRAL,
        size("beside", "downsample_factor", 4, "F", "states concatenated"),
    ),
    **families_of(
        "qwen3_asr", "Qwen3ASR", "qwen3 qwen2", QWEN_TEXT, QWEN, LABELS, switch("label_bias", "token_classification_bias", False)
    ),
    "musicflamingo": Family(
        "musicflamingo", MUSIC, HEARS_MUSIC, "MusicFlamingoModel", IGNORED_KEYS | OUTER_IGNORED_KEYS | {"tie_word_embeddings"}
    ),
}
