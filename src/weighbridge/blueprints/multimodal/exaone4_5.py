"""EXAONE 4.5: Qwen2.5-VL's tower, whose keys and values several heads share, in front of EXAONE 4.

Source: LG AI Research, EXAONE 4.5 (2026); names as in transformers 5.23.0, models/exaone4_5/modeling_exaone4_5.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.qwen_vision import QWEN2_5, attention, patch_merger, patches, tower
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.multimodal.qwen_vl import body
from weighbridge.config.family import Family
from weighbridge.config.fields import KV_HEADS, Config, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.parts import gated_mlp, linear, replace, rms_norm, stack
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any

VISION = variant(QWEN2_5, KV_HEADS.with_default(8))
BOTH = (
    model_config("vision", "vision_config", "exaone4_5_vision", fixed=True),
    model_config("text", "text_config", "exaone4"),
    switch("tied", "tie_word_embeddings", False),
)


def vision(c: Config) -> Part:
    """Describe the tower: as Qwen2.5-VL's, except for the width of keys and values."""
    H = c.hidden

    def block(windowed: bool) -> tuple[Node, ...]:
        plain = attention(c, windowed=windowed)
        qkv = linear("qkv", H, (c.heads + 2 * c.kv_heads) * c.head_dim)
        attended = replace(plain, children=(plain.children[1], qkv, plain.children[2]))
        return (rms_norm("norm1", H), rms_norm("norm2", H), attended, gated_mlp("mlp", H, c.mlp, bias=True))

    return tower(patches(c, bias=False), *stack("blocks", c.windowed, c.layers, block), patch_merger(c, rms_norm("ln_q", H)))


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Call the text by its type: published configs give it a name of its own.

    >>> normalize_config({"text_config": {"model_type": "exaone4_5_text"}})
    {'text_config': {'model_type': 'exaone4'}}
    """
    text = raw.get("text_config")
    if isinstance(text, Mapping) and text.get("model_type") == "exaone4_5_text":
        return {**raw, "text_config": {**text, "model_type": "exaone4"}}
    return dict(raw)


NAME = "Exaone4_5_Model"
CLASSES = {NAME: without_head(body), "Exaone4_5_ForConditionalGeneration": with_lm_head(body)}
TOWER = "Exaone4_5_VisionModel"
FAMILIES = {
    "exaone4_5": Family("exaone4_5", BOTH, CLASSES, NAME, IGNORED_KEYS, normalize_config=normalize_config),
    "exaone4_5_vision": Family("exaone4_5_vision", VISION, {TOWER: vision}, TOWER, frozenset(("tokens_per_second",))),
}
