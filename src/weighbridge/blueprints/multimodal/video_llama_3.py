"""VideoLLaMA 3 and PaddleOCR-VL: a SigLIP tower for images of any size in front of a language model.

Source: arXiv 2501.13106 (VideoLLaMA 3), 2510.14528 (PaddleOCR-VL); names as in transformers 5.23.0,
models/video_llama_3/modeling_video_llama_3.py and models/paddleocr_vl/modeling_paddleocr_vl.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.llama import LLAMA, all_biases, llama
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS as TEXT_IGNORED_KEYS
from weighbridge.blueprints.modules.causal_lm import with_heads
from weighbridge.blueprints.modules.clip_towers import encoder, image_fields, stack_fields
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.qwen_vision import PATCHES, merged_patches
from weighbridge.blueprints.modules.vlm_common import per_image, tie_fields
from weighbridge.blueprints.multimodal.llava import family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, SPATIAL_MERGE, Config, computed, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import unknown
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

VIDEO_VISION = (*stack_fields(768, 3072, 12), CHANNELS, PATCH.with_default(16))
VIDEO = (
    model_config("vision", "vision_config", "video_llama_3_vision", fixed=True),
    model_config("text", "text_config", "qwen2 llama"),
    *tie_fields(),
)
MERGE = SPATIAL_MERGE.with_default(2)
PADDLE_VISION = (*stack_fields(1152, 4304, 16, 27), *image_fields(384, 14), MERGE)
PADDLE_TEXT = variant(
    LLAMA, vocab=103424, hidden=1024, mlp=3072, layers=18, heads=16, kv_heads=2, head_dim=128, tied=True, **all_biases("use_bias")
)
PADDLE = (
    model_config("vision", "vision_config", "paddleocr_vl_vision", fixed=True),
    model_config("text", "text_config", "paddleocr_vl_text", fixed=True),
    switch("outer_tied", "tie_word_embeddings", True),
    computed("tied", lambda c: c.outer_tied or c.text.tied),
)
ASKED = unknown("how many patches become one token is decided by the image processor, not by the config")


def vision(c: Config, *positions: Part) -> Part:
    """Describe the tower: a map of each patch, layers, a norm."""
    patch = conv2d("patch_embedding", c.channels, c.hidden, c.patch)
    embeddings = part("embeddings", patch, *positions, kind="embeddings")
    return part("", embeddings, encoder(c, attention_first=False), layer_norm("post_layernorm", c.hidden), kind="vision", stream=PATCHES)


def positioned_tower(c: Config) -> Part:
    """Describe the tower with a table of positions, which is stretched over the image."""
    return vision(c, embedding("position_embedding", c.patches, c.hidden))


def video_llama(c: Config) -> tuple[Node, ...]:
    """Describe the tower, two linear layers, and the text."""
    H = c.text.hidden
    readout = part("readout", linear("0", c.vision.hidden, H), linear("2", H, H), kind="feed_forward")
    return (
        as_child("vision_model", submodel(c.vision), requires="images", executions="images"),
        per_image(part("projector", readout, kind="projector", stream=ASKED)),
        as_child("language_model", submodel(c.text)),
    )


def paddle(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and a norm and two linear layers over squares of patches."""
    wide = c.vision.hidden * c.vision.merge * c.vision.merge
    squares = merged_patches(c.vision)
    projector = part(
        "projector",
        layer_norm("pre_norm", c.vision.hidden),
        linear("linear_1", wide, wide, stream=squares),
        linear("linear_2", wide, c.text.hidden, stream=squares),
        kind="projector",
        stream=PATCHES,
    )
    return (
        as_child("visual", submodel(c.vision, "VisionModel"), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        per_image(projector),
    )


TEXT_KEYS = {key for field in PADDLE_TEXT for key in (field.key, *field.aliases) if key} - {"tie_word_embeddings"}


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring an older config, which states the text's fields beside the others, into the present layout; the tie stays outside.

    >>> normalize_config({"hidden_size": 64, "tie_word_embeddings": False})
    {'tie_word_embeddings': False, 'text_config': {'hidden_size': 64}}
    """
    if raw.get("text_config") is not None:
        return dict(raw)
    outer = {key: value for key, value in raw.items() if key not in TEXT_KEYS}
    return {**outer, "text_config": {key: value for key, value in raw.items() if key in TEXT_KEYS}}


def wrapped_tower(c: Config) -> Part:
    """Describe the tower under a name."""
    return part("", replace(positioned_tower(c), name="vision_model"), kind="model", stream=PATCHES)


TOWERS = {"PaddleOCRVisionTransformer": positioned_tower, "PaddleOCRVisionModel": wrapped_tower}
FAMILIES = {
    "video_llama_3": family_of("video_llama_3", "VideoLlama3", VIDEO, video_llama),
    "video_llama_3_vision": Family("video_llama_3_vision", VIDEO_VISION, {"VideoLlama3VisionModel": vision}, "VideoLlama3VisionModel"),
    "paddleocr_vl": replace(family_of("paddleocr_vl", "PaddleOCRVL", PADDLE, paddle), normalize_config=normalize_config),
    "paddleocr_vl_text": Family(
        "paddleocr_vl_text", PADDLE_TEXT, with_heads("PaddleOCRText", llama, ""), "PaddleOCRTextModel", TEXT_IGNORED_KEYS
    ),
    "paddleocr_vl_vision": Family("paddleocr_vl_vision", PADDLE_VISION, TOWERS, "PaddleOCRVisionModel"),
}
