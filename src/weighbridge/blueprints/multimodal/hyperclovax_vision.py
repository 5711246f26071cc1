"""HyperCLOVA X Vision 2: Qwen2.5-VL's tower, a linear map, and HyperCLOVA X.

Source: NAVER Cloud, HyperCLOVA X SEED Think 32B (2025); names as in transformers 5.23.0,
models/hyperclovax_vision_v2/modeling_hyperclovax_vision_v2.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qwen_vision import merged_patches
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import linear
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any

FIELDS = (
    model_config("vision", "vision_config", "qwen2_5_vl_vision", only=True),
    model_config("text", "text_config", "hyperclovax"),
    switch("tied", "tie_word_embeddings", True),
)


def body(c: Config) -> tuple[Part, ...]:
    """Describe the tower, the map of its merged patches, and the text."""
    return (
        as_child("vision_model", submodel(c.vision), requires="images", executions="images"),
        per_image(linear("projector", c.vision.out, c.text.hidden, stream=merged_patches(c.vision))),
        as_child("language_model", submodel(c.text)),
    )


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Call the tower by its type, as the reference does: published configs name the whole of Qwen2.5-VL.

    >>> normalize_config({"vision_config": {"model_type": "qwen2_5_vl"}})
    {'vision_config': {'model_type': 'qwen2_5_vl_vision'}}
    """
    vision = raw.get("vision_config")
    if isinstance(vision, Mapping) and vision.get("model_type") == "qwen2_5_vl":
        return {**raw, "vision_config": {**vision, "model_type": "qwen2_5_vl_vision"}}
    return dict(raw)


NAME = "HyperCLOVAXVisionV2Model"
CLASSES = {NAME: without_head(body), "HyperCLOVAXVisionV2ForConditionalGeneration": with_lm_head(body)}
FAMILIES = {
    "hyperclovax_vision_v2": Family(
        "hyperclovax_vision_v2", FIELDS, CLASSES, NAME, IGNORED_KEYS | {"vocab_size"}, normalize_config=normalize_config
    ),
}
