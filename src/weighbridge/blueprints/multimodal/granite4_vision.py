"""Granite 4 Vision: a tower whose states at several depths reach several layers of the text, each through a Q-Former over windows.

Source: IBM, Granite 4 Vision (2026); names as in transformers 5.23.0, models/granite4_vision/modeling_granite4_vision.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.qformer import qformer
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, choice, computed, switch, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

TILES = unknown("images are cut into as many tiles as their shape asks for, and each tile into windows")
QUERIES = {
    "num_hidden_layers": 1,
    "intermediate_size": 3072,
    "cross_attention_frequency": 1,
    "max_position_embeddings": 2048,
    "use_qformer_text_input": False,
}
"""What the class takes for the Q-Former where the config has none."""
DERIVED = ("hidden_size", "num_attention_heads", "encoder_hidden_size")
"""What the class makes of the tower's width, whatever the Q-Former's config says."""
OFFSETS = 4
"""Ways of taking every second patch of every second row, each with a projector of its own."""


def window_sides(value: Any) -> tuple[int, int]:
    """Take how many queries stand for how many patches, along a side.

    >>> window_sides("3/8")
    (3, 8)
    """
    sides = value.split("/") if isinstance(value, str) else ()
    if len(sides) != 2 or not all(side.strip().isdecimal() for side in sides):
        raise ConfigError(Text("expected a fraction such as '1/2', found {value!r:.60}", value=value), key="downsample_rate", value=value)
    return int(sides[0]), int(sides[1])


def number_of_pairs(value: Any) -> int:
    """Read how many layers of the tower reach the text."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in value):
        raise ConfigError("expected pairs of a layer of the tower and one of the text", key="deepstack_layer_map", value=value)
    return len(value)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of the Q-Former's config what the outer class makes of the tower's width."""
    inner = raw.get("qformer_config")
    if not isinstance(inner, Mapping):
        return dict(raw)
    return {**raw, "qformer_config": {key: value for key, value in inner.items() if key not in DERIVED}}


def _heads(c: Config) -> int:
    heads = int(c.vision.hidden) // 64
    if heads < 1 or c.vision.hidden % heads:
        raise ConfigError("the Q-Former has a head for every 64 of it", key="vision_config.hidden_size", value=c.vision.hidden)
    return heads


FIELDS: tuple[Field, ...] = (
    model_config("vision", "vision_config", "clip_vision_model siglip_vision_model"),
    model_config("text", "text_config", "granite4_vision_text", fixed=True),
    model_config("q", "qformer_config", "blip_2_qformer", only=True, absent=QUERIES),
    choice("sides", "downsample_rate", None, read=window_sides),
    choice("deep", "deepstack_layer_map", None, read=number_of_pairs),
    computed("q_heads", _heads),
    switch("tied", "tie_word_embeddings", False),
)


def downsampler(c: Config, name: str, repeat: int) -> Part:
    """Describe the projectors of one kind: a window's queries, where its patches stand, a Q-Former, and a map to the text's width."""
    V = c.vision.hidden
    inner = with_changes(c.q, hidden=V, heads=c.q_heads, head_dim=exact(V, c.q_heads), encoder_hidden=V)
    queries, window = c.sides
    return part(
        name,
        Tensor("query", (1, queries**2, V), "embedding"),
        Tensor("image_positions", (1, window**2, V), "embedding"),
        replace(qformer(inner, TILES, None, TILES), name="qformer"),
        layer_norm("norm", V),
        linear("out_linear", V, c.text.hidden),
        kind="projector",
        repeat=repeat,
        stream=TILES,
        requires="images",
    )


def body(c: Config) -> tuple[Node, ...]:
    """Describe the tower, the text, and the projectors between them."""
    return (
        Tensor("image_newline", (c.text.hidden,), "embedding"),
        as_child("vision_tower", submodel(c.vision), requires="images", executions="images"),
        as_child("language_model", submodel(c.text)),
        *((downsampler(c, "layerwise_projectors", c.deep),) if c.deep else ()),
        downsampler(c, "spatial_projectors", OFFSETS),
    )


NAME = "Granite4Vision"
CLASSES = {f"{NAME}Model": without_head(body), f"{NAME}ForConditionalGeneration": with_lm_head(body)}
MORE_IGNORED_KEYS = frozenset(
    """image_grid_pinpoints projector_dropout spatial_target_layers spatial_vision_layer vision_feature_layer
    vision_feature_select_strategy""".split()
)
FAMILIES = {
    "granite4_vision": Family(
        "granite4_vision", FIELDS, CLASSES, f"{NAME}Model", IGNORED_KEYS | MORE_IGNORED_KEYS, normalize_config=normalize_config
    )
}
