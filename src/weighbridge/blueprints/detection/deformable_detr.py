"""Deformable DETR: attention to a few points of every map, where each query tells by itself where they are (Zhu et al., 2020).

Source: arXiv 2010.04159; names as in transformers 5.23.0, models/deformable_detr/modeling_deformable_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.rt_detr import owned
from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.convolutions import group_norm, halved
from weighbridge.blueprints.modules.detr_common import FIELDS, SKIPPED, attention, looked_through, perceptron, positions
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.blueprints.modules.rt_detr_encoder import deformable
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import TIED, Sizes, size, switch, told, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, plain_mlp
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Stream, Tensor, Untold

TABLE = variant(
    FIELDS,
    number("levels", "num_feature_levels", 4),
    size("encoder_points", "encoder_n_points", 4, "P_e", "points that a head of the encoder looks at"),
    size("decoder_points", "decoder_n_points", 4, "P_d", "points that a head of the decoder looks at"),
    switch("staged", "two_stage", False),
    size("proposals", "two_stage_num_proposals", 300, "J", "proposals of the first stage"),
    switch("refined", "with_box_refine", False),
    told("fits", lambda c: fits(c)),
    TIED,
    queries=300,
    encoder_mlp=1024,
    decoder_mlp=1024,
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    channels=3,
)

MORE = frozenset("cls_loss_coefficient disable_custom_kernels focal_alpha max_position_embeddings return_intermediate".split())


def fits(c: Sizes) -> bool:
    """Refuse what the class refuses: two stages without refined boxes, and widths that norms cannot split into 32 groups."""
    if c.staged and not c.refined:
        raise ConfigError("two stages refine boxes", key="with_box_refine", value=False, hint="set it to true")
    return bool(c.hidden % 32 == 0)


def layer(c: Sizes, parts: tuple[Node, ...], inner: Size) -> tuple[Node, ...]:
    """Return the parts of a layer and the feed-forward network behind them."""
    return *parts, plain_mlp("mlp", c.hidden, inner, ("fc1", "fc2"), bias=True), layer_norm("final_layer_norm", c.hidden)


def encoder(c: Sizes, memory: Stream) -> tuple[Part, ...]:
    """Describe the encoder's layers over the places of all maps."""
    points = deformable(c, c.encoder_heads, c.levels, c.encoder_points, memory, name="self_attn")
    parts = points, layer_norm("self_attn_layer_norm", c.hidden)
    return (Part("layers", layer(c, parts, c.encoder_mlp), "layer", repeat=c.encoder_layers),)


