"""Qwen2.5-Omni: a thinker (text, images, audio in; text out), and a talker that generates speech tokens.

Source: arXiv 2503.20215; names as in transformers 5.23.0, models/qwen2_5_omni/modeling_qwen2_5_omni.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import QWEN2, llama
from weighbridge.blueprints.modules import qwen_vision
from weighbridge.blueprints.modules.audio_encoders import CUT, FAIRSEQ, fields, under_older_names
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import with_heads
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import QWEN2_5, patch_merger, patches, tower
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, size, switch, variant
from weighbridge.core.parts import conv1d, embedding, fairseq_attention, gated_mlp, layer_norm, linear, part, replace, rms_norm, stack
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part

AUDIO = (*under_older_names(fields(128, 1280, 5120, 32, 20, *FAIRSEQ)), size("out", "output_dim", 3584, "O", "output width"))
TEXT = variant(QWEN2, vocab=152064, hidden=3584, mlp=18944, layers=28, heads=28, kv_heads=4)
TALKER = variant(
    TEXT,
    size("words", "embedding_size", 3584, "E", "width of the embeddings"),
    vocab=8448,
    head_dim=128,
)


def thinker_fields(name: str) -> tuple[Field, ...]:
    """Return the fields of a generation's thinker: the encoders of what is heard and seen, and the text."""
    return (
        model_config("audio", "audio_config", f"{name}_audio_encoder", fixed=True),
        model_config("vision", "vision_config", f"{name}_vision_encoder", fixed=True),
        model_config("text", "text_config", f"{name}_text", fixed=True),
        switch("tied", "tie_word_embeddings", False),
    )


THINKER = thinker_fields("qwen2_5_omni")
WHOLE = (
    model_config("thinker", "thinker_config", "qwen2_5_omni_thinker", fixed=True),
    model_config("talker", "talker_config", "qwen2_5_omni_talker", fixed=True),
    model_config("waves", "token2wav_config", "qwen2_5_omni_token2wav", fixed=True),
    switch("speaks", "enable_audio_output", True),
)


def audio_encoder(c: Config) -> Part:
    """Describe the audio encoder: Whisper's, over windows."""
    H = c.hidden
    own = fairseq_attention("self_attn", H, c.heads, exact(c.hidden, c.heads), key_bias=False), layer_norm("self_attn_layer_norm", H)
    layer = (*own, linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), layer_norm("final_layer_norm", H))
    return part(
        "",
        replace(conv1d_same("conv1", c.mels, H, 3), stream=CUT),
        conv1d("conv2", H, H, 3, stride=2, padding=1, of=CUT),
        embedding("audio_bos_eos_token", 2, c.out),
        part("layers", *layer, kind="layer", repeat=c.layers, stream=CUT),
        layer_norm("ln_post", H, stream=CUT),
        linear("proj", H, c.out, stream=CUT),
        kind="audio",
    )


def vision_encoder(c: Config) -> Part:
    """Describe the vision encoder: Qwen2.5-VL's, with queries, keys and values apart."""
    H = c.hidden

    def block(windowed: bool) -> tuple[Node, ...]:
        _, last, attends = qwen_vision.attention(c, windowed=windowed).children
        attn = part("attn", *(linear(name, H, H) for name in "qkv"), last, attends, kind="self_attention")
        return rms_norm("norm1", H), rms_norm("norm2", H), attn, gated_mlp("mlp", H, c.mlp, bias=True)

    return tower(patches(c, bias=False), *stack("blocks", c.windowed, c.layers, block), patch_merger(c, rms_norm("ln_q", H)))


def thinker(c: Config) -> tuple[Node, ...]:
    """Describe both towers and the text."""
    return (
        as_child("audio_tower", submodel(c.audio), requires="audios", executions="audios"),
        as_child("visual", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
    )


def talker(c: Config) -> tuple[Node, ...]:
    """Describe the talker's body, whose table has a width of its own."""
    _, *rest = llama(c)
    return embedding("embed_tokens", c.vocab, c.words), *rest


def talker_body(c: Config) -> Part:
    """Describe the talker, which takes what the thinker thinks."""
    return part(
        "",
        linear("thinker_to_talker_proj", c.words, c.hidden),
        part("model", *talker(c), kind="backbone"),
        linear("codec_head", c.hidden, c.vocab, bias=False),
        kind="model",
    )


def omni(c: Config) -> Part:
    """Describe the whole; a forward pass of it there is not, only generation."""
    spoken = (
        as_child("talker", submodel(c.talker, "ForConditionalGeneration"), requires="speech"),
        as_child("token2wav", submodel(c.waves), requires="speech"),
    )
    return part("", as_child("thinker", submodel(c.thinker, "ForConditionalGeneration")), *(spoken if c.speaks else ()), kind="model")


OUTER_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """activation_function audio_token_index audio_token_id audio_start_token_id audio_end_token_id encoder_layerdrop
    initializer_range max_source_positions n_window position_id_per_seconds scale_embedding seconds_per_chunk spatial_merge_size
    tie_word_embeddings tts_codec_end_token_id tts_codec_mask_token_id tts_codec_pad_token_id tts_codec_start_token_id
    tts_text_end_token_id tts_text_pad_token_id tts_text_start_token_id user_token_id""".split()
)
NAME = "Qwen2_5Omni"
TALKS = {f"{NAME}TalkerModel": lambda c: part("", *talker(c), kind="model"), f"{NAME}TalkerForConditionalGeneration": talker_body}
THINKS = {f"{NAME}ThinkerModel": without_head(thinker), f"{NAME}ThinkerForConditionalGeneration": with_lm_head(thinker)}

FAMILIES = {
    entry.model_type: entry
    for entry in (
        Family("qwen2_5_omni_audio_encoder", AUDIO, {f"{NAME}AudioEncoder": audio_encoder}, f"{NAME}AudioEncoder", OUTER_IGNORED_KEYS),
        Family("qwen2_5_omni_vision_encoder", QWEN2_5, {f"{NAME}VisionEncoder": vision_encoder}, f"{NAME}VisionEncoder"),
        Family("qwen2_5_omni_text", TEXT, with_heads(f"{NAME}ThinkerText", llama, ""), f"{NAME}ThinkerTextModel", TEXT_IGNORED_KEYS),
        Family("qwen2_5_omni_thinker", THINKER, THINKS, f"{NAME}ThinkerForConditionalGeneration", OUTER_IGNORED_KEYS),
        Family("qwen2_5_omni_talker", TALKER, TALKS, f"{NAME}TalkerForConditionalGeneration", OUTER_IGNORED_KEYS | TEXT_IGNORED_KEYS),
        Family("qwen2_5_omni", WHOLE, {f"{NAME}ForConditionalGeneration": omni}, f"{NAME}ForConditionalGeneration", OUTER_IGNORED_KEYS),
    )
}
