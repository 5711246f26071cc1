"""VideoLLaMA 3 and PaddleOCR-VL: SigLIP's tower over images of any size, in front of a language model.

Source: arXiv 2501.13106 (VideoLLaMA 3), 2510.14528 (PaddleOCR-VL); names as in transformers 5.23.0,
models/video_llama_3/modeling_video_llama_3.py and models/paddleocr_vl/modeling_paddleocr_vl.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.decoders.llama import LLAMA, all_biases, llama
from weighbridge.blueprints.modules.causal_lm import NEUTRAL as TEXT_NEUTRAL
from weighbridge.blueprints.modules.causal_lm import heads
from weighbridge.blueprints.modules.clip_towers import encoder, image_fields, stack_fields
from weighbridge.blueprints.modules.composite import composed, submodel, under
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.qwen_vision import PATCHES, merged
from weighbridge.blueprints.modules.vlm_common import seen, tied
from weighbridge.blueprints.multimodal.llava import kin
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes, size, switch, told, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.length import unknown
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

VIDEO_VISION = (*stack_fields(768, 3072, 12), CHANNELS, size("patch", "patch_size", 16, "P", "side of a patch"))
VIDEO = (
    composed("vision", "vision_config", "video_llama_3_vision", fixed=True),
    composed("text", "text_config", "qwen2 llama"),
    *tied(),
)
MERGE = size("merge", "spatial_merge_size", 2, "M", "patches merged along an axis")
PADDLE_VISION = (*stack_fields(1152, 4304, 16, 27), *image_fields(384, 14), MERGE)
PADDLE_TEXT = variant(
    LLAMA, vocab=103424, hidden=1024, mlp=3072, layers=18, heads=16, kv_heads=2, head_dim=128, tied=True, **all_biases("use_bias")
)
PADDLE = (
    composed("vision", "vision_config", "paddleocr_vl_vision", fixed=True),
    composed("text", "text_config", "paddleocr_vl_text", fixed=True),
    switch("outer_tied", "tie_word_embeddings", True),
    told("tied", lambda c: c.outer_tied or c.text.tied),
)
ASKED = unknown("how many patches become one token is asked of the image processor, and stands in no config")


def vision(c: Sizes, *positions: Part) -> Part:
    """Describe the tower: a map of each patch, layers, a norm."""
    patch = conv2d("patch_embedding", c.channels, c.hidden, c.patch)
    embeddings = part("embeddings", patch, *positions, kind="embeddings")
    return part("", embeddings, encoder(c, attention_first=False), layer_norm("post_layernorm", c.hidden), kind="vision", stream=PATCHES)


def placed(c: Sizes) -> Part:
    """Describe the tower with a table of positions, which is stretched over the image."""
    return vision(c, embedding("position_embedding", c.patches, c.hidden))


def video_llama(c: Sizes) -> tuple[Node, ...]:
    """Describe the tower, two linear layers, and the text."""
    H = c.text.hidden
    readout = part("readout", linear("0", c.vision.hidden, H), linear("2", H, H), kind="feed_forward")
    return (
        under("vision_model", submodel(c.vision), requires="images", executions="images"),
        seen(part("projector", readout, kind="projector", stream=ASKED)),
        under("language_model", submodel(c.text)),
    )


def paddle(c: Sizes) -> tuple[Node, ...]:
    """Describe the tower, the text, and a norm and two linear layers over squares of patches."""
    wide = c.vision.hidden * c.vision.merge * c.vision.merge
    squares = merged(c.vision)
    projector = part(
        "projector",
        layer_norm("pre_norm", c.vision.hidden),
        linear("linear_1", wide, wide, stream=squares),
        linear("linear_2", wide, c.text.hidden, stream=squares),
        kind="projector",
        stream=PATCHES,
    )
    return (
        under("visual", submodel(c.vision, "VisionModel"), requires="images", executions="images"),
        under("language_model", submodel(c.text)),
        seen(projector),
    )


TEXT_KEYS = {key for field in PADDLE_TEXT for key in (field.key, *field.aliases) if key} - {"tie_word_embeddings"}


def settled(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Bring an older config, which states the text's fields beside the others, into the present layout; the tie stays outside.

    >>> settled({"hidden_size": 64, "tie_word_embeddings": False})
    {'tie_word_embeddings': False, 'text_config': {'hidden_size': 64}}
    """
    if raw.get("text_config") is not None:
        return dict(raw)
    outer = {key: value for key, value in raw.items() if key not in TEXT_KEYS}
    return {**outer, "text_config": {key: value for key, value in raw.items() if key in TEXT_KEYS}}


def wrapped(c: Sizes) -> Part:
    """Describe the tower under a name."""
    return part("", replace(placed(c), name="vision_model"), kind="model", stream=PATCHES)


TOWERS = {"PaddleOCRVisionTransformer": placed, "PaddleOCRVisionModel": wrapped}
FAMILIES = {
    "video_llama_3": kin("video_llama_3", "VideoLlama3", VIDEO, video_llama),
    "video_llama_3_vision": Family("video_llama_3_vision", VIDEO_VISION, {"VideoLlama3VisionModel": vision}, "VideoLlama3VisionModel"),
    "paddleocr_vl": replace(kin("paddleocr_vl", "PaddleOCRVL", PADDLE, paddle), settle=settled),
    "paddleocr_vl_text": Family("paddleocr_vl_text", PADDLE_TEXT, heads("PaddleOCRText", llama, ""), "PaddleOCRTextModel", TEXT_NEUTRAL),
    "paddleocr_vl_vision": Family("paddleocr_vl_vision", PADDLE_VISION, TOWERS, "PaddleOCRVisionModel"),
}
