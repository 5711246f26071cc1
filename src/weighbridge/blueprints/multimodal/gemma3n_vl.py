"""Gemma 3n with images and sound: MobileNetV5 and a conformer, and an embedder of each beside the text's words.

Source: Google, Gemma 3n (2025); names as in transformers 5.23.0, models/gemma3n/modeling_gemma3n.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.vision.mobilenetv5 import FUSED_SIDE
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import embedding, linear, matmul, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

CLIP = unknown("clips are as long as their mask says")
TOKENS = size("tokens", "vocab_size", 128, "V", "tokens of its own")


def embedder(name: str, c: Config, H: Size, soft: Stream, each: str) -> Part:
    """Describe the way into the text: all the text's tokens go through the map, and what the tower gives goes through it besides."""
    again = part("", matmul("soft", (soft, c.hidden, H)), kind="projector", requires=each, executions=each)
    return part(
        name,
        embedding("embedding", c.tokens, c.hidden),
        rms_norm("hard_embedding_norm", c.hidden),
        rms_norm("soft_embedding_norm", c.hidden),
        linear("embedding_projection", c.hidden, H, bias=False),
        again,
        kind="projector",
    )


def gemma3n(c: Config) -> tuple[Node, ...]:
    """Describe the towers, the text, and the ways in."""
    H = c.text.hidden
    seen = FUSED_SIDE**2 if c.vision.fits else unknown("the tower's maps have 2048 channels")
    return (
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        as_child("audio_tower", submodel(c.audio), streams={"seq": CLIP}, requires="audios", executions="audios"),
        embedder("embed_vision", c.vision, H, seen, "images"),
        embedder("embed_audio", c.audio, H, CLIP, "audios"),
    )


FIELDS = (
    model_config("text", "text_config", "gemma3n_text", fixed=True),
    model_config("vision", "vision_config", "gemma3n_vision", fixed=True, more=(TOKENS,)),
    model_config("audio", "audio_config", "gemma3n_audio", fixed=True, more=(TOKENS,)),
    switch("tied", "tie_word_embeddings", True),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    "audio_soft_tokens_per_image audio_token_id boa_token_id boi_token_id eoa_token_id eoi_token_id vision_soft_tokens_per_image".split()
)
CLASSES = {"Gemma3nModel": without_head(gemma3n), "Gemma3nForConditionalGeneration": with_lm_head(gemma3n)}
FAMILIES = {"gemma3n": Family("gemma3n", FIELDS, CLASSES, "Gemma3nModel", MORE_IGNORED_KEYS)}
