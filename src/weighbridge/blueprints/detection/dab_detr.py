"""DAB-DETR: each object query is a box, refined layer by layer, whose centre and size steer the attention (Liu et al., 2022).

Source: arXiv 2201.12329; names as in transformers 5.23.0, models/dab_detr/modeling_dab_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.detr_common import FIELDS as DETR_FIELDS
from weighbridge.blueprints.modules.detr_common import MORE_IGNORED_KEYS, backbone_features, mlp_head, named_or_own_backbone
from weighbridge.blueprints.modules.feature_maps import area
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, TIED, Config, Field, choice, switch, variant
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, embedding, fairseq_attention, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Every, Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

BOX = 4


def box(value: Any) -> int:
    """Read how many numbers a query is, which the reference takes for a box alone."""
    if value != BOX:
        raise ConfigError(Text("a query is a box of 4 numbers, found {value!r:.40}", value=value), key="query_dim", value=value)
    return BOX


def count(value: Any) -> int:
    """Read how many patterns each query is repeated with; what is no whole number is none."""
    return value if type(value) is int else 0


FIELDS = (
    *variant(
        tuple(field for field in DETR_FIELDS if field.word not in ("sine", "masks")),
        hidden=HIDDEN.with_default(256),
        queries=300,
    ),
    Field("box", "query_dim", BOX, "choice", read=box),
    Field("patterns", "num_patterns", 0, "choice", read=count),
    choice("activation", "activation_function", "prelu"),
    switch("early", "normalize_before", False),
    switch("kept", "keep_query_pos", False),
    TIED,
)


def activation(c: Config) -> tuple[Part, ...]:
    """Describe the activation, which learns its slope where it is a PReLU."""
    return (part("activation_fn", Tensor("weight", (1,), "gain"), kind="activation"),) if c.activation == "prelu" else ()


def encoder(c: Config) -> tuple[Part, ...]:
    """Describe the scale of positions, predicted before every layer, and the layers."""
    H = c.hidden
    layer = part(
        "layers",
        fairseq_attention("self_attn", H, c.encoder_heads, exact(H, c.encoder_heads)),
        layer_norm("self_attn_layer_norm", H),
        *activation(c),
        linear("fc1", H, c.encoder_mlp),
        linear("fc2", c.encoder_mlp, H),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.encoder_layers,
    )
    last = (layer_norm("norm", H),) if c.early else ()
    return mlp_head("query_scale", H, H, H, executions=c.encoder_layers), layer, *last


def attention(c: Config, name: str, positions: tuple[str, ...], keys: Stream | None = None) -> Part:
    """Describe attention among queries, or to the encoder's positions, of which *positions* are mapped beside the contents."""
    H, dim = c.hidden, exact(c.hidden, c.decoder_heads)

    def projections(*parts: str) -> tuple[Part, ...]:
        return tuple(linear(f"{name}_{which}_proj", H, H, stream=keys if which[:3] in ("key", "val") else None) for which in parts)

    wide = dim if keys is None else 2 * dim
    scores: tuple[Node, ...] = (
        part(name, linear("output_proj", H, H), kind="attention"),
        attend(heads=c.decoder_heads, head_dim=wide, value_dim=dim, keys=keys),
    )
    norm = layer_norm(f"{name}_layer_norm", H)
    first = projections("query_content", *positions, "key_content", "key_pos", "value")
    if keys is None:
        return part(name, *first, scores[0], norm, scores[1], kind="self_attention")
    children = (*first, *projections("query_pos_sine"), norm, *scores)
    return part(name, *children, kind="cross_attention", requires=keys if isinstance(keys, str) else None)


def layer(c: Config, keys: Stream, repeat: Size, *, first: bool) -> Part:
    """Describe a layer of the decoder; the first adds the queries' positions to what it looks for."""
    H = c.hidden
    mlp = (layer_norm("final_layer_norm", H), linear("fc1", H, c.decoder_mlp), linear("fc2", c.decoder_mlp, H), *activation(c))
    return part(
        "layers",
        attention(c, "self_attn", ("query_pos",)),
        attention(c, "cross_attn", ("query_pos",) if first or c.kept else (), keys),
        part("mlp", *mlp, kind="feed_forward"),
        kind="layer",
        repeat=repeat,
        indices=None if first else Every(1),
    )


