"""SegFormer: overlapping patch embeddings, spatial-reduction attention, and an all-MLP decode head (Xie et al., 2021).

Source: arXiv 2105.15203; names as in transformers 5.23.0, models/segformer/modeling_segformer.py. The config states no
image: ``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, batch_norm, conv2d, layer_norm, linear, part, replace
from weighbridge.core.tree import Node, Part

FIELDS = (
    CHANNELS,
    number("stage_count", "num_encoder_blocks", 4, "num_hidden_layers"),
    numbers("depths", "depths", (2, 2, 2, 2)),
    numbers("reductions", "sr_ratios", (8, 4, 2, 1)),
    numbers("widths", "hidden_sizes", (32, 64, 160, 256)),
    numbers("patches", "patch_sizes", (7, 3, 3, 3)),
    numbers("strides", "strides", (4, 2, 2, 2)),
    numbers("heads", "num_attention_heads", (1, 2, 5, 8)),
    numbers("ratios", "mlp_ratios", (4, 4, 4, 4)),
    computed("stages", lambda c: stages_of(c)),
    size("head", "decoder_hidden_size", 256, "D", "width of the head"),
    switch("reshaped", "reshape_last_stage", True),
    image(report_default=False),
    LABELS,
)


def stages_of(c: Config) -> int:
    """Return how many stages there are, for each of which every list has an entry."""
    lists = {"depths": c.depths, "sr_ratios": c.reductions, "hidden_sizes": c.widths, "patch_sizes": c.patches, "strides": c.strides}
    return first_stages("num_encoder_blocks", c.stage_count, **lists, num_attention_heads=c.heads, mlp_ratios=c.ratios)


def attention(c: Config, index: int, grid: Grid) -> Part:
    """Describe attention whose keys and values stand on a map that a strided convolution downsampled."""
    width, heads, by = c.widths[index], c.heads[index], c.reductions[index]
    inner, small = width // heads * heads, area(conv_output(grid, by, by))
    reduction = (conv2d("sequence_reduction", width, width, by), layer_norm("layer_norm", width))
    return part(
        "attention",
        linear("q_proj", width, inner),
        linear("k_proj", width, inner, stream=small),
        linear("v_proj", width, inner, stream=small),
        linear("o_proj", inner, width),
        *((part("sequence_reduction", *reduction, kind="convolution", stream=small),) if by > 1 else ()),
        attend(heads=heads, head_dim=width // heads, keys=small),
        kind="self_attention",
    )


def layer(c: Config, index: int, grid: Grid) -> Part:
    """Describe a layer: attention, and a feed-forward network with a depthwise convolution inside."""
    width, inner = c.widths[index], c.widths[index] * c.ratios[index]
    depthwise = part("dwconv", conv2d("dwconv", inner, inner, 3, groups=inner), kind="convolution")
    return part(
        "blocks",
        layer_norm("layernorm_before", width),
        attention(c, index, grid),
        layer_norm("layernorm_after", width),
        part("mlp", linear("fc1", width, inner), depthwise, linear("fc2", inner, width), kind="feed_forward"),
        kind="layer",
        repeat=c.depths[index],
    )


def maps(c: Config) -> list[Grid]:
    """Return the map of every stage; patches overlap, padded by half of one."""
    grid, found = c.image, []
    for patch, stride in list(zip(c.patches, c.strides, strict=False))[: c.stages]:
        grid = conv_output(grid, patch, stride, patch // 2)
        found.append(grid)
    return found


def segformer(c: Config) -> Part:
    """Describe the stages, each with its patches, layers and a norm."""
    found: list[tuple[Node, ...]] = []
    for index, grid in enumerate(maps(c)):
        width, inputs = c.widths[index], c.widths[index - 1] if index else c.channels
        parts = conv2d("proj", inputs, width, c.patches[index]), layer_norm("layer_norm", width)
        stage = part("patch_embeddings", *parts, kind="embeddings"), layer(c, index, grid), layer_norm("layer_norm", width)
        found.append(tuple(replace(module, stream=area(grid)) for module in stage))
    return module_list("stages", *found)


def base(c: Config) -> Part:
    """Describe SegformerModel."""
    return part("", segformer(c), kind="model")


def classification(c: Config) -> Part:
    """Describe SegformerForImageClassification: the labels, on the mean of all positions."""
    backbone = part("segformer", segformer(c), kind="backbone")
    return part("", backbone, linear("classifier", c.widths[-1], c.labels, stream="one"), kind="model")


def segmentation(c: Config) -> Part:
    """Describe SegformerForSemanticSegmentation: all stages brought to one width, and to the first one's map, together."""
    grids = maps(c)
    first: Stream = area(grids[0])
    if not c.reshaped:
        first = unknown("the head takes the last stage's width for its map's area")
    projections = tuple((linear("proj", width, c.head, stream=area(grid)),) for width, grid in zip(c.widths, grids, strict=False))
    head = part(
        "decode_head",
        module_list("linear_projections", *projections, kind="projection"),
        conv2d("linear_fuse", c.head * c.stages, c.head, 1, bias=False),
        batch_norm("batch_norm", c.head),
        conv2d("classifier", c.head, c.labels, 1),
        kind="head",
        stream=first,
    )
    return part("", part("segformer", segformer(c), kind="backbone"), head, kind="model")


CLASSES = {
    "SegformerModel": base,
    "SegformerForImageClassification": classification,
    "SegformerForSemanticSegmentation": segmentation,
}

MORE_IGNORED_KEYS = frozenset("classifier_dropout_prob drop_path_rate downsampling_rates semantic_loss_ignore_index".split())

FAMILIES = {"segformer": Family("segformer", FIELDS, CLASSES, "SegformerModel", MORE_IGNORED_KEYS)}
