"""OmDet-Turbo: queries made of the words of a task attend to an image's maps at a few places each.

Where the config names no backbone of transformers, the whole looks through a network of the package timm, which is not described. Source:
arXiv 2403.06892; names as in transformers 5.23.0, models/omdet_turbo/modeling_omdet_turbo.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.backbones import backbone, features
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.detr_common import mlp_head
from weighbridge.blueprints.modules.feature_maps import Grid
from weighbridge.blueprints.modules.rt_detr_encoder import hybrid_encoder
from weighbridge.blueprints.modules.stage_fields import numbers, ratio, scale_width
from weighbridge.blueprints.modules.timm_models import is_built_by
from weighbridge.config.bind import say_value
from weighbridge.config.family import Family
from weighbridge.config.fields import OBJECT_QUERIES, Config, choice, computed, derived, size, switch, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, embedding, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

TASKS = unknown("the numbers of words and feature maps depend on the input")


def _refuse_remainder(c: Config) -> bool:
    for width, key in ((c.width, "encoder_hidden_dim"), (c.hidden, "decoder_hidden_dim")):
        if width % c.heads:
            raise ConfigError(
                Text("{width} is not divisible by decoder_num_heads ({heads})", width=width, heads=c.heads), key=key, value=width
            )
    return True


SWIN = "swin_tiny_patch4_window7_224"
"""Timm's network that the class takes where none is named."""


