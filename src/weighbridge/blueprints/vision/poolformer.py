"""PoolFormer: a transformer with average pooling, which has no parameters, instead of attention (Yu et al., 2021).

Source: arXiv 2111.11418; names as in transformers 5.23.0, models/poolformer/modeling_poolformer.py. The config states
no image: ``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, group_norm
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, switch
from weighbridge.core.parts import conv2d, label_head, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    CHANNELS,
    number("stage_count", "num_encoder_blocks", 4),
    numbers("depths", "depths", (2, 2, 6, 2)),
    numbers("widths", "hidden_sizes", (64, 128, 320, 512)),
    numbers("patches", "patch_sizes", (7, 3, 3, 3)),
    numbers("strides", "strides", (4, 2, 2, 2)),
    numbers("paddings", "padding", (2, 1, 1, 1), minimum=0),
    computed("stages", lambda c: stages_of(c)),
    ratio("mlp_ratio", "mlp_ratio", 4.0),
    switch("scaled", "use_layer_scale", True),
    image(report_default=False),
    LABELS,
)


def stages_of(c: Config) -> int:
    """Return how many stages there are, which every list must say alike."""
    lists = {"depths": c.depths, "hidden_sizes": c.widths, "patch_sizes": c.patches, "strides": c.strides, "padding": c.paddings}
    return first_stages("num_encoder_blocks", c.stage_count, **lists)


def layer(c: Config, width: int, depth: int, places: Size) -> Part:
    """Describe the layers of a stage: averages of neighbours, then a feed-forward network, each scaled."""
    inner = scale_width(width, c.mlp_ratio)
    scales = Tensor("layer_scale_1", (width,), "gain"), Tensor("layer_scale_2", (width,), "gain")
    return part(
        "",
        *(scales if c.scaled else ()),
        part("output", conv2d("conv1", width, inner, 1), conv2d("conv2", inner, width, 1), kind="feed_forward"),
        group_norm("before_norm", width),
        group_norm("after_norm", width),
        kind="layer",
        repeat=depth,
        stream=places,
    )


def poolformer(c: Config) -> tuple[Size, Part]:
    """Describe the encoder: the positions of its last map, and its parts, all patches before all layers."""
    grid: Grid = c.image
    places: Size = 0
    patches, blocks = [], []
    for index, width in enumerate(c.widths[: c.stages]):
        grid = conv_output(grid, c.patches[index], c.strides[index], c.paddings[index])
        places, inputs = area(grid), c.widths[index - 1] if index else c.channels
        patches.append((conv2d("projection", inputs, width, c.patches[index], stream=places),))
        blocks.append((layer(c, width, c.depths[index], places),))
    parts = module_list("patch_embeddings", *patches, kind="embeddings"), module_list("block", *blocks)
    return places, part("encoder", *parts, kind="encoder")


def classification(c: Config) -> Part:
    """Describe PoolFormerForImageClassification: a norm, and the labels on the mean of all positions."""
    places, encoder = poolformer(c)
    norm = group_norm("norm", c.widths[-1], stream=places)
    return part(
        "", part("poolformer", encoder, kind="backbone"), norm, label_head("classifier", c.widths[-1], c.labels, stream="one"), kind="model"
    )


CLASSES = {
    "PoolFormerModel": lambda c: part("", poolformer(c)[1], kind="model"),
    "PoolFormerForImageClassification": classification,
}

MORE_IGNORED_KEYS = HEAD | frozenset(("layer_scale_init_value", "patch_size", "pool_size", "stride"))

FAMILIES = {"poolformer": Family("poolformer", FIELDS, CLASSES, "PoolFormerModel", MORE_IGNORED_KEYS)}
