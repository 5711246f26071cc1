"""DiNAT: dilated neighborhood attention, in which every position of a map attends to a square about itself (Hassani and Shi, 2022).

Source: arXiv 2209.15001; names as in transformers 5.23.0, models/dinat/modeling_dinat.py. The reference leaves the attention to the library
natten; its arithmetic is the paper's: as many keys as the kernel has places. The config states no image: ``image_size`` may be set beside
its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, out_stages, ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, computed, sequence, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import attend, conv2d, label_head, layer_norm, linear, part, replace, stack
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor

DILATIONS = [[1, 8, 1], [1, 4, 1, 4], [1, 2, 1, 2, 1, 2], [1, 1, 1, 1, 1]]
"""How far apart the neighbors of each layer are, by default: the smaller the map, the closer."""


def stages_of(c: Config) -> int:
    """Return how many stages there are; every layer has a dilation.

    Raises:
        ConfigError: A list is too short, or patches have another size than 4, the only one that the reference builds.
    """
    if c.patch != 4:
        raise ConfigError("only patches of 4 by 4 pixels are built", key="patch_size", value=c.patch)
    for entry, depth in zip(c.dilations, c.depths, strict=False):
        if not isinstance(entry, (list, tuple)) or len(entry) < depth or any(type(step) is not int or step < 1 for step in entry):
            raise ConfigError("every layer of a stage needs a dilation", key="dilations", value=entry, hint="a list for each stage")
    return first_stages("depths", len(c.depths), num_heads=c.heads, dilations=tuple(c.dilations))


FIELDS = (
    CHANNELS,
    image(224, report_default=False),
    choice("patch", "patch_size", 4),
    size("hidden", "embed_dim", 64, "H", "width of the first stage"),
    numbers("depths", "depths", (3, 4, 6, 5)),
    numbers("heads", "num_heads", (2, 4, 8, 16), "num_attention_heads"),
    number("kernel", "kernel_size", 7),
    sequence("dilations", "dilations", lambda c: DILATIONS, read=lambda value: value or DILATIONS),
    computed("stages", stages_of),
    ratio("mlp_ratio", "mlp_ratio", 3.0),
    switch("qkv_bias", "qkv_bias", True),
    choice("scale", "layer_scale_init_value", 0.0),
    *out_stages(lambda c: len(c.depths)),
    LABELS,
)


def maps(c: Config) -> list[Grid]:
    """Return the map of every stage: two convolutions make patches of the image, and one halves each map."""
    found = [conv_output(conv_output(c.image, 3, 2, 1), 3, 2, 1)]
    for _ in c.depths[1:]:
        found.append(conv_output(found[-1], 3, 2, 1))
    return found


def padded_map(c: Config, at: Grid, dilation: int) -> Grid:
    """Return a map that is padded to the square that its positions attend to."""
    side = c.kernel * dilation
    return max(at[0], side), max(at[1], side)


def layer(c: Config, index: int, padded: Grid) -> tuple[Node, ...]:
    """Describe a layer of a stage: neighborhood attention and a feed-forward network, each after a norm."""
    width, heads, side = c.hidden * 2**index, c.heads[index], 2 * c.kernel - 1
    inner = scale_width(width, c.mlp_ratio)
    scores = attend(heads=heads, head_dim=exact(width, heads), keys=c.kernel * c.kernel)
    maps_of_width = (linear(name, width, width, bias=c.qkv_bias) for name in ("query", "key", "value"))
    attention = part("self", Tensor("rpb", (heads, side, side), "embedding"), *maps_of_width, scores, kind="self_attention")
    return (
        *((Tensor("layer_scale_parameters", (2, width), "gain"),) if c.scale > 0 else ()),
        layer_norm("layernorm_before", width),
        part(
            "attention",
            attention,
            part("output", linear("dense", width, width), kind="attention"),
            kind="self_attention",
            stream=area(padded),
        ),
        layer_norm("layernorm_after", width),
        part("intermediate", linear("dense", width, inner), kind="feed_forward"),
        part("output", linear("dense", inner, width), kind="feed_forward"),
    )


def stage(c: Config, index: int, grids: list[Grid]) -> tuple[Node, ...]:
    """Describe the layers of a stage, and the convolution that halves the map between two stages."""
    width, at = c.hidden * 2**index, grids[index]
    kinds = [padded_map(c, at, step) for step in c.dilations[index][: c.depths[index]]]
    layers = stack("layers", kinds, c.depths[index], lambda padded: layer(c, index, padded))
    found: tuple[Node, ...] = tuple(replace(one, stream=area(at)) for one in layers)
    if index + 1 < len(grids):
        reduction = conv2d("reduction", width, 2 * width, 3, bias=False)
        down = part("downsample", reduction, layer_norm("norm", 2 * width), kind="convolution", stream=area(grids[index + 1]))
        found = (*found, down)
    return found


def body(c: Config) -> tuple[Part, Part]:
    """Describe patches and stages."""
    grids = maps(c)
    half = conv_output(c.image, 3, 2, 1)
    projection = part(
        "projection",
        conv2d("0", c.channels, c.hidden // 2, 3, stream=area(half)),
        conv2d("1", c.hidden // 2, c.hidden, 3, stream=area(grids[0])),
        kind="embeddings",
    )
    patches = part("patch_embeddings", projection, kind="embeddings")
    embeddings = part("embeddings", patches, layer_norm("norm", c.hidden), kind="embeddings", stream=area(grids[0]))
    return embeddings, part("encoder", module_list("levels", *(stage(c, index, grids) for index in range(c.stages))), kind="encoder")


def dinat(c: Config) -> tuple[Part, ...]:
    """Describe patches, stages and the last norm."""
    return *body(c), layer_norm("layernorm", c.hidden * 2 ** (c.stages - 1), stream=area(maps(c)[-1]))


def classification(c: Config) -> Part:
    """Describe DinatForImageClassification: the labels, on the mean of all positions."""
    head = label_head("classifier", c.hidden * 2 ** (c.stages - 1), c.labels, stream="one")
    return part("", part("dinat", *dinat(c), kind="backbone"), head, kind="model")


def backbone(c: Config) -> Part:
    """Describe DinatBackbone: a norm for every map that it outputs."""
    grids = maps(c)
    seen = ((c.hidden, grids[0]), *((c.hidden * 2**index, at) for index, at in enumerate(grids)))
    norms = (layer_norm(f"stage{i}" if i else "stem", seen[i][0], stream=area(seen[i][1])) for i in c.outputs)
    return part("", *body(c), part("hidden_states_norms", *norms, kind="norms"), kind="model")


CLASSES = {
    "DinatModel": lambda c: part("", *dinat(c), kind="model"),
    "DinatForImageClassification": classification,
    "DinatBackbone": backbone,
}
IGNORED_KEYS = HEAD | frozenset("hidden_size num_layers num_hidden_layers".split())
FAMILIES = {"dinat": Family("dinat", FIELDS, CLASSES, "DinatModel", IGNORED_KEYS)}
