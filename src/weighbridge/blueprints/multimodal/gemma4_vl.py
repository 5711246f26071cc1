"""Gemma 4 that sees and hears, through two towers, and in the unified one through none.

Source: Google, Gemma 4 (2026); names as in transformers 5.23.0, models/gemma4/modeling_gemma4.py and
models/gemma4_unified/modeling_gemma4_unified.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.modules.composite import composed, submodel, under
from weighbridge.blueprints.modules.qwen_vision import PATCHES
from weighbridge.blueprints.modules.vlm_common import NEUTRAL, alone, generation, seen
from weighbridge.blueprints.multimodal.gemma4_towers import pooled
from weighbridge.blueprints.multimodal.qwen2_audio import heard
from weighbridge.config.family import Family
from weighbridge.config.fields import Field, Sizes, choice, nested, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

CLIP = unknown("clips are as long as their mask says")


def embedder(name: str, inputs: Size, H: Size) -> Part:
    """Describe the map of what a tower gives to the text; its norm has no parameters."""
    return part(name, linear("embedding_projection", inputs, H, bias=False), kind="projector")


def gemma4(c: Sizes) -> tuple[Node, ...]:
    """Describe the towers that there are, the text, and the maps between them."""
    H = c.text.hidden
    return (
        *((under("vision_tower", submodel(c.vision), requires="images", executions="images"),) if c.vision else ()),
        under("language_model", submodel(c.text)),
        *((under("audio_tower", submodel(c.audio), streams={"seq": CLIP}, requires="audios", executions="audios"),) if c.audio else ()),
        *((seen(replace(embedder("embed_vision", c.vision.out, H), stream=pooled(c.vision))),) if c.vision else ()),
        *((heard(replace(embedder("embed_audio", c.audio.out, H), stream=CLIP)),) if c.audio else ()),
    )


def unified(c: Sizes) -> tuple[Node, ...]:
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
        under("language_model", submodel(c.text)),
        *((seen(sight),) if c.sees else ()),
        *((heard(replace(embedder("embed_audio", c.audio.out, H), stream=CLIP)),) if c.hears else ()),
    )


BOTH = (
    composed("text", "text_config", "gemma4_text", fixed=True),
    composed("vision", "vision_config", "gemma4_vision", fixed=True, optional=True),
    composed("audio", "audio_config", "gemma4_audio", fixed=True, optional=True),
    switch("tied", "tie_word_embeddings", True),
)


def stated(word: str, key: str) -> Field:
    """Declare whether a config states a sub-config at all."""
    return choice(word, key, False, read=lambda value: value is not None and value is not False, silent=True)


SIGHT = (
    size("patch", "patch_size", 16, "P", "side of a patch"),
    size("pool", "pooling_kernel_size", 3, "M", "patches merged along an axis"),
    size("hidden", "mm_embed_dim", 3840, "H", "hidden size"),
    size("positions", "mm_posemb_size", 1120, "S", "positions"),
    size("out", "output_proj_dims", 3840, "O", "width of a merged patch"),
)
UNIFIED = (
    composed("text", "text_config", "gemma4_unified_text", fixed=True),
    nested("vision", "vision_config", SIGHT),
    nested("audio", "audio_config", (size("out", "audio_embed_dim", 640, "O", "width of what is heard"),)),
    stated("sees", "vision_config"),
    stated("hears", "audio_config"),
    switch("tied", "tie_word_embeddings", True),
)
SKIPPED = NEUTRAL | {
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


def kin(model_type: str, name: str, fields: tuple[Field, ...], inside: Callable[[Sizes], tuple[Node, ...]]) -> Family:
    """Return one type: without and with a head."""
    classes = {f"{name}Model": alone(inside), f"{name}ForConditionalGeneration": generation(inside)}
    return Family(model_type, fields, classes, f"{name}Model", SKIPPED)


FAMILIES = {
    "gemma4": kin("gemma4", "Gemma4", BOTH, gemma4),
    "gemma4_unified": kin("gemma4_unified", "Gemma4Unified", UNIFIED, unified),
}
