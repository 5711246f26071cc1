"""Cosmos 3 Omni's reasoner: Qwen3-VL under a name of its own.

Source: NVIDIA, Cosmos 3 (2026); names as in transformers 5.23.0, models/cosmos3_omni/modeling_cosmos3_omni.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.multimodal.qwen_vl import body
from weighbridge.config.family import Family
from weighbridge.config.fields import switch
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

FIELDS = (
    model_config("vision", "vision_config", "qwen3_vl_vision", only=True),
    model_config("text", "text_config", "qwen3_vl_text"),
    switch("tied", "tie_word_embeddings", False),
)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Call the tower by its type: older checkpoints give it another.

    >>> normalize_config({"vision_config": {"model_type": "qwen3_vl"}})
    {'vision_config': {'model_type': 'qwen3_vl_vision'}}
    """
    vision = raw.get("vision_config")
    return {**raw, "vision_config": {**vision, "model_type": "qwen3_vl_vision"}} if isinstance(vision, Mapping) else dict(raw)


CLASSES = {"Cosmos3OmniModel": without_head(body), "Cosmos3OmniForConditionalGeneration": with_lm_head(body)}
FAMILIES = {"cosmos3_omni": Family("cosmos3_omni", FIELDS, CLASSES, "Cosmos3OmniModel", IGNORED_KEYS, normalize_config=normalize_config)}