def own_backbone(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put timm's network into ``backbone_config``, or the library's Swin where a config wants none of timm.

    >>> own_backbone({"use_timm_backbone": False})["backbone_config"]["model_type"], own_backbone({})["backbone_config"]["backbone"]
    ('swin', 'swin_tiny_patch4_window7_224')
    """
    name, arguments = raw.get("backbone"), raw.get("backbone_kwargs")
    if raw.get("backbone_config") is not None:
        return {key: value for key, value in raw.items() if key != "backbone_kwargs"}  # nor are they read then
    if name is None and not arguments and not raw.get("use_timm_backbone", True):
        return {**raw, "backbone_config": {"model_type": "swin", "image_size": 640, "out_indices": [2, 3, 4]}}
    if name is not None and arguments is None and not is_built_by("timm_swin", name):
        raise ConfigError("the class gives its network the side of the image, which this one does not take", key="backbone", value=name)
    given = arguments if isinstance(arguments, dict) else {"img_size": raw.get("image_size", 640), "out_indices": [1, 2, 3]}
    return {**raw, "backbone_config": {"model_type": "timm_backbone", "backbone": name or SWIN, **given}}


FIELDS = (
    size("hidden", "decoder_hidden_dim", 256, "H", "hidden size"),
    size("width", "encoder_hidden_dim", 256, "W", "width of the maps", "d_model"),
    size("heads", "decoder_num_heads", 8, "A", "attention heads"),
    size("layers", "decoder_num_layers", 6, "L", "layers"),
    size("mlp", "decoder_dim_feedforward", 2048, "I", "intermediate size"),
    size("points", "decoder_num_points", 4, "P", "positions that a head attends to"),
    size("levels", "num_feature_levels", 3, "M", "feature maps attended to"),
    size("labels_width", "class_embed_dim", 512, "C", "width of a label's text"),
    size("task", "task_encoder_hidden_dim", 1024, "T", "inner width of a task encoder"),
    OBJECT_QUERIES.with_default(900),
    numbers("maps", "vision_features_channels", (256, 256, 256)),
    switch("learned", "learn_initial_query", False),
    computed("narrowed", lambda c: c.labels_width != c.hidden),
    computed("divides", _refuse_remainder),
    derived("head_dim", lambda c: exact(c.hidden, c.heads), "decoder_hidden_dim", "decoder_num_heads"),
    size("encoder_layers", "encoder_layers", 1, "L_e", "encoder layers", minimum=0),
    size("encoder_mlp", "encoder_dim_feedforward", 2048, "I_e", "intermediate size of the encoder"),
    size("encoder_heads", "encoder_attention_heads", 8, "A_e", "attention heads of the encoder", "num_attention_heads"),
    computed("encoder_head_dim", lambda c: c.width // c.encoder_heads),
    numbers("in_widths", "encoder_in_channels", (192, 384, 768)),
    numbers("projected", "encoder_projection_indices", (2,), minimum=0),
    ratio("expansion", "hidden_expansion", 1),
    computed("widened", lambda c: scale_width(c.width, c.expansion) != c.width),
    size("words_in", "text_projection_in_dim", 512, "X", "width of the text states"),
    size("words_out", "text_projection_out_dim", 512, "Y", "width of the word embeddings"),
    backbone("swin", {"model_type": "timm_backbone", "backbone": SWIN, "img_size": 640, "out_indices": [1, 2, 3]}),
    model_config("text", "text_config", "clip_text_model"),
    choice("arguments", "backbone_kwargs", None, report_default=False),
)


def encoder_layer(c: Config) -> Part:
    """Describe the layers of attention over a map."""
    W = c.width
    maps = (linear(name, W, W) for name in ("query", "key", "value", "out_proj"))
    return part(
        "layers",
        part("self_attn", *maps, attend(heads=c.encoder_heads, head_dim=c.encoder_head_dim), kind="self_attention"),
        layer_norm("self_attn_layer_norm", W),
        linear("fc1", W, c.encoder_mlp),
        linear("fc2", c.encoder_mlp, W),
        layer_norm("final_layer_norm", W),
        kind="layer",
        repeat=c.encoder_layers,
    )


def projections(widths: tuple[int, ...], outs: Size) -> Part:
    """Describe what brings maps to one width."""
    pairs = (part(str(i), conv2d("0", width, outs, 1, bias=False), batch_norm("1", outs)) for i, width in enumerate(widths))
    return part("channel_projection_layers", *pairs, kind="projector")


def detection(c: Config) -> Part:
    """Describe OmDetTurboForObjectDetection: what sees, what reads, RT-DETR's encoder over the maps, and the decoder."""
    if c.arguments is not None and not isinstance(c.arguments, dict):  # the decoder alone never reads them
        raise ConfigError(Text("expected an object, found {what}", what=say_value(c.arguments)), key="backbone_kwargs", value=c.arguments)
    nowhere: Grid = (TASKS, TASKS)  # type: ignore[assignment]
    attended, *joined = hybrid_encoder(with_changes(c, encoder_hidden=c.width), [nowhere for _ in c.in_widths], layer=encoder_layer)
    norms = (layer_norm(str(index), width) for index, width in enumerate(c.in_widths))
    seen = part("vision_backbone", *features(c.backbone, (1, 1)).parts, kind="backbone"), part("layer_norms", *norms, kind="norm")
    projection = Tensor("text_projection", (c.words_in, c.words_out))
    return part(
        "",
        part("vision_backbone", *seen, kind="vision"),
        part("language_backbone", projection, as_child("model", submodel(c.text), streams={"seq": TASKS}), kind="encoder"),
        part("encoder", projections(c.in_widths, c.width), replace(attended, name="encoder"), *joined, kind="encoder"),
        as_child("decoder", decoder(c)),
        kind="model",
        stream=TASKS,
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
    mlp = part("mlp", linear("linear1", C, c.task), linear("linear2", c.task, C), kind="feed_forward")
    return part(
        "",
        projections(c.maps, H),
        part("task_encoder", mlp, part("res1", layer_norm("norm1", C)), kind="encoder"),
        *((linear("task_project", C, H),) if c.narrowed else ()),
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
    """apply_layernorm_after_vision_backbone backbone backbone_kwargs batch_norm_eps cache_size class_distance_type
    conv_norm_activation csp_activation decoder_activation decoder_dropout disable_custom_kernels encoder_dropout encoder_feedforward_activation encoder_feedforward_dropout eval_size image_size init_std positional_encoding_temperature use_timm_backbone""".split()
)
NAME = "OmDetTurboDecoder"
CLASSES = {NAME: decoder, "OmDetTurboForObjectDetection": detection}
FAMILIES = {"omdet-turbo": Family("omdet-turbo", FIELDS, CLASSES, NAME, IGNORED_KEYS, normalize_config=own_backbone)}
