"""Hiera: a hierarchical vision transformer with query pooling, and mask-unit or global attention.

Source: arXiv 2306.00989; names as in transformers 5.23.0, models/hiera/modeling_hiera.py. The decoder of
its class for training has no default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, height_width
from weighbridge.blueprints.modules.stage_fields import binary_ratio, first_stages, number, numbers, out_stages, ratio, scale_width
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, computed, sequence, switch
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, label_head, layer_norm, linear, matmul, part, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    number("embed", "embed_dim", 96),
    CHANNELS,
    height_width("image", "image_size", [224, 224]),
    height_width("kernel", "patch_size", [7, 7]),
    height_width("stride", "patch_stride", [4, 4]),
    height_width("padding", "patch_padding", [3, 3]),
    height_width("pooling", "query_stride", [2, 2]),
    height_width("unit", "masked_unit_size", [8, 8]),
    number("pooled", "num_query_pool", 3, minimum=0),
    numbers("depths", "depths", (2, 3, 16, 3)),
    numbers("heads", "num_heads", (1, 2, 4, 8)),
    sequence("in_units", "masked_unit_attention", [True, True, False, False]),
    ratio("ratio", "mlp_ratio", 4.0),
    binary_ratio("wider", "embed_dim_multiplier", 2.0),
    computed("stages", lambda c: first_stages("depths", len(c.depths), num_heads=c.heads, masked_unit_attention=tuple(c.in_units))),
    *out_stages(lambda c: len(c.depths)),
    switch("with_pooler", "add_pooling_layer", True, report_default=False),
    number("decoder_hidden", "decoder_hidden_size", None),
    number("decoder_layers", "decoder_depth", None, minimum=0),
    number("decoder_heads", "decoder_num_heads", None),
    choice("hidden_part", "mask_ratio", 0.6),
    LABELS,
)


class Layer(NamedTuple):
    """What one layer works on: widths in and out, heads, how many queries become one, its vectors, and how many of them attend to each other."""

    inputs: int
    outputs: int
    heads: int
    pooling: int
    seen: int
    among: int


def widths(c: Config) -> list[int]:
    """Return the width of each stage, as the power is rounded down once."""
    above, below = c.wider
    return [c.embed * above**stage // below**stage for stage in range(len(c.depths))]


def patch_map(c: Config) -> tuple[int, int]:
    """Return the rows and columns of patches."""
    return c.image[0] // c.stride[0], c.image[1] // c.stride[1]


def layers(c: Config, seen: int) -> list[list[Layer]]:
    """List the layers of each stage; where queries are pooled, the first layer still works in the units of the stage before."""
    found: list[list[Layer]] = []
    wide, area = widths(c), c.pooling[0] * c.pooling[1]
    for stage, depth in enumerate(c.depths):
        unit = c.unit[0] * c.unit[1] // area**stage
        rows = []
        for index in layer_range(depth):
            pooling = area if not index and 0 < stage <= c.pooled else 1
            local = c.in_units[stage] or (not index and c.in_units[max(stage - 1, 0)])
            inputs = wide[max(stage - 1, 0)] if not index else wide[stage]
            rows.append(Layer(inputs, wide[stage], c.heads[stage], pooling, seen, pooling * unit if local else seen))
            seen = seen // pooling
        found.append(rows)
    return found


def layer(c: Config, at: Layer) -> tuple[Node, ...]:
    """Describe one layer; where it widens, the skip connection past attention has a linear map as well."""
    width, after = at.outputs, at.seen // at.pooling
    inner = scale_width(width, c.ratio)
    attention = part(
        "attn",
        linear("qkv", at.inputs, 3 * width, stream=at.seen),
        linear("proj", width, width),
        attend(heads=at.heads, head_dim=width // at.heads, queries=at.among // at.pooling, keys=at.among, groups=at.seen // at.among),
        kind="self_attention",
        stream=after,
    )
    mlp = part("mlp", linear("fc1", width, inner), linear("fc2", inner, width), kind="feed_forward", stream=after)
    carried = (linear("proj", at.inputs, width, stream=at.seen),) if at.inputs != width else ()
    return layer_norm("layernorm_before", at.inputs), attention, layer_norm("layernorm_after", width), mlp, *carried


def encoder(c: Config, kept: int | None = None) -> tuple[Part, ...]:
    """Describe patches, which overlap, a table of positions, and the stages, which see all patches or those that are *kept*."""
    patches = patch_map(c)[0] * patch_map(c)[1]
    seen = patches if kept is None else kept
    found = layers(c, seen)
    projection = conv2d("projection", c.channels, c.embed, c.kernel)
    table = Tensor("position_embeddings", (1, patches, c.embed), "embedding")
    embeddings = part("embeddings", table, part("patch_embeddings", projection, kind="embeddings"), kind="embeddings", stream=patches)
    stages = (
        part(str(index), *stack("layers", rows, len(rows), lambda at: layer(c, at)), kind="stage") for index, rows in enumerate(found)
    )
    return embeddings, part("encoder", part("stages", *stages), kind="encoder", stream=seen)


def hiera(c: Config, name: str = "", *, pooled: bool = True) -> Part:
    """Describe the model, alone or as a head holds it."""
    pooler = (part("pooler", layer_norm("layernorm", widths(c)[-1]), kind="pooler", stream="one"),) if pooled else ()
    return part(name, *encoder(c), *pooler, kind="backbone" if name else "model")


def bare_model(c: Config) -> Part:
    """Describe HieraModel: with a norm of the mean unless that is left out."""
    return hiera(c, pooled=c.with_pooler)


def classification(c: Config) -> Part:
    """Describe HieraForImageClassification: one output per label on the mean of the last stage."""
    return part("", hiera(c, "hiera"), label_head("classifier", widths(c)[-1], c.labels, stream="one"), kind="model")


def backbone(c: Config) -> Part:
    """Describe HieraBackbone: a norm of its own for each map that it outputs."""
    patches = patch_map(c)[0] * patch_map(c)[1]
    wide, last = [c.embed, *widths(c)], [rows[-1] for rows in layers(c, patches)]
    maps = [patches, *(row.seen // row.pooling for row in last)]
    norms = (layer_norm(f"stage{index}" if index else "stem", wide[index], stream=maps[index]) for index in c.outputs)
    return part("", *encoder(c), part("hidden_states_norms", *norms), kind="model")


def pooled_sides(sides: tuple[int, int], by: tuple[int, int], times: int) -> tuple[int, int]:
    """Return the sides of a map, or of a unit, after so many poolings."""
    return sides[0] // by[0] ** times, sides[1] // by[1] ** times


def fusion(c: Config, last: tuple[int, int], kept: int) -> Part:
    """Describe what brings the maps of the pooled stages to the size and the width of the last, one unit that was *kept* after another."""
    wide, unit, heads = widths(c), c.unit, []
    for stage in layer_range(c.pooled):
        kernel = unit[0] // last[0], unit[1] // last[1]
        heads.append(conv2d(str(stage), wide[stage], wide[-1], kernel, stream=kept * last[0] * last[1]))
        unit = pooled_sides(unit, c.pooling, 1)
    return part("multiscale_fusion", part("multi_scale_fusion_heads", *heads), kind="neck")


def pre_training(c: Config) -> Part:
    """Describe HieraForPreTraining: the encoder sees some units of the image, and a decoder outputs the pixels of all."""
    H = c.decoder_hidden
    for key, value in (("decoder_hidden_size", H), ("decoder_depth", c.decoder_layers), ("decoder_num_heads", c.decoder_heads)):
        if value is None:
            raise ConfigError("the class for training has no default for it", key=key, hint="512, 8 and 16 heads in the published models")
    if c.decoder_hidden % c.decoder_heads:
        raise ConfigError("heads do not divide the width", key="decoder_num_heads", value=c.decoder_heads)
    rows, columns = patch_map(c)
    kept = int((rows // c.unit[0]) * (columns // c.unit[1]) * (1 - c.hidden_part))
    places, last, side = (
        pooled_sides((rows, columns), c.pooling, c.pooled),
        pooled_sides(c.unit, c.pooling, c.pooled),
        c.stride[1] * c.pooling[1] ** c.pooled,
    )
    seen, shown = places[0] * places[1], kept * last[0] * last[1]
    rows_of = [Layer(H, H, c.decoder_heads, 1, seen, seen)] * c.decoder_layers
    decoder = part(
        "decoder",
        Tensor("mask_token", (1, 1, H), "embedding"),
        Tensor("decoder_position_embeddings", (1, seen, H), "embedding"),
        linear("decoder_embeddings", widths(c)[-1], H, stream=shown),
        part("decoder_block", *stack("layers", rows_of, c.decoder_layers, lambda at: layer(c, at)), kind="stage"),
        layer_norm("decoder_norm", H),
        linear("decoder_pred", H, side * side * c.channels),
        kind="decoder",
        stream=seen,
    )
    hidden = () if kept else (matmul("units", (unknown("every unit of the image is hidden"),)),)
    backbone = part("hiera", *encoder(c, max(kept, 1) * c.unit[0] * c.unit[1]), *hidden, kind="backbone")
    return part("", backbone, layer_norm("encoder_norm", widths(c)[-1], stream=shown), fusion(c, last, kept), decoder, kind="model")


CLASSES = {
    "HieraModel": bare_model,
    "HieraForImageClassification": classification,
    "HieraBackbone": backbone,
    "HieraForPreTraining": pre_training,
}
OWN_IGNORED_KEYS = IGNORED_KEYS | frozenset("hidden_size layer_norm_init normalize_pixel_loss".split())

FAMILIES = {"hiera": Family("hiera", FIELDS, CLASSES, "HieraModel", OWN_IGNORED_KEYS)}
