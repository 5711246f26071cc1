"""FocalNet: focal modulation (hierarchical gated context) instead of attention (Yang et al., 2022).

Source: arXiv 2203.11926; names as in transformers 5.23.0, models/focalnet/modeling_focalnet.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, half_size
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, height_width, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import conv2d, label_head, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    CHANNELS,
    image(),
    height_width("patch", "patch_size", 4),
    size("hidden", "embed_dim", 96, "H", "width of the first stage"),
    switch("convolved", "use_conv_embed", False),
    numbers("depths", "depths", (2, 2, 6, 2)),
    numbers("levels", "focal_levels", (2, 2, 2, 2), minimum=0),
    numbers("windows", "focal_windows", (3, 3, 3, 3)),
    computed("stages", lambda c: stages_of(c)),
    ratio("mlp_ratio", "mlp_ratio", 4.0),
    switch("scaled", "use_layerscale", False),
    switch("normed", "use_post_layernorm_in_modulation", False),
    number("stride", "encoder_stride", 32),
    switch("masked", "use_mask_token", False, report_default=False),
    LABELS,
)


def stages_of(c: Config) -> int:
    """Return how many stages there are."""
    return first_stages("depths", len(c.depths), focal_levels=c.levels, focal_windows=c.windows)


def maps(c: Config) -> list[Grid]:
    """Return the map of every stage: patches, or convolutions that overlap, then halves, rounded up."""
    whole = tuple(-(-side // patch) for side, patch in zip(c.image, c.patch, strict=True))
    first: Grid = (whole[0], whole[1])
    if c.convolved:
        first = conv_output((whole[0] * c.patch[0], whole[1] * c.patch[1]), 7, 4, 2)
    found = [first]
    for _ in c.depths[1:]:
        found.append(half_size(found[-1]))
    return found


def modulation(c: Config, index: int, width: Size) -> Part:
    """Describe the contexts: one depthwise convolution after another, each two positions wider, and the mean of all."""
    levels = c.levels[index]
    grown = {"stream": unknown("an even window leaves a map of another size")} if c.windows[index] % 2 == 0 else {}
    contexts = ((conv2d("0", width, width, 2 * level + c.windows[index], groups=width, bias=False),) for level in layer_range(levels))
    return part(
        "modulation",
        linear("projection_in", width, 2 * width + levels + 1),
        conv2d("projection_context", width, width, 1),
        linear("projection_out", width, width),
        replace(module_list("focal_layers", *contexts, kind="convolution"), **grown),
        *((layer_norm("layernorm", width),) if c.normed else ()),
        kind="mixer",
    )


def layer(c: Config, index: int) -> Part:
    """Describe the layers of a stage."""
    width = c.hidden * 2**index
    inner = scale_width(width, c.mlp_ratio)
    return part(
        "layers",
        *((Tensor("gamma_1", (width,), "gain"), Tensor("gamma_2", (width,), "gain")) if c.scaled else ()),
        layer_norm("norm1", width),
        modulation(c, index, width),
        layer_norm("norm2", width),
        part("mlp", linear("fc1", width, inner), linear("fc2", inner, width), kind="feed_forward"),
        kind="layer",
        repeat=c.depths[index],
    )


def focalnet(c: Config, *, masked: bool) -> tuple[Part, ...]:
    """Describe patches, stages and the last norm."""
    grids, found = maps(c), []
    for index, grid in enumerate(grids):
        width, stage = c.hidden * 2**index, [replace(layer(c, index), stream=area(grid))]
        if index + 1 < len(grids):
            down = conv2d("projection", width, 2 * width, 3 if c.convolved else 2), layer_norm("norm", 2 * width)
            stage.append(part("downsample", *down, kind="convolution", stream=area(grids[index + 1])))
        found.append(tuple(stage))
    patches = part("patch_embeddings", conv2d("projection", c.channels, c.hidden, 7 if c.convolved else c.patch), kind="embeddings")
    token = (Tensor("mask_token", (1, 1, c.hidden), "embedding"),) if masked else ()
    return (
        part("embeddings", *token, patches, layer_norm("norm", c.hidden), kind="embeddings", stream=area(grids[0])),
        part("encoder", module_list("stages", *found), kind="encoder"),
        layer_norm("layernorm", c.hidden * 2 ** (len(grids) - 1), stream=area(grids[-1])),
    )


def masked_image(c: Config) -> Part:
    """Describe FocalNetForMaskedImageModeling: each place of the last map, taken for a square, gives its pixels back."""
    height, width = maps(c)[-1]
    square: Stream = height * width if height == width else unknown("the last map is not square")
    decoder = conv2d("0", c.hidden * 2 ** (len(c.depths) - 1), c.stride * c.stride * c.channels, 1, stream=square)
    return part("", part("focalnet", *focalnet(c, masked=True), kind="backbone"), part("decoder", decoder, kind="head"), kind="model")


def classification(c: Config) -> Part:
    """Describe FocalNetForImageClassification: the labels, on the mean of all positions."""
    head = label_head("classifier", c.hidden * 2 ** (len(c.depths) - 1), c.labels, stream="one")
    return part("", part("focalnet", *focalnet(c, masked=False), kind="backbone"), head, kind="model")


CLASSES = {
    "FocalNetModel": lambda c: part("", *focalnet(c, masked=c.masked), kind="model"),
    "FocalNetForMaskedImageModeling": masked_image,
    "FocalNetForImageClassification": classification,
    "FocalNetBackbone": lambda c: part("", part("focalnet", *focalnet(c, masked=False), kind="backbone"), kind="model"),
}

MORE_IGNORED_KEYS = HEAD | frozenset(
    "hidden_sizes layerscale_value normalize_modulator out_features out_indices use_post_layernorm".split()
)

FAMILIES = {"focalnet": Family("focalnet", FIELDS, CLASSES, "FocalNetModel", MORE_IGNORED_KEYS)}
