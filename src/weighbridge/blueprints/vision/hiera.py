"""Hiera: a hierarchical vision transformer with query pooling, and mask-unit or global attention.

Source: arXiv 2306.00989; names as in transformers 5.23.0, models/hiera/modeling_hiera.py. Its class for training has no default
and is not described.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, height_width
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, out_stages, ratio, scale_width
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, sequence, switch
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.parts import attend, conv2d, label_head, layer_norm, linear, part, stack
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
    ratio("wider", "embed_dim_multiplier", 2.0),
    computed("stages", lambda c: first_stages("depths", len(c.depths), num_heads=c.heads, masked_unit_attention=tuple(c.in_units))),
    *out_stages(lambda c: len(c.depths)),
    switch("with_pooler", "add_pooling_layer", True, report_default=False),
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


def layers(c: Config) -> list[list[Layer]]:
    """List the layers of each stage; where queries are pooled, the first layer still works in the units of the stage before."""
    found: list[list[Layer]] = []
    wide, area = widths(c), c.pooling[0] * c.pooling[1]
    seen = (c.image[0] // c.stride[0]) * (c.image[1] // c.stride[1])
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
    """Describe one layer; where it widens, what is carried past attention is mapped as well."""
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


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe patches, which overlap, a table of positions, and the stages."""
    found = layers(c)
    seen = found[0][0].seen
    projection = conv2d("projection", c.channels, c.embed, c.kernel)
    table = Tensor("position_embeddings", (1, seen, c.embed), "embedding")
    embeddings = part("embeddings", table, part("patch_embeddings", projection, kind="embeddings"), kind="embeddings", stream=seen)
    stages = (
        part(str(index), *stack("layers", rows, len(rows), lambda at: layer(c, at)), kind="stage") for index, rows in enumerate(found)
    )
    return embeddings, part("encoder", part("stages", *stages), kind="encoder", stream=seen)


def hiera(c: Config, name: str = "", *, pooled: bool = True) -> Part:
    """Describe the model, alone or as a head holds it."""
    pooler = (part("pooler", layer_norm("layernorm", widths(c)[-1]), kind="pooler", stream="one"),) if pooled else ()
    return part(name, *encoder(c), *pooler, kind="backbone" if name else "model")


def alone(c: Config) -> Part:
    """Describe HieraModel: with a norm of the mean unless that is left out."""
    return hiera(c, pooled=c.with_pooler)


def classification(c: Config) -> Part:
    """Describe HieraForImageClassification: one output per label on the mean of the last stage."""
    return part("", hiera(c, "hiera"), label_head("classifier", widths(c)[-1], c.labels, stream="one"), kind="model")


def backbone(c: Config) -> Part:
    """Describe HieraBackbone: a norm of its own for each map that it outputs."""
    wide = [c.embed, *widths(c)]
    norms = (layer_norm(f"stage{index}" if index else "stem", wide[index]) for index in c.outputs)
    return part("", *encoder(c), part("hidden_states_norms", *norms), kind="model")


CLASSES = {"HieraModel": alone, "HieraForImageClassification": classification, "HieraBackbone": backbone}
OWN_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    "decoder_depth decoder_hidden_size decoder_num_heads hidden_size layer_norm_init mask_ratio normalize_pixel_loss".split()
)

FAMILIES = {"hiera": Family("hiera", FIELDS, CLASSES, "HieraModel", OWN_IGNORED_KEYS)}
