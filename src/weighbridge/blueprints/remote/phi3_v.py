"""Phi-3 Vision: Phi-3 behind CLIP's tower for images, in the code that Microsoft published beside its files (2024).

Source: arXiv 2404.14219; modeling_phi3_v.py and image_embedding_phi3_v.py of microsoft/Phi-3-vision-128k-instruct. Held to the published
total of Phi-3.5-vision-instruct (4,146,621,440), not to a live class.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.phi import PHI3, phi3
from weighbridge.blueprints.modules.backbones import bind_backbone
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS, with_heads
from weighbridge.blueprints.modules.clip_towers import vision_tower
from weighbridge.config.bind import say_value
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Node, Tensor

if TYPE_CHECKING:
    from typing import Any

CLIP = {
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
}
"""CLIP-ViT-L/14 on images of 336, which the code builds whatever the config says of it."""
CROPS = unknown("how many crops an image has depends on its sides")


def _tower(value: Any) -> int | None:
    """Take the width of the tower's states, or None where there is no tower."""
    if value is None:
        return None
    if not isinstance(value, dict) or value.get("name") != "clip_vision_model" or value.get("image_dim_out", 1024) != 1024:
        raise ConfigError(Text("expected CLIP's tower of 1,024, found {what}", what=say_value(value)), key="img_processor", value=value)
    return 1024


def _projector(value: Any) -> tuple[str, bool]:
    """Take the kind of map from images to words, and whether crops are laid out in rows with a learned vector between them."""
    inner = {} if value is None else value
    kind, rows = (inner.get("projection_cls", "linear"), inner.get("use_hd_transform", False)) if isinstance(inner, dict) else (None, None)
    if kind not in ("linear", "mlp") or not isinstance(rows, bool) or inner.get("with_learnable_separator", rows) != rows:
        raise ConfigError(Text("{what} is not described", what=say_value(value)), key="embd_layer", value=value)
    return kind, rows


FIELDS = variant(
    (
        *PHI3,
        choice("tower", "img_processor", None, read=_tower, report_default=False),
        choice("projector", "embd_layer", None, read=_projector, report_default=False),
    )
)


def phi3_v(c: Config) -> tuple[Node, ...]:
    """Describe Phi-3 with the images' tower between its words and its layers."""
    words, *rest = phi3(c)
    if c.tower is None:
        return (words, *rest)
    tower = part("vision_model", *vision_tower(bind_backbone("clip_vision_model", CLIP)), kind="vision")
    kind, rows = c.projector
    inputs = 4 * c.tower if rows and kind == "mlp" else c.tower
    maps: tuple[Node, ...] = linear("0", inputs, c.hidden), linear("2", c.hidden, c.hidden)
    projection = linear("img_projection", inputs, c.hidden) if kind == "linear" else part("img_projection", *maps, kind="projector")
    between = (Tensor(f"{name}_GN", (1,) * axes + (4 * c.tower,), "embedding") for name, axes in (("glb", 2), ("sub", 3)))
    images = part(
        "vision_embed_tokens",
        *(between if rows else ()),
        part("img_processor", tower, kind="vision"),
        projection,
        kind="embeddings",
        stream=CROPS,
        requires="images",
        executions="images",
    )
    return (words, images, *rest)


FAMILIES = {
    "phi3_v": Family("phi3_v", FIELDS, with_heads("Phi3V", phi3_v, "lm sequence token"), "Phi3VForCausalLM", IGNORED_KEYS),
}
