"""PP-DocLayoutV2: RT-DETR, and a small LayoutLMv3 over the boxes it finds, which says in which order they are read.

Source: names as in transformers 5.23.0, models/pp_doclayout_v2/modeling_pp_doclayout_v2.py. The config states no image:
``image_size`` may be set beside its fields, and is 640 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.detection import rt_detr
from weighbridge.blueprints.modules.backbones import backbone, named_backbone
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    POSITIONS,
    TOKEN_TYPES,
    VOCAB,
    Config,
    derived,
    nested,
    size,
    switch,
    variant,
)
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

BOXES = unknown("the number of boxes to put in order depends on the image")


def model(c: Config, *, headed: bool) -> tuple[Part, ...]:
    """Describe RT-DETR; denoising knows no label for nothing, and is always there."""
    parts = rt_detr.model(c, headed=headed)
    table = embedding("denoising_class_embed", c.labels, c.hidden)
    return tuple(table if one.name == table.name else one for one in parts) if c.denoised else (*parts, table)


def layer(c: Config) -> Part:
    """Describe a layer of the encoder of boxes."""
    H = c.hidden
    own = part("self", *(linear(name, H, H) for name in ("query", "key", "value")), attend(heads=c.heads, head_dim=c.head_dim))
    return part(
        "layer",
        part("attention", own, part("output", linear("dense", H, H), layer_norm("norm", H)), kind="self_attention"),
        part("intermediate", linear("dense", H, c.mlp), kind="feed_forward"),
        part("output", linear("dense", c.mlp, H), layer_norm("norm", H), kind="feed_forward"),
        kind="layer",
        repeat=c.layers,
    )


def reading_order(c: Config) -> Part:
    """Describe PPDocLayoutV2ReadingOrder: tables of places and sizes, layers that know where boxes are, and a score for each pair."""
    H = c.hidden
    sides = (("x", c.place), ("y", c.place), ("h", c.extent), ("w", c.extent))
    embeddings = (
        embedding("word_embeddings", c.vocab, H),
        embedding("token_type_embeddings", c.types, H),
        embedding("position_embeddings", c.positions, H),
        *(embedding(f"{side}_position_embeddings", c.places, width) for side, width in sides),
        layer_norm("norm", H),
        linear("spatial_proj", 4 * c.place + 2 * c.extent, H),
    )
    along = (linear("rel_pos_bias", c.bins, c.heads, bias=False),) if c.relative else ()
    across = (linear(f"rel_pos_{axis}_bias", c.bins_2d, c.heads, bias=False) for axis in "xy")
    pairs = part("rel_bias_module", conv2d("pos_proj", 4 * c.relation, c.heads, 1), kind="embeddings")
    return part(
        "reading_order",
        part("embeddings", *embeddings, kind="embeddings"),
        embedding("label_embeddings", c.classes, H),
        linear("label_features_projection", H, H),
        part("encoder", layer(c), *along, *(across if c.spatial else ()), pairs, kind="encoder"),
        part("relative_head", linear("dense", H, 2 * c.pointer), matmul("order", (BOXES, BOXES, c.pointer)), kind="head"),
        kind="head",
        stream=BOXES,
    )


def detection(c: Config) -> Part:
    """Describe PPDocLayoutV2ForObjectDetection."""
    return part("", part("model", *model(c, headed=True), kind="backbone"), reading_order(c.order), kind="model")


ORDER = (
    HIDDEN.with_default(512),
    HEADS.with_default(8),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    switch("relative", "has_relative_attention_bias", False),
    switch("spatial", "has_spatial_attention_bias", True),
    MLP.with_default(2048),
    LAYERS.with_default(6),
    size("bins", "rel_pos_bins", 32, "B", "bins of distances between tokens"),
    size("bins_2d", "rel_2d_pos_bins", 64, "B_2", "bins of distances between positions"),
    POSITIONS.with_default(514),
    size("places", "max_2d_position_embeddings", 1024, "X", "positions along an axis"),
    replace(TOKEN_TYPES, default=1),
    VOCAB.with_default(4),
    size("place", "coordinate_size", 171, "C", "width of a position embedding"),
    size("extent", "shape_size", 170, "E", "width of a height or width embedding"),
    size("classes", "num_classes", 20, "Y", "element types"),
    size("relation", "relation_bias_embed_dim", 16, "R", "width of a relation between boxes"),
    size("pointer", "global_pointer_head_size", 64, "G", "width of the pointer"),
)
STAGES = ["stage2", "stage3", "stage4"]
FIELDS = variant(
    rt_detr.FIELDS,
    nested("order", "reading_order_config", ORDER),
    backbone=backbone("hgnet_v2 rt_detr_resnet", {"model_type": "hgnet_v2", "out_features": STAGES}),
)
CLASSES = {
    "PPDocLayoutV2HybridEncoder": rt_detr.encoder_alone,
    "PPDocLayoutV2Decoder": lambda c: part("", *rt_detr.decoder(c, "encoder"), kind="model"),
    "PPDocLayoutV2Model": lambda c: part("", *model(c, headed=False), kind="model"),
    "PPDocLayoutV2ForObjectDetection": detection,
}
OUTER_IGNORED_KEYS = frozenset(
    """class_order class_thresholds end_token_id gp_dropout_value max_rel_2d_pos max_rel_pos pred_token_id relation_bias_scale
    relation_bias_theta start_token_id tie_word_embeddings""".split()
)
FAMILIES = {
    "pp_doclayout_v2": Family(
        "pp_doclayout_v2",
        FIELDS,
        CLASSES,
        "PPDocLayoutV2Model",
        rt_detr.MORE_IGNORED_KEYS | OUTER_IGNORED_KEYS,
        normalize_config=named_backbone,
    )
}
