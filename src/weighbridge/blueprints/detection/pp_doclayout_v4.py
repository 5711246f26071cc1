"""PP-DocLayoutV4: RT-DETR whose boxes are quadrilaterals, with two heads for reading order: what follows next, and what comes before.

Source: names as in transformers 5.23.0, models/pp_doclayout_v4/modeling_pp_doclayout_v4.py. The config states no image:
``image_size`` may be set beside its fields, and is 640 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.detection import rt_detr
from weighbridge.blueprints.detection.pp_doclayout_v2 import STAGES
from weighbridge.blueprints.modules.backbones import backbone, named_backbone
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.detr_common import mlp_head
from weighbridge.blueprints.modules.rt_detr_encoder import hybrid_encoder, input_projections, map_areas
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.parts import embedding, layer_norm, linear, matmul, part
from weighbridge.core.tree import Part, Tensor

CORNERS = 10
"""What places a quadrilateral: its centre, and four corners."""


def order_head(c: Config, name: str, *more: Part) -> Part:
    """Describe the score of each pair of queries; of its maps, one for each layer, the last alone runs."""
    H, Q = c.hidden, c.queries
    maps = linear("q_proj", H, c.pointer), linear("k_proj", H, c.pointer)
    pointer = part("global_pointer", *maps, matmul("order", (Q, Q, c.pointer)), kind="head")
    return part(name, linear("proj", H, H, repeat=c.decoder_layers, executions=1), pointer, *more, kind="head", stream=Q)


def decoder(c: Config, memory: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers, each with a head for corners, and the heads that look at the last of them."""
    H, Q = c.hidden, c.queries
    layers, _ = rt_detr.decoder(c, memory)
    powers = matmul("closure", (c.steps - 1, Q, Q, Q))
    fusion = part("s2r_fusion", Tensor("closure_weight", (1,), "gain"), powers, kind="head")
    return (
        layers,
        mlp_head("query_pos_head", CORNERS, 2 * H, H, executions=c.decoder_layers),
        mlp_head("bbox_embed", H, H, H, CORNERS, repeat=c.decoder_layers),
        linear("class_embed", H, c.labels, repeat=c.decoder_layers, executions=1),
        order_head(c, "successor_order_head"),
        order_head(c, "relative_order_head", fusion),
    )


def model(c: Config) -> Part:
    """Describe PPDocLayoutV4Model; every place of every map is a query at first."""
    seen, H = rt_detr.backbone_features(c), c.hidden
    inputs, memory = rt_detr.sources(c, seen.maps)
    return part(
        "",
        part("backbone", part("model", *seen.parts, kind="backbone"), kind="vision"),
        input_projections("encoder_input_proj", seen.widths, c.encoder_hidden, map_areas(seen)),
        part("encoder", *hybrid_encoder(c, seen.maps), kind="encoder"),
        part("enc_output", linear("0", H, H), layer_norm("1", H), kind="transform", stream=memory),
        linear("enc_score_head", H, c.labels, stream=memory),
        mlp_head("enc_bbox_head", H, H, H, CORNERS, stream=memory),
        inputs,
        part("decoder", *decoder(c, memory), kind="decoder", stream=c.queries),
        *((embedding("denoising_class_embed", c.labels, H),) if c.denoised else ()),
        kind="model",
    )


def _refuse_other_coordinates(c: Config) -> bool:
    """Refuse other numbers of coordinates, as the class does."""
    if c.coordinates != CORNERS:
        raise ConfigError("expected a centre and four corners", key="num_coords", value=c.coordinates, hint=str(CORNERS))
    return True


FIELDS = variant(
    tuple(field for field in rt_detr.FIELDS if field.word != "learned"),
    size("pointer", "global_pointer_head_size", 64, "G", "width of the pointer"),
    size("steps", "s2r_steps", 3, "N", "successor steps followed"),
    choice("coordinates", "num_coords", CORNERS),
    computed("corners", _refuse_other_coordinates),
    hidden=size("hidden", "hidden_size", 256, "H", "hidden size", "d_model"),
    backbone=backbone("hgnet_v2 rt_detr_resnet", {"model_type": "hgnet_v2", "out_features": STAGES}),
)
CLASSES = {
    "PPDocLayoutV4HybridEncoder": rt_detr.encoder_alone,
    "PPDocLayoutV4Decoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "PPDocLayoutV4Model": model,
    "PPDocLayoutV4ForObjectDetection": lambda c: part("", as_child("model", model(c)), kind="model"),
}
OUTER_IGNORED_KEYS = frozenset("gp_dropout_value learn_initial_query s2r_closure_weight_init s2r_damping tie_word_embeddings".split())
FAMILIES = {
    "pp_doclayout_v4": Family(
        "pp_doclayout_v4",
        FIELDS,
        CLASSES,
        "PPDocLayoutV4Model",
        rt_detr.MORE_IGNORED_KEYS | OUTER_IGNORED_KEYS,
        normalize_config=named_backbone,
    )
}
