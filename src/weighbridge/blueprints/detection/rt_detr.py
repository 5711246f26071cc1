"""RT-DETR and RT-DETRv2: real-time detection with queries selected from the encoder's positions (Zhao 2023, Lv 2024).

Source: arXiv 2304.08069 and 2407.17140; names as in transformers 5.23.0, models/rt_detr/modeling_rt_detr.py and
models/rt_detr_v2/modeling_rt_detr_v2.py. The config states no image: ``image_size`` may be set beside its fields, and is 640 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import Features, backbone, constant_batch_norms, features, named_backbone
from weighbridge.blueprints.modules.convolutions import half_size
from weighbridge.blueprints.modules.detr_common import attention, mlp_head
from weighbridge.blueprints.modules.feature_maps import Grid, area, image
from weighbridge.blueprints.modules.rt_detr_encoder import deformable_attention, hybrid_encoder, input_projections, map_areas
from weighbridge.blueprints.modules.stage_fields import number, numbers, ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import D_MODEL, LABELS, OBJECT_QUERIES, TIED, Config, Field, computed, constant, size, switch, variant
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import batch_norm, conv2d, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    D_MODEL.with_default(256),
    size("encoder_hidden", "encoder_hidden_dim", 256, "H_e", "hidden size of the encoder"),
    size("encoder_layers", "encoder_layers", 1, "L_e", "encoder layers", minimum=0),
    size("encoder_mlp", "encoder_ffn_dim", 1024, "I_e", "intermediate size of the encoder"),
    size("encoder_heads", "encoder_attention_heads", 8, "A_e", "attention heads of the encoder", "num_attention_heads"),
    computed("encoder_even", lambda c: c.encoder_hidden % c.encoder_heads == 0),
    size("decoder_layers", "decoder_layers", 6, "L_d", "decoder layers"),
    size("decoder_mlp", "decoder_ffn_dim", 1024, "I_d", "intermediate size of the decoder"),
    size("decoder_heads", "decoder_attention_heads", 8, "A_d", "attention heads of the decoder"),
    size("points", "decoder_n_points", 4, "P", "sampling points per head"),
    OBJECT_QUERIES.with_default(300),
    number("levels", "num_feature_levels", 3),
    computed("attended", lambda c: c.levels),
    numbers("in_widths", "encoder_in_channels", (512, 1024, 2048)),
    numbers("strides", "feat_strides", (8, 16, 32)),
    numbers("projected", "encode_proj_layers", (2,), minimum=0),
    numbers("out_widths", "decoder_in_channels", (256, 256, 256)),
    ratio("expansion", "hidden_expansion", 1.0),
    computed("widened", lambda c: scale_width(c.encoder_hidden, c.expansion) != c.encoder_hidden),
    computed("alike", lambda c: all(width == c.encoder_hidden for width in c.out_widths)),
    number("denoised", "num_denoising", 100, minimum=0),
    switch("learned", "learn_initial_query", False),
    switch("freeze_norms", "freeze_backbone_batch_norms", True),
    backbone("rt_detr_resnet hgnet_v2 resnet", {"model_type": "rt_detr_resnet", "out_indices": [2, 3, 4]}),
    image(640, report_default=False),
    constant("second", False),
    LABELS,
)

SECOND = variant(
    FIELDS,
    TIED,
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    attended=size("attended", "decoder_n_levels", 3, "M", "feature maps per head"),
    second=True,
)

MORE_IGNORED_KEYS = frozenset(
    """activation_function anchor_image_size auxiliary_loss batch_norm_eps box_noise_scale decoder_activation_function decoder_method
    decoder_offset_scale disable_custom_kernels encoder_activation_function eos_coefficient eval_size focal_loss_alpha focal_loss_gamma
    initializer_bias_prior_prob label_noise_ratio matcher_alpha matcher_bbox_cost matcher_class_cost matcher_gamma matcher_giou_cost
    normalize_before positional_encoding_temperature use_focal_loss weight_loss_bbox weight_loss_giou weight_loss_vfl with_box_refine
    backbone backbone_kwargs use_timm_backbone use_pretrained_backbone""".split()
)


def backbone_features(c: Config) -> Features:
    """Describe the backbone, its batch norms made constants unless the config trains them."""
    found = features(c.backbone, c.image)
    return replace(found, parts=constant_batch_norms(part("", *found.parts)).children) if c.freeze_norms else found


def decoder(c: Config, memory: Stream) -> tuple[Part, ...]:
    """Describe the decoder's layers; each query's place is put to it anew before every layer."""
    H = c.hidden
    layer = part(
        "layers",
        attention("self_attn", H, c.decoder_heads),
        layer_norm("self_attn_layer_norm", H),
        deformable_attention(c, c.decoder_heads, c.attended, c.points, memory, scale=c.second),
        layer_norm("encoder_attn_layer_norm", H),
        plain_mlp("mlp", H, c.decoder_mlp, ("fc1", "fc2"), bias=True),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.decoder_layers,
    )
    return layer, mlp_head("query_pos_head", 4, 2 * H, H, executions=c.decoder_layers)


def sources(c: Config, maps: tuple[Grid, ...]) -> tuple[Part, Stream]:
    """Describe the maps as the decoder sees them, further ones made from the smallest; return all their positions, too."""
    undetermined = unknown("the number or the widths of the feature maps are not what the decoder expects")
    runs = c.alike and len(c.out_widths) == len(maps) <= c.levels
    extra, small = max(c.levels - len(c.out_widths), 0), half_size(maps[-1])
    seen: list[Stream] = [area(grid) for grid in maps] if runs else [undetermined for _ in c.out_widths]
    plain = input_projections("decoder_input_proj", c.out_widths, c.hidden, seen)
    more = []
    for index in layer_range(extra):
        width = c.hidden if index else c.out_widths[-1]
        pair = conv2d("0", width, c.hidden, 3, stream=area(small), bias=False), batch_norm("1", c.hidden, stream=area(small))
        more.append(part(str(len(c.out_widths) + index), *pair, kind="projection"))
    memory: Size = extra * area(small)
    for grid in maps:
        memory = memory + area(grid)
    return replace(plain, children=(*plain.children, *more)), memory if runs else undetermined


def heads(c: Config, *, tied: bool = False) -> tuple[Part, ...]:
    """Describe what every layer predicts for a query: its label and its box."""
    if not c.second:
        label = linear("class_embed", c.hidden, c.labels, repeat=c.decoder_layers)
        return label, mlp_head("bbox_embed", c.hidden, c.hidden, c.hidden, 4, repeat=c.decoder_layers)
    labels = tuple(linear(str(index), c.hidden, c.labels) for index in layer_range(c.decoder_layers))
    boxes = tuple(mlp_head(str(index), c.hidden, c.hidden, c.hidden, 4) for index in layer_range(c.decoder_layers))
    found = part("class_embed", *labels, kind="head"), part("bbox_embed", *boxes, kind="head")
    return tuple(tied_to_owner(module, f"model.decoder.{module.name}.") for module in found) if tied else found


def tied_to_owner(module: Part, prefix: str) -> Part:
    """Return a part whose tensors are those of the same names behind *prefix*."""
    children: list[Node] = []
    for child in module.children:
        if isinstance(child, Tensor):
            children.append(replace(child, tied_to=prefix + child.name))
        elif isinstance(child, Part):
            children.append(tied_to_owner(child, f"{prefix}{child.name}."))
        else:
            children.append(child)
    return replace(module, children=tuple(children))


def model(c: Config, *, headed: bool) -> tuple[Part, ...]:
    """Describe backbone, encoder and decoder; every place of every map is a query at first."""
    seen, H = backbone_features(c), c.hidden
    inputs, memory = sources(c, seen.maps)
    parts = decoder(c, memory)
    first = linear("0", H, H), layer_norm("1", H)
    return (
        part("backbone", part("model", *seen.parts, kind="backbone"), kind="vision"),
        input_projections("encoder_input_proj", seen.widths, c.encoder_hidden, map_areas(seen)),
        part("encoder", *hybrid_encoder(c, seen.maps), kind="encoder"),
        *((embedding("denoising_class_embed", c.labels + 1, H),) if c.denoised else ()),
        *((embedding("weight_embedding", c.queries, H),) if c.learned else ()),
        part("enc_output", *first, kind="transform", stream=memory),
        linear("enc_score_head", H, c.labels, stream=memory),
        mlp_head("enc_bbox_head", H, H, H, 4, stream=memory),
        inputs,
        part("decoder", *parts, *(heads(c) if headed else ()), kind="decoder", stream=c.queries),
    )


def detection(c: Config) -> Part:
    """Describe the class for detection; the second version holds its heads twice, and runs those of the decoder."""
    inner = part("model", *model(c, headed=True), kind="backbone")
    unused: Stream = 0
    again = tuple(replace(module, stream=unused) for module in heads(c, tied=c.tied)) if c.second else ()
    return part("", inner, *again, kind="model")


def encoder_alone(c: Config) -> Part:
    """Describe the encoder alone, over maps of the strides that the config says."""
    return part("", *hybrid_encoder(c, [half_size(c.image, stride) for stride in c.strides]), kind="model")


def family(model_type: str, prefix: str, fields: tuple[Field, ...]) -> Family:
    """Return the family of one of the two versions."""
    classes = {
        f"{prefix}HybridEncoder": encoder_alone,
        f"{prefix}Decoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
        f"{prefix}Model": lambda c: part("", *model(c, headed=False), kind="model"),
        f"{prefix}ForObjectDetection": detection,
    }
    return Family(model_type, fields, classes, f"{prefix}Model", MORE_IGNORED_KEYS, normalize_config=named_backbone)


FAMILIES = {"rt_detr": family("rt_detr", "RTDetr", FIELDS), "rt_detr_v2": family("rt_detr_v2", "RTDetrV2", SECOND)}