def decoder(c: Sizes, memory: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers."""
    parts = (
        attention("self_attn", c.hidden, c.decoder_heads),
        layer_norm("self_attn_layer_norm", c.hidden),
        deformable(c, c.decoder_heads, c.levels, c.decoder_points, memory),
        layer_norm("encoder_attn_layer_norm", c.hidden),
    )
    return (Part("layers", layer(c, parts, c.decoder_mlp), "layer", repeat=c.decoder_layers),)


def sources(c: Sizes, seen: Features) -> tuple[Part, Stream]:
    """Describe the projections of all maps, further ones made from the smallest; return all their places, too."""
    if not c.fits:
        raise ConfigError("the norms behind the maps have 32 groups", key="d_model", hint="a multiple of 32")
    maps, widths, found = list(seen.maps), list(seen.widths), []
    if c.levels == 1:
        maps, widths = maps[-1:], widths[-1:]
    for index, (grid, width) in enumerate(zip(maps, widths, strict=True)):
        found.append(Part(str(index), (conv2d("0", width, c.hidden, 1), group_norm("1", c.hidden)), "projection", stream=area(grid)))
    for index in range(len(maps), c.levels):
        width, grid = widths[-1] if index == len(widths) else c.hidden, halved(maps[-1])
        found.append(Part(str(index), (conv2d("0", width, c.hidden, 3), group_norm("1", c.hidden)), "projection", stream=area(grid)))
        maps.append(grid)
    memory: Size = 0
    for grid in maps:
        memory = memory + area(grid)
    fitting = len(maps) == c.levels and (c.levels > 1 or len(seen.maps) == 1)
    untold = Untold(f"the backbone hands on {len(seen.maps)} maps, and {c.levels} are looked at")
    return Part("input_proj", tuple(found), "projection"), memory if fitting else untold


def model(c: Sizes, *, headed: bool) -> tuple[Node, ...]:
    """Describe backbone, encoder and decoder; queries are learned, or the best places of a first stage."""
    seen, H = looked_through(c, (2, 3, 4) if c.levels > 1 else (4,)), c.hidden
    inputs, memory = sources(c, seen)
    staged: tuple[Node, ...] = (linear("reference_points", H, 2, stream=c.queries),)
    if c.staged:
        every: Stream = memory if headed else Untold("two stages need the heads that the class for detection has")
        norm = layer_norm("enc_output_norm", H)._replace(stream=memory)
        moved = linear("pos_trans", 2 * H, 2 * H, stream=c.proposals), layer_norm("pos_trans_norm", 2 * H)._replace(stream=c.proposals)
        staged = linear("enc_output", H, H, stream=every), norm, *moved
    return (
        Tensor("level_embed", (c.levels, H), "embedding"),
        Part("backbone", (Part("model", seen.parts, "backbone"),), "vision"),
        *positions(c),
        inputs,
        *(() if c.staged else (embedding("query_position_embeddings", c.queries, 2 * H),)),
        Part("encoder", encoder(c, memory), "encoder", stream=memory),
        Part("decoder", (*decoder(c, memory), *(own_heads(c, memory) if headed else ())), "decoder", stream=asked(c)),
        *staged,
    )


def asked(c: Sizes) -> Size:
    """Return how many queries the decoder has."""
    found: Size = c.proposals if c.staged else c.queries
    return found


def heads(c: Sizes) -> tuple[Part, Part]:
    """Describe labels and boxes for every layer, and for a first stage."""
    H, count = c.hidden, range(c.decoder_layers + (1 if c.staged else 0))
    labels, boxes = (linear(str(index), H, c.labels) for index in count), (perceptron(str(index), H, H, H, 4) for index in count)
    return Part("class_embed", tuple(labels), "head"), Part("bbox_embed", tuple(boxes), "head")


def seeing(part: Part, streams: list[Stream]) -> Part:
    """Return a list of parts that see these tokens, each its own."""
    children = zip(part.children, streams, strict=True)
    return part._replace(children=tuple(child._replace(stream=stream) for child, stream in children))  # type: ignore[call-arg]


def own_heads(c: Sizes, memory: Stream) -> tuple[Part, ...]:
    """Describe the heads that the decoder holds: boxes to refine, and what the first stage tells of all places."""
    labels, boxes = heads(c)
    layers, last = c.decoder_layers, [memory] if c.staged else []
    refined = (seeing(boxes, [*[asked(c)] * layers, *last]),) if c.refined else ()
    return *refined, *((seeing(labels, [*[0] * layers, *last]),) if c.staged else ())


def detection(c: Sizes) -> Part:
    """Describe DeformableDetrForObjectDetection, whose heads are the decoder's, or else all one."""
    found = []
    for part, elsewhere in zip(heads(c), (c.staged, c.refined), strict=True):
        seen = seeing(part, [*[asked(c)] * c.decoder_layers, *([0] if c.staged else [])])
        if c.tied and elsewhere:
            seen = owned(seen, f"model.decoder.{part.name}.")
        elif c.tied:
            first, *others = seen.children
            seen = seen._replace(children=(first, *(owned(other, f"{part.name}.0.") for other in others)))  # type: ignore[arg-type]
        found.append(seen)
    return Part("", (Part("model", model(c, headed=True), "backbone"), *found), "model")


CLASSES = {
    "DeformableDetrEncoder": lambda c: Part("", encoder(c, "seq"), "model"),
    "DeformableDetrDecoder": lambda c: Part("", decoder(c, "encoder"), "model"),
    "DeformableDetrModel": lambda c: Part("", model(c, headed=False), "model"),
    "DeformableDetrForObjectDetection": detection,
}

FAMILIES = {"deformable_detr": Family("deformable_detr", TABLE, CLASSES, "DeformableDetrModel", SKIPPED | MORE)}
