"""Higgs Audio v2: Llama that writes text and codes of sound, with norms and a feed-forward network of their own for sound.

Source: Boson AI 2025, github.com/boson-ai/higgs-audio; names as in transformers 5.23.0, models/higgs_audio_v2/modeling_higgs_audio_v2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import CODEBOOKS, Config, size, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.tree import Node, Part

FIELDS = (
    *variant(
        tuple(field for field in LLAMA if field.word not in ("labels", "tied")),
        vocab=128256,
        hidden=3072,
        mlp=8192,
        layers=28,
        heads=24,
        kv_heads=size("kv_heads", "num_key_value_heads", 8, "K", "key-value heads", null=lambda c: c.heads),
        head_dim=size("head_dim", "head_dim", 128, "D", "head dimension", null=lambda c: c.hidden // c.heads),
    ),
    CODEBOOKS.with_default(8),
    size("codes", "codebook_size", 1024, "E", "codes in a codebook"),
)
MIXED = unknown("how many tokens are text and how many are audio frames depends on the input")


def higgs(c: Config) -> tuple[Node, ...]:
    """Describe Llama whose layers have, beside what text passes, what frames of sound pass."""
    words, layer, last = llama(c)
    assert isinstance(layer, Part)
    sound = (
        gated_mlp("audio_mlp", c.hidden, c.mlp, bias=c.mlp_bias),
        *(rms_norm(f"audio_{name}", c.hidden) for name in c.norms),
    )
    heard = tuple(replace(child, requires="audios", stream=MIXED) for child in sound)
    codes = embedding("embed_audio_tokens", c.codebooks * c.codes, c.hidden)
    tables = part("embed_audio_tokens", codes, kind="embeddings", requires="audios")
    return words, replace(layer, children=(*layer.children, *heard)), last, tables


def generation(c: Config) -> Part:
    """Describe HiggsAudioV2ForConditionalGeneration: a head for the codes of all codebooks."""
    head = linear("audio_lm_head", c.hidden, c.codebooks * c.codes, bias=False)
    return part("", part("model", *higgs(c), kind="backbone"), head, kind="model")


CLASSES = {
    "HiggsAudioV2Model": lambda c: part("", *higgs(c), kind="model"),
    "HiggsAudioV2ForConditionalGeneration": generation,
}
MORE_IGNORED_KEYS = frozenset(
    """audio_bos_token_id audio_delay_token_id audio_stream_bos_id audio_stream_eos_id audio_token_id pretraining_tp
    tie_word_embeddings""".split()
)
FAMILIES = {"higgs_audio_v2": Family("higgs_audio_v2", FIELDS, CLASSES, "HiggsAudioV2Model", IGNORED_KEYS | MORE_IGNORED_KEYS)}
