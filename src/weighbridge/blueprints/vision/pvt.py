"""PVT and PVT v2: pyramid vision transformers with spatial-reduction attention (Wang et al., 2021).

Source: arXiv 2102.12122 and 2106.13797; names as in transformers 5.23.0, models/pvt/modeling_pvt.py and
models/pvt_v2/modeling_pvt_v2.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD
from weighbridge.blueprints.modules.feature_maps import area, conv_output, image, module_list
from weighbridge.blueprints.modules.pyramid_vit import (
    SHARED,
    attention,
    layer,
    overlapping_maps,
    overlapping_patches,
    queries,
    reduction,
    stages_of,
    with_stream,
)
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, constant, size, switch, variant
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import conv2d, label_head, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

PVT = (
    *SHARED,
    image(),
    numbers("reductions", "sequence_reduction_ratios", (8, 4, 2, 1)),
    numbers("widths", "hidden_sizes", (64, 128, 320, 512)),
    numbers("patches", "patch_sizes", (4, 2, 2, 2)),
    numbers("ratios", "mlp_ratios", (8, 8, 4, 4)),
    switch("qkv_bias", "qkv_bias", True),
    computed("stages", lambda c: stages_of(c)),
    constant("convolved", False),
    constant("pooled", False),
    size("labels", "num_labels", 1000, "C", "number of labels"),  # whatever id2label says
)

PVT2 = variant(
    PVT,
    reductions=numbers("reductions", "sr_ratios", (8, 4, 2, 1)),
    widths=(32, 64, 160, 256),
    patches=(7, 3, 3, 3),
    pooled=switch("pooled", "linear_attention", False),
    convolved=True,
    labels=LABELS,
)

POOLED = 7
"""Side of the map of keys that linear attention pools every map to."""


def pvt2(c: Config) -> tuple[Part, ...]:
    """Describe the stages of PVT v2."""
    found = []
    for index, grid in enumerate(overlapping_maps(c)):
        width, by = c.widths[index], c.reductions[index]
        small: Size = POOLED * POOLED if c.pooled else area(conv_output(grid, by, by))
        fewer = reduction("spatial_reduction", width, 1 if c.pooled else by, small) if c.pooled or by > 1 else ()
        parts = *queries(c, index, small), linear("proj", width, width), *fewer
        stage = (
            part("patch_embedding", *overlapping_patches(c, index), kind="embeddings"),
            layer(c, "blocks", index, part("attention", *parts, kind="self_attention")),
        )
        found.append(tuple(with_stream(module, area(grid)) for module in (*stage, layer_norm("layer_norm", width))))
    return (part("encoder", module_list("layers", *found), kind="encoder"),)


def pvt(c: Config) -> tuple[Part, ...]:
    """Describe PVT: tables of positions, and a class token in the last stage; kernel and stride of its patches are swapped."""
    grid, patches, blocks = c.image, [], []
    for index, width in enumerate(c.widths[: c.stages]):
        last, side = index + 1 == c.stages, c.patches[index]
        height, across = (edge if index == 0 else edge // 2 ** (index + 1) for edge in c.image)
        table, inputs = (height // side) * (across // side), c.widths[index - 1] if index else c.channels
        grid = conv_output(grid, c.strides[index], side)
        tokens = area(grid) + (1 if last else 0)
        places: Stream = area(grid) if table == area(grid) else unknown("positions and patches are not equally many")
        positions = Tensor("position_embeddings", (1, table + (1 if last else 0), width), "embedding")
        token = (Tensor("cls_token", (1, 1, width), "embedding"),) if last else ()
        convolution = conv2d("projection", inputs, width, c.strides[index], stream=places)
        patches.append((positions, *token, convolution, with_stream(layer_norm("layer_norm", width), places)))
        blocks.append((with_stream(layer(c, "", index, attention(c, index, grid, "sequence_reduction", tokens)), tokens),))
    norm = with_stream(layer_norm("layer_norm", c.widths[-1]), tokens)
    return (
        part("encoder", module_list("patch_embeddings", *patches, kind="embeddings"), module_list("block", *blocks), norm, kind="encoder"),
    )


def with_classifier(c: Config, name: str, parts: tuple[Part, ...]) -> Part:
    """Describe the labels on the class token, or on the mean of all positions."""
    return part("", part(name, *parts, kind="backbone"), label_head("classifier", c.widths[-1], c.labels, stream="one"), kind="model")


MORE_IGNORED_KEYS = HEAD | {"out_features", "out_indices"}
V1 = {"PvtModel": lambda c: part("", *pvt(c), kind="model"), "PvtForImageClassification": lambda c: with_classifier(c, "pvt", pvt(c))}
V2 = {
    "PvtV2Model": lambda c: part("", *pvt2(c), kind="model"),
    "PvtV2ForImageClassification": lambda c: with_classifier(c, "pvt_v2", pvt2(c)),
    "PvtV2Backbone": lambda c: part("", *pvt2(c), kind="model"),
}

FAMILIES = {
    "pvt": Family("pvt", PVT, V1, "PvtModel", MORE_IGNORED_KEYS),
    "pvt_v2": Family("pvt_v2", PVT2, V2, "PvtV2Model", MORE_IGNORED_KEYS),
}
