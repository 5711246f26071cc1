"""ConvNeXt: stages of depthwise convolutions and pointwise MLPs (Liu et al., 2022).

Source: arXiv 2201.03545; the second version arXiv 2301.00808; names as in transformers 5.23.0,
models/convnext/modeling_convnext.py, convnextv2 and dinov3_convnext.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, selected_outputs
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, out_stages
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, PATCH, Config, Field, choice, computed, constant, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, label_head, layer_norm, linear, part, replace
from weighbridge.core.tree import Part, Tensor


def has_layer_scale(value: object) -> bool:
    """Say whether layers are scaled: an initial value of 0 leaves the scales out."""
    if type(value) not in (int, float):
        raise ConfigError(Text("expected a number, found {value!r:.60}", value=value), key="layer_scale_init_value", value=value)
    return value > 0  # type: ignore[operator]


FIELDS = (
    CHANNELS,
    PATCH.with_default(4),
    numbers("widths", "hidden_sizes", (96, 192, 384, 768)),
    numbers("depths", "depths", (3, 3, 9, 3)),
    number("stage_count", "num_stages", 4, "num_hidden_layers"),
    computed("stages", lambda c: first_stages("num_stages", c.stage_count, depths=c.depths, hidden_sizes=c.widths)),
    image(),
    *out_stages(lambda c: len(c.depths)),
    choice("scaled", "layer_scale_init_value", 1e-6, read=has_layer_scale),
    constant("version", 1),
    LABELS,
)


def without_fields(fields: tuple[Field, ...], *words: str) -> tuple[Field, ...]:
    """Return the fields but those of these words."""
    return tuple(field for field in fields if field.word not in words)


SECOND = variant(without_fields(FIELDS, "scaled"), version=2)


def layer(c: Config, width: int) -> Part:
    """Describe a layer: each channel with itself over 7 by 7 positions, then wider and back."""
    normed = Tensor("weight", (1, 1, 1, 4 * width), "gain"), Tensor("bias", (1, 1, 1, 4 * width), "shift")
    scales = (Tensor("layer_scale_parameter", (width,), "gain"),) if c.version == 1 and c.scaled else ()
    return part(
        "layers",
        *scales,
        conv2d("dwconv", width, width, 7, groups=width),
        layer_norm("layernorm", width),
        linear("pwconv1", width, 4 * width),
        *((part("grn", *normed, kind="response_norm"),) if c.version == 2 else ()),
        linear("pwconv2", 4 * width, width),
        kind="layer",
    )


def stages(c: Config, grid: Grid) -> tuple[list[Grid], Part]:
    """Describe all stages on the map of the stem; return the map of every stage, too."""
    maps = [grid]
    found: list[tuple[Part, ...]] = []
    for index, width in enumerate(c.widths[: c.stages]):
        inputs, halving = c.widths[max(index - 1, 0)], bool(index)
        after = conv_output(maps[-1], 2, 2) if halving else grid
        norm = layer_norm("0", inputs, stream=area(maps[-1]))
        down = part("downsampling_layer", norm, conv2d("1", inputs, width, 2, stream=area(after)), kind="convolution")
        layers = replace(layer(c, width), repeat=c.depths[index], stream=area(after))
        maps, found = [*maps, after], [*found, (*((down,) if halving else ()), layers)]
    return maps, module_list("stages", *found)


def stem(c: Config, picture: Grid) -> Grid:
    """Return the map of patches."""
    return conv_output(picture, c.patch, c.patch)


def convnext(c: Config, picture: Grid) -> tuple[list[Grid], tuple[Part, ...]]:
    """Describe patches and stages over an image; return the maps of the stem and of every stage, too."""
    grid, width = stem(c, picture), c.widths[0]
    patches = conv2d("patch_embeddings", c.channels, width, c.patch)
    maps, inner = stages(c, grid)
    embeddings = part("embeddings", patches, layer_norm("layernorm", width), kind="embeddings", stream=area(grid))
    return maps, (embeddings, part("encoder", inner, kind="encoder"))


def with_pooling(c: Config) -> tuple[Part, ...]:
    """Describe the network and the norm of the mean over all positions."""
    return *convnext(c, c.image)[1], layer_norm("layernorm", c.widths[-1], stream="one")


def features(c: Config, picture: Grid) -> Features:
    """Describe ConvNextBackbone over an image: the network, and a norm for every map that it outputs."""
    maps, parts = convnext(c, picture)
    channels = (c.widths[0], *c.widths)
    norms = tuple(layer_norm("stem" if not index else f"stage{index}", channels[index], stream=area(maps[index])) for index in c.outputs)
    return selected_outputs(c, (*parts, part("hidden_states_norms", *norms, kind="norms")), tuple(maps), channels)


def classification(c: Config, name: str) -> Part:
    """Describe the labels on the normed mean."""
    return part(
        "", part(name, *with_pooling(c), kind="backbone"), label_head("classifier", c.widths[-1], c.labels, stream="one"), kind="model"
    )


def family(model_type: str, prefix: str, fields: tuple[Field, ...]) -> Family:
    """Return the family of one of the two versions."""
    classes = {
        f"{prefix}Encoder": lambda c: part("", stages(c, stem(c, c.image))[1], kind="model"),
        f"{prefix}Model": lambda c: part("", *with_pooling(c), kind="model"),
        f"{prefix}ForImageClassification": lambda c: classification(c, model_type),
        f"{prefix}Backbone": lambda c: part("", *features(c, c.image).parts, kind="model"),
    }
    return Family(model_type, fields, classes, f"{prefix}Model", frozenset(("drop_path_rate", "stage_names")))


FAMILIES = {
    "convnext": family("convnext", "ConvNext", FIELDS),
    "convnextv2": family("convnextv2", "ConvNextV2", SECOND),
}
