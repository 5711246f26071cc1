"""SuperGlue: matching of two images' keypoints with self- and cross-attention layers (Sarlin et al., 2019).

Source: arXiv 1911.11763; names as in transformers 5.23.0, models/superglue/modeling_superglue.py.
"""

from __future__ import annotations

from itertools import pairwise

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, sequence
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

FOUND = unknown("the number of points depends on the image's pixels")


def kinds(value: Any) -> tuple[str, ...]:
    """Take which layers attend to the image itself and which to the other."""
    if any(entry not in ("self", "cross") for entry in value):
        raise ConfigError(Text("expected self and cross, found {value!r:.60}", value=value), key="gnn_layers_types", value=value)
    return tuple(value)


FIELDS = (
    HIDDEN.with_default(256),
    HEADS.with_default(4),
    numbers("widths", "keypoint_encoder_sizes", (32, 64, 128, 256)),
    sequence("kinds", "gnn_layers_types", ["self", "cross"] * 9, read=kinds),
    model_config("detector", "keypoint_detector_config", "superpoint"),
)


def chain(*widths: Size) -> tuple[Part, ...]:
    """Describe linear maps with a batch norm each, except for the last, which is plain."""
    steps = list(pairwise(widths))
    found = [
        part(str(i), linear("linear", *step), batch_norm("batch_norm", step[1]), kind="feed_forward") for i, step in enumerate(steps[:-1])
    ]
    return *found, linear(str(len(found)), *steps[-1])


def layer(c: Config) -> tuple[Node, ...]:
    """Describe a layer: attention, and a network over what it found beside what it had."""
    H = c.hidden
    maps = (linear(name, H, H) for name in ("query", "key", "value"))
    inner = part("self", *maps, attend(heads=c.heads, head_dim=exact(H, c.heads)), kind="attention")
    attention = part("attention", inner, part("output", linear("dense", H, H), kind="attention"), kind="self_attention")
    return attention, part("mlp", *chain(2 * H, 2 * H, H), kind="feed_forward")


def superglue(c: Config) -> Part:
    """Describe SuperGlueForKeypointMatching."""
    H = c.hidden
    return part(
        "",
        Tensor("bin_score", (), "gain"),
        as_child("keypoint_detector", submodel(c.detector)),
        part("keypoint_encoder", part("encoder", *chain(3, *c.widths, H)), kind="encoder", stream=FOUND),
        part("gnn", part("layers", *layer(c), kind="layer", repeat=len(c.kinds)), kind="encoder", stream=FOUND),
        part("final_projection", linear("final_proj", H, H), kind="projection", stream=FOUND),
        kind="model",
    )


CLASSES = {"SuperGlueForKeypointMatching": superglue}
IGNORED_KEYS = frozenset("is_decoder matching_threshold sinkhorn_iterations".split())
FAMILIES = {"superglue": Family("superglue", FIELDS, CLASSES, "SuperGlueForKeypointMatching", IGNORED_KEYS)}
