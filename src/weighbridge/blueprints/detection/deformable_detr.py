"""Deformable DETR: multi-scale deformable attention, in which each query samples a few points of every feature map (Zhu et al., 2020).

Source: arXiv 2010.04159; names as in transformers 5.23.0, models/deformable_detr/modeling_deformable_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.rt_detr import tied_to_owner
from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.convolutions import group_norm, half_size
from weighbridge.blueprints.modules.detr_common import (
    FIELDS,
    MORE_IGNORED_KEYS,
    attention,
    backbone_features,
    mlp_head,
    named_or_own_backbone,
    positions,
)
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.blueprints.modules.rt_detr_encoder import deformable_attention
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import TIED, Config, computed, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

TABLE = variant(
    FIELDS,
    number("levels", "num_feature_levels", 4),
    size("encoder_points", "encoder_n_points", 4, "P_e", "sampling points per encoder head"),
    size("decoder_points", "decoder_n_points", 4, "P_d", "sampling points per decoder head"),
    switch("staged", "two_stage", False),
    size("proposals", "two_stage_num_proposals", 300, "J", "first-stage proposals"),
    switch("refined", "with_box_refine", False),
    computed("fits", lambda c: refuse_mismatch(c)),
    TIED,
    queries=300,
    encoder_mlp=1024,
    decoder_mlp=1024,
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    channels=3,
    encoder_layers=size("encoder_layers", "encoder_layers", 6, "L_e", "encoder layers"),
)

OUTER_IGNORED_KEYS = frozenset(
    "cls_loss_coefficient disable_custom_kernels focal_alpha max_position_embeddings return_intermediate".split()
)


def refuse_mismatch(c: Config) -> bool:
    """Refuse what the class refuses: two stages without refined boxes, and widths that norms cannot split into 32 groups."""
    if c.staged and not c.refined:
        raise ConfigError("two stages refine boxes", key="with_box_refine", value=False, hint="set it to true")
    return bool(c.hidden % 32 == 0)


def layer(c: Config, parts: tuple[Node, ...], inner: Size) -> tuple[Node, ...]:
    """Return the parts of a layer and the feed-forward network after them."""
    return *parts, plain_mlp("mlp", c.hidden, inner, ("fc1", "fc2"), bias=True), layer_norm("final_layer_norm", c.hidden)


def encoder(c: Config, memory: Stream) -> tuple[Part, ...]:
    """Describe the encoder's layers over the positions of all maps."""
    points = deformable_attention(c, c.encoder_heads, c.levels, c.encoder_points, memory, name="self_attn")
    parts = points, layer_norm("self_attn_layer_norm", c.hidden)
    return (part("layers", *layer(c, parts, c.encoder_mlp), kind="layer", repeat=c.encoder_layers),)


