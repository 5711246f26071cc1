"""PerceptionLM: one of timm's Perception Encoders before a language model.

Source: arXiv 2504.13180; names as in transformers 5.23.0, models/perception_lm/modeling_perception_lm.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, per_image, with_lm_head, without_head
from weighbridge.blueprints.vision.timm_wrapper import WHOLE
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import linear, part, replace
from weighbridge.core.tree import Node

if TYPE_CHECKING:
    from typing import Any

TILES = unknown("images are cut into as many tiles as their shape asks for")


def stated_width(value: Any) -> int:
    """Take the tower's width, which the outer class asks of timm's arguments."""
    arguments = value.get("model_args") if isinstance(value, Mapping) else None
    found = arguments.get("embed_dim") if isinstance(arguments, Mapping) else None
    if type(found) is not int:
        raise ConfigError("the class reads the tower's width here", key="vision_config.model_args.embed_dim", value=found)
    return found


FIELDS = (
    model_config("vision", "vision_config", "timm_wrapper", only=True, more=(choice("width", WHOLE, None, read=stated_width),)),
    model_config("text", "text_config", "llama qwen2"),
    choice("outer_tied", "tie_word_embeddings", None, report_default=False),
    computed("tied", lambda c: c.text.tied if c.outer_tied is None else c.outer_tied),
)


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, two linear maps, and the text."""
    H = c.text.hidden
    maps = part(
        "multi_modal_projector",
        linear("linear_1", c.vision.width, H),
        linear("linear_2", H, H),
        kind="projector",
        stream=TILES,
    )
    tower = as_child("vision_tower", submodel(c.vision), requires="images", executions="images")
    return replace(tower, stream=TILES), per_image(maps), as_child("language_model", submodel(c.text))


NAME = "PerceptionLM"
CLASSES = {f"{NAME}Model": without_head(body), f"{NAME}ForConditionalGeneration": with_lm_head(body)}
MORE_IGNORED_KEYS = frozenset(("vision_use_cls_token", "projector_pooling_ratio"))
FAMILIES = {"perception_lm": Family("perception_lm", FIELDS, CLASSES, f"{NAME}Model", IGNORED_KEYS | MORE_IGNORED_KEYS)}
