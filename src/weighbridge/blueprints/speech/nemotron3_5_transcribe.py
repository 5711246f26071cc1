"""Nemotron 3.5 Transcribe: who speaks and what is said, by two encoders side by side over one spectrogram, in front of Nemotron-H.

Source: NVIDIA (2026); names as in transformers 5.23.0, models/nemotron3_5_transcribe/modeling_nemotron3_5_transcribe.py. A second small
encoder tells at which time each word is said.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS
from weighbridge.blueprints.speech.nemotron3_diarization import audio as diarization_audio
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    MEL_BINS,
    MLP,
    VOCAB,
    Config,
    computed,
    constant,
    derived,
    size,
    variant,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor

SPOKEN = unknown("the length of the audio depends on the input")


def encoder(c: Config) -> Part:
    """Describe Nemotron3_5TranscribeAsrAudioModel: the encoder of the diarization, with norms on queries and keys."""
    plain = diarization_audio(c)
    return replace(plain, children=tuple(_with_norms(child, c) for child in plain.children))


def _with_norms(child: Node, c: Config) -> Node:
    if not isinstance(child, Part) or child.name != "layers":
        return child
    attention, *others = child.children
    assert isinstance(attention, Part)
    *maps, attends = attention.children
    norms = layer_norm("q_norm", c.head_dim), layer_norm("k_norm", c.head_dim)
    return replace(child, children=(replace(attention, children=(*maps, *norms, attends)), *others))


def word_times(c: Config) -> Part:
    """Describe Nemotron3_5TranscribeWordTimestampModel: a convolution that makes more frames of each state, and layers over them."""
    H = c.hidden
    whole = encoder(c)
    upsampler = part("upsampler", Tensor("weight", (H, H, c.factor)), Tensor("bias", (H,), "bias"), kind="convolution", stream="seq")
    return replace(whole, children=(upsampler, *whole.children[1:]), stream=length("seq") * c.factor)


def hears(c: Config) -> Part:
    """Describe Nemotron3_5TranscribeAudioModel: both encoders, and the norms of what is said and of who speaks."""
    diarization = as_child("diarization_model", submodel(c.diarization, "Classification"))
    norms = layer_norm("asr_norm", c.asr.hidden), layer_norm("speaker_norm", c.diarization.head.speakers)
    return part("", as_child("asr_encoder", encoder(c.asr)), diarization, *norms, kind="audio", stream=SPOKEN)


def body(c: Config) -> tuple[Node, ...]:
    """Describe both encoders, the text, the map between them, and the encoder of the words' times."""
    heard = {"seq": SPOKEN}
    return (
        as_child("audio_tower", hears(c.audio), requires="audios", executions="audios", streams=heard),
        as_child("language_model", submodel(c.text)),
        linear("multi_modal_projector", c.audio.asr.hidden, c.text.hidden, requires="audios", executions="audios", stream=SPOKEN),
        as_child("word_timestamp_encoder", word_times(c.times), requires="audios", executions=0, streams=heard),
    )


def transcribe_model(c: Config) -> Part:
    """Describe Nemotron3_5TranscribeForConditionalGeneration: the head of the text, and that of the words' times, which runs apart."""
    spoken = Tensor("weight", (c.times.vocab, c.times.hidden, 1)), Tensor("bias", (c.times.vocab,), "bias")
    return part(
        "",
        part("model", *body(c), kind="backbone"),
        linear("lm_head", c.text.hidden, c.text.vocab, bias=False),
        part("word_timestamp_head", *spoken, kind="head", executions=0),
        kind="model",
    )


def _refuse_other_rate(c: Config) -> bool:
    """Refuse encoders of different frame rates, as the class does."""
    theirs = c.diarization.audio.stacked
    if theirs != c.asr.stacked:
        raise ConfigError(Text("the diarization has {theirs}", theirs=theirs), key="asr_config.subsampling_factor", value=c.asr.stacked)
    return True


ASR = (
    HIDDEN.with_default(1280),
    MLP.with_default(5120),
    LAYERS.with_default(32),
    HEADS.with_default(10),
    replace(KV_HEADS, default=lambda c: c.heads, null=lambda c: c.heads),
    derived("whole", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    HEAD_DIM.with_default(lambda c: c.whole),
    MEL_BINS.with_default(128),
    size("stacked", "subsampling_factor", 8, "F", "frames side by side"),
)
TIMES = (
    *variant(tuple(field for field in ASR if field.word not in ("mels", "stacked")), mlp=640, layers=2, heads=16),
    constant("mels", 1),
    constant("stacked", 1),
    VOCAB.with_default(23863),
    size("factor", "upsampling_factor", 2, "U", "frames made from each state"),
)
DIARIZATION = {
    "chunk_length": 500,
    "chunk_left_context": 50,
    "chunk_right_context": 50,
    "fifo_length": 40,
    "speaker_cache_update_period": 300,
    "streaming_config": {"speaker_cache_length": 188},
}
AUDIO = (
    model_config("asr", "asr_config", "nemotron3_5_transcribe_asr_audio", fixed=True),
    model_config("diarization", "diarization_config", "nemotron3_diarization", absent=DIARIZATION),
    computed("same_rate", _refuse_other_rate),
)
NEMOTRON_H = {
    "hidden_size": 2688,
    "intermediate_size": 1856,
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "mamba_num_heads": 64,
    "max_position_embeddings": 262144,
    "moe_intermediate_size": 1856,
    "moe_shared_expert_intermediate_size": 3712,
    "n_routed_experts": 128,
    "num_experts_per_tok": 6,
    "num_key_value_heads": 2,
    "routed_scaling_factor": 2.5,
}
WHOLE = (
    model_config("audio", "audio_config", "nemotron3_5_transcribe_audio", fixed=True),
    model_config("text", "text_config", "nemotron_h", absent=NEMOTRON_H),
    model_config("times", "word_timestamp_config", "nemotron3_5_transcribe_word_timestamp", fixed=True),
)
NAME = "Nemotron3_5Transcribe"
POSITIONS = frozenset(("max_position_embeddings",))
FAMILIES = {
    "nemo_speechlm": Family(
        "nemo_speechlm",
        WHOLE,
        {f"{NAME}Model": lambda c: part("", *body(c), kind="model"), f"{NAME}ForConditionalGeneration": transcribe_model},
        f"{NAME}Model",
        IGNORED_KEYS | {"audio_token_id", "tie_word_embeddings"},
    ),
    "nemotron3_5_transcribe_audio": Family(
        "nemotron3_5_transcribe_audio",
        AUDIO,
        {f"{NAME}AudioModel": hears},
        f"{NAME}AudioModel",
        frozenset(("speaker_activity_threshold",)),
    ),
    "nemotron3_5_transcribe_asr_audio": Family(
        "nemotron3_5_transcribe_asr_audio", ASR, {f"{NAME}AsrAudioModel": encoder}, f"{NAME}AsrAudioModel", POSITIONS
    ),
    "nemotron3_5_transcribe_word_timestamp": Family(
        "nemotron3_5_transcribe_word_timestamp",
        TIMES,
        {f"{NAME}WordTimestampModel": word_times},
        f"{NAME}WordTimestampModel",
        POSITIONS | {"blank_token_id", "residual_scale"},
    ),
}
