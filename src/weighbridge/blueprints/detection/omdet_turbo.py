"""OmDet-Turbo's decoder: queries made of the words of a task attend to an image's maps at a few places each.

The whole looks through a network of the package timm, which its config names, and which is not described. Source: arXiv 2403.06892; names as
in transformers 5.23.0, models/omdet_turbo/modeling_omdet_turbo.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.detr_common import mlp_head
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import OBJECT_QUERIES, Config, computed, derived, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, embedding, layer_norm, linear, part
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part

TASKS = unknown("how many words and maps there are, the input says")


def _divides(c: Config) -> bool:
    for width, key in ((c.width, "encoder_hidden_dim"), (c.hidden, "decoder_hidden_dim")):
        if width % c.heads:
            raise ConfigError(
                Text("{width} is not divisible by decoder_num_heads ({heads})", width=width, heads=c.heads), key=key, value=width
            )
    return True


FIELDS = (
    size("hidden", "decoder_hidden_dim", 256, "H", "hidden size"),
    size("width", "encoder_hidden_dim", 256, "W", "width of the maps", "d_model"),
    size("heads", "decoder_num_heads", 8, "A", "attention heads"),
    size("layers", "decoder_num_layers", 6, "L", "layers"),
    size("mlp", "decoder_dim_feedforward", 2048, "I", "intermediate size"),
    size("points", "decoder_num_points", 4, "P", "places that a head looks at"),
    size("levels", "num_feature_levels", 3, "M", "maps that are attended to"),
    size("labels_width", "class_embed_dim", 512, "C", "width of a label's words"),
    size("task", "task_encoder_hidden_dim", 1024, "T", "inner width of the encoder of a task"),
    OBJECT_QUERIES.with_default(900),
    numbers("maps", "vision_features_channels", (256, 256, 256)),
    switch("learned", "learn_initial_query", False),
    computed("projected", lambda c: c.labels_width != c.hidden),
    computed("divides", _divides),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "decoder_hidden_dim", "decoder_num_heads"),
)


def layer(c: Config) -> Part:
    """Describe attention among the queries, to a few places of the maps, and two linear maps."""
    H, W, places = c.hidden, c.width, c.heads * c.levels * c.points
    maps = (linear(name, H, H) for name in ("query", "key", "value", "out_proj"))
    deformable = (
        linear("sampling_offsets", W, places * 2),
        linear("attention_weights", W, places),
        linear("value_proj", W, W),
        linear("output_proj", W, W),
    )
    return part(
        "layers",
        part("self_attn", *maps, attend(heads=c.heads, head_dim=c.head_dim), kind="self_attention"),
        layer_norm("norm1", H),
        part("cross_attn", *deformable, kind="cross_attention"),
        layer_norm("norm2", H),
        linear("linear1", H, c.mlp),
        linear("linear2", c.mlp, H),
        layer_norm("norm3", H),
        kind="layer",
        repeat=c.layers,
    )


def decoder(c: Config) -> Part:
    """Describe OmDetTurboDecoder."""
    H, C = c.hidden, c.labels_width
    projections = (part(str(i), conv2d("0", width, H, 1, bias=False), batch_norm("1", H)) for i, width in enumerate(c.maps))
    mlp = part("mlp", linear("linear1", C, c.task), linear("linear2", c.task, C), kind="feed_forward")
    return part(
        "",
        part("channel_projection_layers", *projections, kind="projector"),
        part("task_encoder", mlp, part("res1", layer_norm("norm1", C)), kind="encoder"),
        *((linear("task_project", C, H),) if c.projected else ()),
        layer(c),
        *((embedding("tgt_embed", c.queries, H),) if c.learned else ()),
        part("query_position_head", part("layers", linear("0", 4, 2 * H), linear("1", 2 * H, H)), kind="embeddings"),
        part("encoder_vision_features", linear("0", H, H), layer_norm("1", H), kind="transform"),
        linear("encoder_class_head", C, H),
        mlp_head("encoder_bbox_head", H, H, H, 4),
        linear("decoder_class_head", C, H, repeat=c.layers),
        mlp_head("decoder_bbox_head", H, H, H, 4, repeat=c.layers),
        kind="model",
        stream=TASKS,
    )


IGNORED_KEYS = frozenset(
    """apply_layernorm_after_vision_backbone backbone backbone_config backbone_kwargs batch_norm_eps cache_size class_distance_type
    conv_norm_activation csp_activation decoder_activation decoder_dropout disable_custom_kernels encoder_attention_heads encoder_dim_feedforward
    encoder_dropout encoder_feedforward_activation encoder_feedforward_dropout encoder_in_channels encoder_layers encoder_projection_indices
    eval_size hidden_expansion image_size init_std num_attention_heads positional_encoding_temperature text_config text_projection_in_dim
    text_projection_out_dim use_timm_backbone""".split()
)
NAME = "OmDetTurboDecoder"
FAMILIES = {"omdet-turbo": Family("omdet-turbo", FIELDS, {NAME: decoder}, NAME, IGNORED_KEYS)}
