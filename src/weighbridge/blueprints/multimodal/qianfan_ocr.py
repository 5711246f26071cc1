"""Qianfan-OCR: InternVL's tower and projector, with a flatter list of layers.

Source: Baidu, Qianfan-OCR (2026); names as in transformers 5.23.0, models/qianfan_ocr/modeling_qianfan_ocr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.multimodal.internvl import FIELDS, projector
from weighbridge.blueprints.multimodal.internvl import VISION as BEIT
from weighbridge.blueprints.multimodal.internvl import vision as nested_vision
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, switch, variant
from weighbridge.core.parts import replace
from weighbridge.core.tree import Part

VISION = variant(BEIT, qkv_bias=True)
BOTH = (
    model_config("vision", "vision_config", "qianfan_ocr_vision", fixed=True),
    model_config("text", "text_config", "qwen3 qwen2"),
    *FIELDS[2:4],
    switch("tied", "tie_word_embeddings", False),
)


def vision(c: Config) -> Part:
    """Describe the tower: its layers stand last, and in no encoder of their own."""
    tree = nested_vision(c)
    embeddings, encoder, *last = tree.children
    assert isinstance(encoder, Part) and isinstance(encoder.children[0], Part)
    return replace(tree, children=(embeddings, *last, replace(encoder.children[0], name="layers")))


TOWER = "QianfanOCRVisionModel"
FAMILIES = {
    "qianfan_ocr": family_of("qianfan_ocr", "QianfanOCR", BOTH, lambda c: body(c, projector), "vision_feature_layer"),
    "qianfan_ocr_vision": Family(
        "qianfan_ocr_vision", VISION, {TOWER: vision}, TOWER, frozenset(("layer_scale_init_value", "drop_path_rate"))
    ),
}