def decoder(c: Config, keys: Stream, *more: Part) -> tuple[Part, ...]:
    """Describe the layers, the scales of position and size that are predicted before them, and what else refines the boxes."""
    H, L = c.hidden, c.decoder_layers
    layers = (layer(c, keys, L, first=True),) if c.kept else (layer(c, keys, 1, first=True), layer(c, keys, L - 1, first=False))
    scales = (
        mlp_head("query_scale", H, H, H, executions=L - 1),
        mlp_head("ref_point_head", 2 * H, H, H, executions=L),
        mlp_head("ref_anchor_head", H, H, 2, executions=L),
    )
    return *layers, layer_norm("layernorm", H), *scales, *more


def model(c: Config, seen: Features, *more: Part) -> tuple[Part, ...]:
    """Describe the backbone, the boxes that the queries begin with, encoder and decoder."""
    places = area(seen.maps[-1])
    queries = c.queries if c.patterns <= 0 else c.queries * c.patterns
    backbone = part("conv_encoder", part("model", *seen.parts, kind="backbone"), kind="vision")
    return (
        part("backbone", backbone, kind="vision"),
        embedding("query_refpoint_embeddings", c.queries, c.box),
        conv2d("input_projection", seen.widths[-1], c.hidden, 1, stream=places),
        part("encoder", *encoder(c), kind="encoder", stream=places),
        part("decoder", *decoder(c, places, *more), kind="decoder", stream=queries),
        *((embedding("patterns", c.patterns, c.hidden),) if c.patterns > 0 else ()),
    )


def detection(c: Config) -> Part:
    """Describe DabDetrForObjectDetection: for each query its label and its box, which every layer refines and the head reads again."""
    H = c.hidden
    boxes = mlp_head("bbox_embed", H, H, H, 4, executions=c.decoder_layers)
    queries = length(c.queries) if c.patterns <= 0 else length(c.queries * c.patterns)
    again = mlp_head("bbox_predictor", H, H, H, 4, executions=c.decoder_layers, stream=queries)
    return part(
        "",
        part("model", *model(c, backbone_features(c, trained=True, wrapped=True), boxes), kind="backbone"),
        linear("class_embed", H, c.labels, stream=queries),
        tie_to(again, "model.decoder.bbox_embed") if c.tied else again,
        kind="model",
    )


def tie_to(head: Part, owner: str) -> Part:
    """Say that every tensor of a head of linear maps is the storage of the one with the same name under *owner*."""
    (layers,) = head.children
    assert isinstance(layers, Part)
    maps = []
    for inner in layers.children:
        assert isinstance(inner, Part)
        shared = (replace(t, tied_to=f"{owner}.layers.{inner.name}.{t.name}") for t in inner.children if isinstance(t, Tensor))
        maps.append(replace(inner, children=tuple(shared)))
    return replace(head, children=(replace(layers, children=tuple(maps)),))


CLASSES = {
    "DabDetrEncoder": lambda c: part("", *encoder(c), kind="model"),
    "DabDetrDecoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "DabDetrModel": lambda c: part("", *model(c, backbone_features(c, trained=True, wrapped=True)), kind="model"),
    "DabDetrForObjectDetection": detection,
}
IGNORED_KEYS = MORE_IGNORED_KEYS - {"activation_function"} | frozenset(
    """cls_loss_coefficient focal_alpha initializer_bias_prior_prob random_refpoints_xy sine_position_embedding_scale temperature_height
    temperature_width""".split()
)
FAMILIES = {"dab-detr": Family("dab-detr", FIELDS, CLASSES, "DabDetrModel", IGNORED_KEYS, normalize_config=named_or_own_backbone)}
