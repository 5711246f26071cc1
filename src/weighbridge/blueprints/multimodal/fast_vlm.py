"""FastVLM: timm's FastViT before a language model.

Source: arXiv 2412.13303; names as in transformers 5.23.0, models/fast_vlm/modeling_fast_vlm.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, constant, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Node

if TYPE_CHECKING:
    from typing import Any

MAP = unknown("no key of the config says how large images are")


def stated_width(value: Any) -> int:
    """Take the tower's width, which the outer class reads beside timm's arguments."""
    if type(value) is not int or value < 1:
        raise ConfigError("the class reads the tower's width here", key="vision_config.hidden_size", value=value)
    return value


TOWER = {"architecture": "fastvit_mci3", "hidden_size": 3072, "model_args": {"inference_mode": True}}
TEXT = {
    "hidden_size": 3584,
    "vocab_size": 152128,
    "intermediate_size": 18944,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "num_hidden_layers": 28,
}
"""What the class puts where a sub-config is absent: FastVLM-7B."""


def _refuse_other_features(c: Config) -> bool:
    if c.select != "full":
        raise ConfigError("the class takes the whole map alone: full", key="vision_feature_select_strategy", value=c.select)
    if c.layer != -1:
        raise ConfigError("the class takes the last map alone: -1", key="vision_feature_layer", value=c.layer)
    return True


FIELDS = (
    model_config(
        "vision", "vision_config", "timm_wrapper", only=True, absent=TOWER, more=(choice("width", "hidden_size", None, read=stated_width),)
    ),
    model_config("text", "text_config", "qwen2 llama", absent=TEXT),
    switch("bias", "multimodal_projector_bias", True),
    switch("outer_tied", "tie_word_embeddings", False),
    computed("tied", lambda c: c.outer_tied or c.text.tied),
    choice("select", "vision_feature_select_strategy", "full", report_default=False),
    choice("layer", "vision_feature_layer", -1, report_default=False),
    constant("last", _refuse_other_features),
)


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, two linear maps, and the text."""
    H = c.text.hidden
    maps = (linear("linear_1", c.vision.width, H, bias=c.bias), linear("linear_2", H, H, bias=c.bias))
    tower = as_child("vision_tower", submodel(c.vision), requires="images", executions="images")
    return (
        replace(tower, stream=MAP),
        per_image(part("multi_modal_projector", *maps, kind="projector", stream=MAP)),
        as_child("language_model", submodel(c.text)),
    )


NAME = "FastVlm"
CLASSES = {f"{NAME}Model": without_head(body), f"{NAME}ForConditionalGeneration": with_lm_head(body)}
FAMILIES = {"fast_vlm": Family("fast_vlm", FIELDS, CLASSES, f"{NAME}Model", IGNORED_KEYS)}
