"""UperNet: a pyramid pooling module and a feature pyramid over any backbone, for semantic segmentation.

Source: Unified Perceptual Parsing, arXiv 1807.10221; names as in transformers 5.23.0, models/upernet/modeling_upernet.py. The
config states no image: ``image_size`` may be set beside its fields, and is 512 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, backbone, features, named_backbone
from weighbridge.blueprints.modules.feature_maps import Grid, area, image
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, LABELS, Config, computed, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

STAGES = ["stage1", "stage2", "stage3", "stage4"]
AUXILIARY = 2
"""The map that the auxiliary head looks at."""


def fits_auxiliary_head(c: Config) -> bool:
    """Say whether the auxiliary head is as wide as its map, and its classifier as what it is given; refuse one without a map."""
    widths = features(c.backbone, c.image).widths
    if c.auxiliary and c.auxiliary_inputs is None and len(widths) <= AUXILIARY:
        raise ConfigError(
            Text("the auxiliary head looks at the third of {count} maps", count=len(widths)), key="backbone_config.out_indices"
        )
    width = widths[AUXILIARY] if len(widths) > AUXILIARY else None
    inputs = width if c.auxiliary_inputs is None else c.auxiliary_inputs
    return bool(inputs == width and (c.auxiliary_depth or inputs == c.auxiliary_width))


FIELDS = (
    HIDDEN.with_default(512),
    backbone("resnet swin convnext", {"model_type": "resnet", "out_features": STAGES}),
    numbers("scales", "pool_scales", (1, 2, 3, 6)),
    image(512, report_default=False),
    switch("auxiliary", "use_auxiliary_head", True),
    number("auxiliary_inputs", "auxiliary_in_channels", None),
    size("auxiliary_width", "auxiliary_channels", 256, "X", "channels of the auxiliary head"),
    number("auxiliary_depth", "auxiliary_num_convs", 1, minimum=0),
    switch("auxiliary_joined", "auxiliary_concat_input", False),
    computed("fitting", fits_auxiliary_head),
    LABELS,
)


def convolution(name: str, inputs: Size, outs: Size, kernel: Size, places: Stream) -> Part:
    """Describe a convolution without bias and a batch norm."""
    return part(name, conv2d("conv", inputs, outs, kernel, bias=False), batch_norm("batch_norm", outs), kind="convolution", stream=places)


def decode_head(c: Config, seen: Features) -> Part:
    """Describe how the last map is pooled, and all maps are added up from the smallest to the largest, and joined."""
    H, last, largest = c.hidden, seen.widths[-1], area(seen.maps[0])
    pooled = (part(str(i), convolution("1", last, H, 1, side * side), kind="stage") for i, side in enumerate(c.scales))
    larger: list[tuple[Grid, Size]] = list(zip(seen.maps[:-1], seen.widths[:-1], strict=True))
    return part(
        "decode_head",
        conv2d("classifier", H, c.labels, 1, stream=largest),
        part("psp_modules", *pooled),
        convolution("bottleneck", last + len(c.scales) * H, H, 3, area(seen.maps[-1])),
        part("lateral_convs", *(convolution(str(i), width, H, 1, area(grid)) for i, (grid, width) in enumerate(larger))),
        part("fpn_convs", *(convolution(str(i), H, H, 3, area(grid)) for i, (grid, _) in enumerate(larger))),
        convolution("fpn_bottleneck", len(seen.maps) * H, H, 3, largest),
        kind="head",
    )


def auxiliary_head(c: Config, seen: Features) -> Part:
    """Describe the plain network over one map, which helps training and runs all the same."""
    undetermined = unknown("the auxiliary head is not as wide as its map")
    width, places = c.auxiliary_width, area(seen.maps[AUXILIARY]) if c.fitting else undetermined
    inputs = seen.widths[AUXILIARY] if c.auxiliary_inputs is None else c.auxiliary_inputs
    widths = (inputs, *(width,) * c.auxiliary_depth)[: c.auxiliary_depth]
    return part(
        "auxiliary_head",
        part("convs", *(convolution(str(i), inner, width, 3, places) for i, inner in enumerate(widths))),
        *((convolution("conv_cat", inputs + width, width, 3, places),) if c.auxiliary_joined else ()),
        conv2d("classifier", width, c.labels, 1, stream=places),
        kind="head",
    )


def segmentation(c: Config) -> Part:
    """Describe UperNetForSemanticSegmentation."""
    seen = features(c.backbone, c.image)
    auxiliary = (auxiliary_head(c, seen),) if c.auxiliary else ()
    return part("", part("backbone", *seen.parts, kind="backbone"), decode_head(c, seen), *auxiliary, kind="model")


IGNORED_KEYS = frozenset(
    "auxiliary_loss_weight backbone backbone_kwargs loss_ignore_index use_pretrained_backbone use_timm_backbone".split()
)
CLASSES = {"UperNetForSemanticSegmentation": segmentation}
FAMILIES = {"upernet": Family("upernet", FIELDS, CLASSES, "UperNetForSemanticSegmentation", IGNORED_KEYS, normalize_config=named_backbone)}