def decoder(c: Config, memory: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers."""
    parts = (
        attention("self_attn", c.hidden, c.decoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        deformable_attention(c, c.decoder_heads, c.levels, c.decoder_points, memory),
        layer_norm("encoder_attn_layer_norm", c.hidden),
    )
    return (part("layers", *layer(c, parts, c.decoder_mlp), kind="layer", repeat=c.decoder_layers),)


def sources(c: Config, seen: Features) -> tuple[Part, Stream]:
    """Describe the projections of all maps, further ones made from the smallest; return all their positions, too."""
    if not c.fits:
        raise ConfigError("the norms after the feature maps have 32 groups", key="d_model", hint="a multiple of 32")
    maps, widths, found = list(seen.maps), list(seen.widths), []
    if c.levels == 1:
        maps, widths = maps[-1:], widths[-1:]
    for index, (grid, width) in enumerate(zip(maps, widths, strict=True)):
        found.append(part(str(index), conv2d("0", width, c.hidden, 1), group_norm("1", c.hidden, 32), kind="projection", stream=area(grid)))
    for index in layer_range(len(maps), c.levels):
        width, grid = widths[-1] if index == len(widths) else c.hidden, half_size(maps[-1])
        found.append(part(str(index), conv2d("0", width, c.hidden, 3), group_norm("1", c.hidden, 32), kind="projection", stream=area(grid)))
        maps.append(grid)
    memory: Size = 0
    for grid in maps:
        memory = memory + area(grid)
    fitting = len(maps) == c.levels and (c.levels > 1 or len(seen.maps) == 1)
    undetermined = unknown(Text("the backbone hands on {count} maps, and {levels} are looked at", count=len(seen.maps), levels=c.levels))
    return part("input_proj", *found, kind="projection"), memory if fitting else undetermined


def model(c: Config, *, headed: bool) -> tuple[Node, ...]:
    """Describe backbone, encoder and decoder; queries are learned, or the best positions of a first stage."""
    seen, H = backbone_features(c, (2, 3, 4) if c.levels > 1 else (4,)), c.hidden
    inputs, memory = sources(c, seen)
    staged: tuple[Node, ...] = (linear("reference_points", H, 2, stream=c.queries),)
    if c.staged:
        every: Stream = memory if headed else unknown("two stages need the heads that the class for detection has")
        norm = layer_norm("enc_output_norm", H, stream=memory)
        moved = linear("pos_trans", 2 * H, 2 * H, stream=c.proposals), layer_norm("pos_trans_norm", 2 * H, stream=c.proposals)
        staged = linear("enc_output", H, H, stream=every), norm, *moved
    return (
        Tensor("level_embed", (c.levels, H), "embedding"),
        part("backbone", part("model", *seen.parts, kind="backbone"), kind="vision"),
        *positions(c),
        inputs,
        *(() if c.staged else (embedding("query_position_embeddings", c.queries, 2 * H),)),
        part("encoder", *encoder(c, memory), kind="encoder", stream=memory),
        part("decoder", *decoder(c, memory), *(own_heads(c, memory) if headed else ()), kind="decoder", stream=decoder_queries(c)),
        *staged,
    )


def decoder_queries(c: Config) -> Size:
    """Return how many queries the decoder has."""
    found: Size = c.proposals if c.staged else c.queries
    return found


def heads(c: Config) -> tuple[Part, Part]:
    """Describe labels and boxes for every layer, and for a first stage."""
    H, count = c.hidden, layer_range(c.decoder_layers + (1 if c.staged else 0))
    labels, boxes = (linear(str(index), H, c.labels) for index in count), (mlp_head(str(index), H, H, H, 4) for index in count)
    return part("class_embed", *labels, kind="head"), part("bbox_embed", *boxes, kind="head")


def with_streams(module: Part, streams: list[Stream]) -> Part:
    """Return a list of parts that see these tokens, each its own."""
    children = zip(module.children, streams, strict=True)
    return replace(module, children=tuple(replace(child, stream=stream) for child, stream in children))


def own_heads(c: Config, memory: Stream) -> tuple[Part, ...]:
    """Describe the heads that the decoder holds: boxes to refine, and what the first stage predicts for all positions."""
    labels, boxes = heads(c)
    layers, last = c.decoder_layers, [memory] if c.staged else []
    refined = (with_streams(boxes, [*[decoder_queries(c)] * layers, *last]),) if c.refined else ()
    return *refined, *((with_streams(labels, [*[0] * layers, *last]),) if c.staged else ())


def detection(c: Config) -> Part:
    """Describe DeformableDetrForObjectDetection, whose heads are the decoder's, or else all one."""
    found = []
    for module, elsewhere in zip(heads(c), (c.staged, c.refined), strict=True):
        seen = with_streams(module, [*[decoder_queries(c)] * c.decoder_layers, *([0] if c.staged else [])])
        if c.tied and elsewhere:
            seen = tied_to_owner(seen, f"model.decoder.{module.name}.")
        elif c.tied:
            first, *others = seen.children
            seen = replace(seen, children=(first, *(tied_to_owner(other, f"{module.name}.0.") for other in others)))  # type: ignore[arg-type]
        found.append(seen)
    return part("", part("model", *model(c, headed=True), kind="backbone"), *found, kind="model")


CLASSES = {
    "DeformableDetrEncoder": lambda c: part("", *encoder(c, "seq"), kind="model"),
    "DeformableDetrDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "DeformableDetrModel": lambda c: part("", *model(c, headed=False), kind="model"),
    "DeformableDetrForObjectDetection": detection,
}

FAMILIES = {
    "deformable_detr": Family(
        "deformable_detr",
        TABLE,
        CLASSES,
        "DeformableDetrModel",
        MORE_IGNORED_KEYS | OUTER_IGNORED_KEYS,
        normalize_config=named_or_own_backbone,
    )
}
