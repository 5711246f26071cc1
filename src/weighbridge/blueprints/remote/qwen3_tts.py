"""Qwen3-TTS: Qwen3's layers over text and the first codes of a voice, and a small model of the same kind that writes the other codes of every frame.

Source: arXiv 2601.15621; modeling_qwen3_tts.py of the PyPI package qwen-tts 0.1.1, whose class it is held to tensor by tensor, and the totals of five published files.
The codec that makes a wave of codes is a file of its own.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import FIELDS as LLAMA
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, NO_MLP_BIAS, attention
from weighbridge.blueprints.speech.qwen2_5_omni_token2wav import SPEAKER, speaker
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, constant, nested, size, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part

FRAMES = unknown("how many frames of sound a text takes is found as the model writes them, and each is written in several steps")
LAYER = variant(LLAMA, NO_MLP_BIAS, qk_norm="head", tied=constant("tied", False))
GROUPS = size("groups", "num_code_groups", 32, "G", "codes of a frame")
PREDICTOR = variant(
    LAYER,
    GROUPS,
    computed("several", lambda c: c.groups > 1),
    vocab=2048,
    hidden=1024,
    mlp=3072,
    layers=5,
    heads=16,
    kv_heads=8,
    head_dim=128,
)
TALKER = (
    *variant(LAYER, vocab=3072, hidden=1024, mlp=2048, layers=20, heads=16, kv_heads=2),
    size("text_vocab", "text_vocab_size", 151936, "T", "words of the text"),
    size("text_hidden", "text_hidden_size", 2048, "W", "width of the text"),
    nested("predictor", "code_predictor_config", PREDICTOR),
    computed("narrowed", lambda c: c.predictor.hidden != c.hidden),
)
VOICE = variant(SPEAKER, mels=128, speaker=1024, channels=[512, 512, 512, 512, 1536], pooled=128, scale=8, squeezed=128)


def layers(c: Config) -> tuple[Node, ...]:
    """Describe Qwen3's layers and the norm behind them."""
    H = c.hidden
    inside = attention(c), gated_mlp("mlp", H, c.mlp), rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
    return part("layers", *inside, kind="layer", repeat=c.layers), rms_norm("norm", H)


def predictor(c: Config, width: int, *, narrowed: bool) -> Part:
    """Describe what writes all codes of a frame but the first: a table and a head for each."""
    H, each = c.hidden, c.groups - 1
    tables = replace(embedding("codec_embedding", c.vocab, width), repeat=each)
    heads = replace(linear("lm_head", H, c.vocab, bias=False), repeat=each)
    several = (tables, heads) if c.several else ()
    maps = (linear("small_to_mtp_projection", width, H),) if narrowed else ()
    return part("code_predictor", part("model", *layers(c), *several[:1], kind="decoder"), *several[1:], *maps, kind="decoder")


def talker(c: Config) -> Part:
    """Describe what hears the text and writes the first code of every frame."""
    H, W = c.hidden, c.text_hidden
    body = part("model", *layers(c), embedding("codec_embedding", c.vocab, H), embedding("text_embedding", c.text_vocab, W), kind="decoder")
    maps = part("text_projection", linear("linear_fc1", W, W), linear("linear_fc2", W, H), kind="projector")
    return part(
        "talker",
        body,
        maps,
        linear("codec_head", H, c.vocab, bias=False),
        predictor(c.predictor, H, narrowed=c.narrowed),
        kind="decoder",
        stream=FRAMES,
    )


def qwen3_tts(c: Config) -> Part:
    """Describe Qwen3TTSForConditionalGeneration; only a base model, which copies a voice, has an encoder of voices."""
    voice = (replace(speaker(c.voice), name="speaker_encoder", stream=FRAMES),) if c.kind == "base" else ()
    return part("", talker(c.talker), *voice, kind="model")


FIELDS = (
    nested("talker", "talker_config", TALKER),
    nested("voice", "speaker_encoder_config", VOICE),
    choice("kind", "tts_model_type", None),
)
KEYS = IGNORED_KEYS | frozenset(
    """codec_bos_id codec_eos_token_id codec_language_id codec_nothink_id codec_pad_id codec_think_bos_id codec_think_eos_id codec_think_id num_code_groups
    enc_dilations im_end_token_id im_start_token_id position_id_per_seconds sample_rate spk_id spk_is_dialect tokenizer_type
    tts_bos_token_id tts_eos_token_id tts_model_size tts_pad_token_id assistant_token_id""".split()
)
CLASSES = {"Qwen3TTSForConditionalGeneration": qwen3_tts}
FAMILIES = {"qwen3_tts": Family("qwen3_tts", FIELDS, CLASSES, "Qwen3TTSForConditionalGeneration", KEYS)}
