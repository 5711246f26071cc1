"""PP-DocLayoutV3: RT-DETR with a mask head and a head for reading order.

Source: names as in transformers 5.23.0, models/pp_doclayout_v3/modeling_pp_doclayout_v3.py. The config states no image:
``image_size`` may be set beside its fields, and is 640 by default.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.detection.rt_detr import FIELDS as BEFORE
from weighbridge.blueprints.detection.rt_detr import MORE_IGNORED_KEYS, backbone_features, decoder, sources, tied_to_owner
from weighbridge.blueprints.modules.backbones import backbone, named_backbone
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.convolutions import conv_norm, half_size
from weighbridge.blueprints.modules.detr_common import mlp_head
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.rt_detr_encoder import hybrid_encoder, input_projections
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.modules.upernet_head import double_size
from weighbridge.config.family import Family
from weighbridge.config.fields import TIED, Config, computed, size, switch, variant, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import conv2d, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.tree import Part

STAGES = ["stage1", "stage2", "stage3", "stage4"]


def refuse_odd_strides(c: Config) -> bool:
    """Refuse strides that are no powers of two, since it depends on rounding how many convolutions they have."""
    if any(stride & (stride - 1) for stride in c.strides):
        raise ConfigError("expected powers of two", key="feat_strides", value=list(c.strides))
    if len(c.drawn) != 2:
        raise ConfigError("expected two widths", key="mask_feature_channels", value=list(c.drawn))
    return True


def fits_backbone(c: Config) -> bool:
    """Say whether the largest map is as wide as it is taken to be; HGNet says other widths than it outputs."""
    inner = c.backbone
    own = getattr(inner, "outs" if inner.model_type == "hgnet_v2" else "widths", None)
    if own is None or not hasattr(inner, "stem"):
        return False  # no network whose stem and stages this neck knows
    return bool((inner.stem, *own)[inner.outputs[0]] == c.large)


FIELDS = variant(
    BEFORE,
    numbers("drawn", "mask_feature_channels", (64, 64)),
    size("large", "x4_feat_dim", 128, "X", "channels of the largest map"),
    size("prototypes", "num_prototypes", 32, "K", "mask prototypes"),
    size("pointer", "global_pointer_head_size", 64, "G", "width of the pointer"),
    switch("enhanced", "mask_enhanced", True),
    computed("powers", refuse_odd_strides),
    computed("wide", fits_backbone),
    TIED,
    backbone=backbone("hgnet_v2 rt_detr_resnet", {"model_type": "hgnet_v2", "out_features": STAGES}),
)


def masks(c: Config, maps: Sequence[Grid], largest: Grid) -> tuple[Part, Part, Part]:
    """Describe how all maps become one of prototypes, joined by the largest map of the backbone."""
    order = sorted(range(len(c.strides)), key=lambda index: c.strides[index])
    base, (inner, outs) = c.strides[order[0]], c.drawn
    heads: list[Part] = []
    few = unknown("the maps are fewer than the strides, or the largest is not twice as high and wide as the next one")
    runs = len(c.strides) <= len(maps) and largest == double_size(maps[order[0]]) and c.wide
    for index in order:
        steps = range(max(1, (c.strides[index] // base).bit_length() - 1))
        convs = []
        for step in steps:
            places: Stream = area(maps[index]) * 4**step if runs else few
            convs.append(conv_norm(str(2 * step), inner if step else c.encoder_hidden, inner, places, 3))
        heads.append(part(str(len(heads)), part("layers", *convs), kind="convolution"))
    first: Stream = area(maps[order[0]]) if runs else few
    second: Stream = area(largest) if runs else few
    out = conv_norm("base_conv", outs, outs, second, 3), conv2d("conv", outs, c.prototypes, 1, stream=second)
    joined = part("scale_heads", *heads), conv_norm("output_conv", inner, outs, first, 3)
    lateral = conv_norm("encoder_mask_lateral", c.large, outs, second, 3)
    return part("mask_feature_head", *joined, kind="head"), lateral, part("encoder_mask_output", *out, kind="head")


def heads(c: Config) -> tuple[Part, Part]:
    """Describe the label and the box of a query, which are those of a place, and run behind every layer."""
    H = c.hidden
    found = linear("class_embed", H, c.labels), mlp_head("bbox_embed", H, H, H, 4)
    parts = (
        tied_to_owner(module, f"{name}.") if c.tied else module
        for module, name in zip(found, ("enc_score_head", "enc_bbox_head"), strict=True)
    )
    label, box = (replace(module, stream=c.queries, executions=c.decoder_layers) for module in parts)
    return label, box


def model(c: Config, *, headed: bool = False) -> Part:
    """Describe PPDocLayoutV3Model; with heads, denoising knows no label for nothing, and is always there."""
    seen, H, often = backbone_features(c), c.hidden, c.decoder_layers
    maps = seen.maps[1:]
    if not maps:
        raise ConfigError("one map is joined to the others", key="backbone_config.out_features", hint="several stages")
    inputs, memory = sources(c, maps)
    largest = area(seen.maps[0])
    denoising = embedding("denoising_class_embed", c.labels if headed else c.labels + 1, H)
    pointer = linear("dense", H, 2 * c.pointer), matmul("order", (c.queries, c.queries, c.pointer))
    drawn = matmul("masks", *(((c.queries, largest, c.prototypes),) if c.enhanced else ()))
    again = matmul("masks_of_layers", (often, c.queries, largest, c.prototypes))
    return part(
        "",
        part("backbone", part("model", *seen.parts, kind="backbone"), kind="vision"),
        input_projections("encoder_input_proj", seen.widths[1:], c.encoder_hidden, [area(grid) for grid in maps]),
        part("encoder", *hybrid_encoder(c, maps), *masks(c, maps, seen.maps[0]), kind="encoder"),
        *((denoising,) if c.denoised else ()),
        *((embedding("weight_embedding", c.queries, H),) if c.learned else ()),
        part("enc_output", linear("0", H, H), layer_norm("1", H), kind="transform", stream=memory),
        linear("enc_score_head", H, c.labels, stream=memory),
        mlp_head("enc_bbox_head", H, H, H, 4, stream=memory),
        inputs,
        part("decoder", *decoder(c, memory), *heads(c), kind="decoder", stream=c.queries),
        linear("decoder_order_head", H, H, stream=c.queries, repeat=c.decoder_layers),
        part("decoder_global_pointer", *pointer, kind="head", executions=often, stream=c.queries),
        layer_norm("decoder_norm", H, executions=often + 1, stream=c.queries),
        mlp_head("mask_query_head", H, H, H, c.prototypes, executions=often + 1, stream=c.queries),
        drawn,
        again,
        *((denoising,) if headed and not c.denoised else ()),
        kind="model",
    )


def encoder_alone(c: Config) -> Part:
    """Describe the encoder alone, over maps of the strides that the config says, and one twice as large as the largest."""
    maps = [half_size(c.image, stride) for stride in c.strides]
    base = min(range(len(maps)), key=lambda index: c.strides[index])
    return part("", *hybrid_encoder(c, maps), *masks(with_changes(c, wide=True), maps, double_size(maps[base])), kind="model")


CLASSES = {
    "PPDocLayoutV3HybridEncoder": encoder_alone,
    "PPDocLayoutV3Decoder": lambda c: part("", *decoder(c, "encoder"), kind="model"),
    "PPDocLayoutV3Model": model,
    "PPDocLayoutV3ForObjectDetection": lambda c: part("", as_child("model", model(c, headed=True)), kind="model"),
}
OUTER_IGNORED_KEYS = frozenset(("gp_dropout_value",))
FAMILIES = {
    "pp_doclayout_v3": Family(
        "pp_doclayout_v3", FIELDS, CLASSES, "PPDocLayoutV3Model", MORE_IGNORED_KEYS | OUTER_IGNORED_KEYS, normalize_config=named_backbone
    )
}
