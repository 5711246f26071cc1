"""SuperPoint: keypoint detection and description with one convolutional network (DeTone et al., 2018).

Source: arXiv 1712.07629; names as in transformers 5.23.0, models/superpoint/modeling_superpoint.py. The config states
no image: ``image_size`` may be set beside its fields; by default it is 480 by 640.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import conv2d, part
from weighbridge.core.tree import Part

FIELDS = (
    numbers("widths", "encoder_hidden_sizes", (64, 64, 128, 128)),
    size("decoder", "decoder_hidden_size", 256, "H", "hidden size"),
    number("scores", "keypoint_decoder_dim", 65),
    size("described", "descriptor_decoder_dim", 256, "D", "width of a description"),
    image([480, 640], report_default=False),
    computed("stages", lambda c: stages_of(c)),
)


def stages_of(c: Config) -> int:
    """Return how many stages there are: at least two."""
    if len(c.widths) < 2:
        raise ConfigError("expected two stages or more", key="encoder_hidden_sizes", value=c.widths)
    return len(c.widths)


def superpoint(c: Config) -> Part:
    """Describe SuperPointForKeypointDetection: stages of two convolutions over one channel, each but the last halving the map."""
    grid, inputs, found = c.image, 1, []
    for index, width in enumerate(c.widths):
        pair = conv2d("conv_a", inputs, width, 3, stream=area(grid)), conv2d("conv_b", width, width, 3, stream=area(grid))
        found.append(pair)
        grid, inputs = conv_output(grid, 2, 2) if index + 1 < len(c.widths) else grid, width
    places: Stream = area(grid) if c.scores == 65 else unknown("a position has 64 pixels and one extra score, for none of them")
    heads = (
        part(name, conv2d(f"conv_{what}_a", inputs, c.decoder, 3), conv2d(f"conv_{what}_b", c.decoder, outs, 1), kind="head", stream=places)
        for name, what, outs in (("keypoint_decoder", "score", c.scores), ("descriptor_decoder", "descriptor", c.described))
    )
    return part("", part("encoder", module_list("conv_blocks", *found), kind="encoder"), *heads, kind="model")


MORE_IGNORED_KEYS = frozenset("border_removal_distance keypoint_threshold max_keypoints nms_radius".split())
CLASSES = {"SuperPointForKeypointDetection": superpoint}

FAMILIES = {"superpoint": Family("superpoint", FIELDS, CLASSES, "SuperPointForKeypointDetection", MORE_IGNORED_KEYS)}
