"""Gemma 4 and EmbeddingGemma 2 with images and audio: through two towers, or, in the unified model, through linear embedders.

Source: Google, Gemma 4 (2026); names as in transformers 5.23.0, models/gemma4/modeling_gemma4.py and
models/gemma4_unified/modeling_gemma4_unified.py and models/embedding_gemma2/modeling_embedding_gemma2.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.blueprints.multimodal.gemma4_towers import pooled_patches
from weighbridge.blueprints.multimodal.qwen2_audio import per_clip
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, Config, Field, choice, nested, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

CLIP = unknown("clips are as long as their mask says")


def embedder(name: str, inputs: Size, H: Size) -> Part:
    """Describe the map of what a tower gives to the text; its norm has no parameters."""
    return part(name, linear("embedding_projection", inputs, H, bias=False), kind="projector")


def gemma4(c: Config) -> tuple[Node, ...]:
    """Describe the towers that there are, the text, and the maps between them."""
    H = c.text.hidden
    return (
        *((as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),) if c.vision else ()),
        as_child("language_model", submodel(c.text)),
        *((as_child("audio_tower", submodel(c.audio), streams={"seq": CLIP}, requires="audios", executions="audios"),) if c.audio else ()),
        *((per_image(replace(embedder("embed_vision", c.vision.out, H), stream=pooled_patches(c.vision))),) if c.vision else ()),
        *((per_clip(replace(embedder("embed_audio", c.audio.out, H), stream=CLIP)),) if c.audio else ()),
    )


def unified_body(c: Config) -> tuple[Node, ...]:
    """Describe the text, and the maps that patches and frames reach it by, with no tower before."""
    H, v, side = c.text.hidden, c.vision, c.vision.patch * c.vision.pool
    sight = part(
        "embed_vision",
        Tensor("pos_embedding", (v.positions, 2, v.hidden), "embedding"),
        layer_norm("patch_ln1", side * side * 3),
        linear("patch_dense", side * side * 3, v.hidden),
        layer_norm("patch_ln2", v.hidden),
        layer_norm("pos_norm", v.hidden),
        embedder("multimodal_embedder", v.out, H),
        kind="embeddings",
        stream=PATCHES,
    )
    return (
        as_child("language_model", submodel(c.text)),
        *((per_image(sight),) if c.sees else ()),
        *((per_clip(replace(embedder("embed_audio", c.audio.out, H), stream=CLIP)),) if c.hears else ()),
    )


BOTH = (
    model_config("text", "text_config", "gemma4_text", fixed=True),
    model_config("vision", "vision_config", "gemma4_vision", fixed=True, optional=True),
    model_config("audio", "audio_config", "gemma4_audio", fixed=True, optional=True),
    switch("tied", "tie_word_embeddings", True),
)

EMBEDDING = (
    model_config("text", "text_config", "embedding_gemma2_text", fixed=True),
    model_config("vision", "vision_config", "gemma4_vision", only=True, optional=True),
    model_config("audio", "audio_config", "gemma4_audio", only=True, optional=True),
)


def is_stated(word: str, key: str) -> Field:
    """Declare whether a config states a sub-config at all."""
    return choice(word, key, False, read=lambda value: value is not None and value is not False, report_default=False)


SIGHT = (
    PATCH.with_default(16),
    size("pool", "pooling_kernel_size", 3, "M", "patches merged along an axis"),
    size("hidden", "mm_embed_dim", 3840, "H", "hidden size"),
    size("positions", "mm_posemb_size", 1120, "S", "positions"),
    size("out", "output_proj_dims", 3840, "O", "width of a merged patch"),
)
UNIFIED = (
    model_config("text", "text_config", "gemma4_unified_text", fixed=True),
    nested("vision", "vision_config", SIGHT),
    nested(
        "audio",
        "audio_config",
        (
            size(
                "out",
                "audio_embed_dim",
                640,
                "O",
                "width of the audio output",
                "hidden_size",
                "output_proj_dims",
                "audio_samples_per_token",
            ),
        ),
    ),
    is_stated("sees", "vision_config"),
    is_stated("hears", "audio_config"),
    switch("tied", "tie_word_embeddings", True),
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {
    "audio_token_id",
    "boa_token_id",
    "boi_token_id",
    "eoa_token_id",
    "eoa_token_index",
    "eoi_token_id",
    "hidden_size",
    "audio_samples_per_token",
    "model_patch_size",
    "output_proj_dims",
}


def family_of(model_type: str, name: str, fields: tuple[Field, ...], inside: Callable[[Config], tuple[Node, ...]]) -> Family:
    """Return one type: without and with a head."""
    classes = {f"{name}Model": without_head(inside), f"{name}ForConditionalGeneration": with_lm_head(inside)}
    return Family(model_type, fields, classes, f"{name}Model", MORE_IGNORED_KEYS)


FAMILIES = {
    "gemma4": family_of("gemma4", "Gemma4", BOTH, gemma4),
    "embedding_gemma2": Family(
        "embedding_gemma2", EMBEDDING, {"EmbeddingGemma2Model": without_head(gemma4)}, "EmbeddingGemma2Model", MORE_IGNORED_KEYS
    ),
    "gemma4_unified": family_of("gemma4_unified", "Gemma4Unified", UNIFIED, unified_body),
}
