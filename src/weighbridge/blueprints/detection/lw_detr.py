"""LW-DETR: a lightweight detector with a ViT encoder, a projector and a shallow DETR decoder (Chen et al., 2024).

Source: arXiv 2406.03459; names as in transformers 5.23.0, models/lw_detr/modeling_lw_detr.py.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.blueprints.detection.lw_detr_vit import features
from weighbridge.blueprints.modules.backbones import Features, refuse_named_backbone
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.convolutions import half_size
from weighbridge.blueprints.modules.detr_common import mlp_head
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.rt_detr_encoder import conv, deformable_attention
from weighbridge.blueprints.modules.stage_fields import number, ratio, scale_width
from weighbridge.blueprints.modules.upernet_head import double_size
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, OBJECT_QUERIES, Config, computed, sequence, settable, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, sum_of, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

VIT: dict[str, Any] = {
    "image_size": 1024,
    "hidden_size": 192,
    "num_hidden_layers": 10,
    "window_block_indices": [0, 1, 3, 6, 7, 9],
    "out_indices": [2, 4, 5, 9],
}


def scales(value: Any) -> tuple[float, ...]:
    """Take by how much each map is larger than that of the patches."""
    if any(entry not in (0.5, 1, 2) for entry in value):
        raise ConfigError(Text("expected 0.5, 1.0 or 2.0, found {value!r:.60}", value=value), key="projector_scale_factors", value=value)
    return tuple(float(entry) for entry in value)


FIELDS = (
    size("hidden", "d_model", 256, "H", "hidden size"),
    OBJECT_QUERIES.with_default(300),
    size("decoder_layers", "decoder_layers", 3, "L", "decoder layers"),
    size("decoder_mlp", "decoder_ffn_dim", 2048, "I", "intermediate size of the decoder"),
    size("heads", "decoder_self_attention_heads", 8, "A", "attention heads"),
    size("head_dim", "head_dim", lambda c: c.hidden // c.heads, "D", "head dimension", report_default=False),
    size("crossed_heads", "decoder_cross_attention_heads", 16, "A_c", "cross-attention heads"),
    size("points", "decoder_n_points", 4, "P", "sampling points per head"),
    number("groups", "group_detr", 13),
    number("blocks", "c2f_num_blocks", 3, minimum=0),
    ratio("expansion", "hidden_expansion", 0.5),
    sequence("scales", "projector_scale_factors", [], read=scales),
    settable("levels", "num_feature_levels", lambda c: len(c.scales), "N", "feature maps that the decoder attends to"),
    switch("biased", "attention_bias", True),
    model_config("backbone", "backbone_config", "lw_detr_vit", only=True, absent=VIT),
    computed("wide", lambda c: c.backbone.hidden > 512),
    LABELS,
)


def sampling_layer(c: Config, scale: float, index: int, seen: Features) -> Part:
    """Describe how one map is upsampled or smaller."""
    H, grid = c.backbone.hidden, seen.maps[index]
    if scale == 0.5:
        return part(str(index), part("layers", conv("0", H, H, area(half_size(grid)), 3)), kind="convolution")
    narrow, places = H // 2 if c.wide else H, area(grid)
    tensors = Tensor("weight", (narrow, narrow // 2, 2, 2), "weight"), Tensor("bias", (narrow // 2,), "bias")
    first = (conv("0", H, narrow, places),) if c.wide else ()
    enlarging = part(str(len(first)), *tensors, kind="convolution", stream=places)
    return part(str(index), part("layers", *((*first, enlarging) if scale == 2 else ())), kind="convolution")


def projector(c: Config, scale: float, index: int, seen: Features) -> tuple[Part, Grid]:
    """Describe how the maps become one of the scale; return it, too."""
    H, grid, inner = c.backbone.hidden, seen.maps[-1], scale_width(c.hidden, c.expansion)
    grid = double_size(grid) if scale == 2 else half_size(grid) if scale == 0.5 else grid
    width = (H // 4 if c.wide else H // 2) if scale == 2 else H
    joined = c2f(c, len(seen.maps) * width, inner)
    layers = tuple(sampling_layer(c, scale, number, seen) for number in range(len(seen.maps)))
    behind = part("projector_layer", *joined, kind="convolution", stream=area(grid)), layer_norm("layer_norm", c.hidden)
    return part(str(index), part("sampling_layers", *layers), *behind, kind="projector"), grid


def c2f(c: Config, width: Size, inner: Size, make: Callable[..., Part] = conv) -> tuple[Part, ...]:
    """Describe doubled convolutions in sequence, joined with what each of them output."""
    double = part("bottlenecks", make("conv1", inner, inner, None, 3), make("conv2", inner, inner, None, 3), kind="convolution")
    blocks = (replace(double, repeat=c.blocks),) if c.blocks else ()
    return make("conv1", width, 2 * inner), make("conv2", (2 + c.blocks) * inner, c.hidden), *blocks


def decoder(c: Config, memory: Stream, levels: Size) -> tuple[Part, ...]:
    """Describe the decoder's layers; where the queries are is put to them once."""
    H, head_dim = c.hidden, c.head_dim
    maps = (linear(f"{name}_proj", H, c.heads * head_dim, bias=c.biased) for name in "qkv")
    own: tuple[Node, ...] = *maps, linear("o_proj", c.heads * head_dim, H, bias=c.biased), attend(heads=c.heads, head_dim=head_dim)
    layer = part(
        "layers",
        part("self_attn", *own, kind="self_attention"),
        layer_norm("self_attn_layer_norm", H),
        deformable_attention(c, c.crossed_heads, levels, c.points, memory, name="cross_attn"),
        layer_norm("cross_attn_layer_norm", H),
        plain_mlp("mlp", H, c.decoder_mlp, ("fc1", "fc2"), bias=True),
        layer_norm("layer_norm", H),
        kind="layer",
        repeat=c.decoder_layers,
    )
    return layer, layer_norm("layernorm", H), mlp_head("ref_point_head", 2 * H, H, H)


def proposals(c: Config, memory: Stream, *, headed: bool) -> tuple[Part, ...]:
    """Describe what every place proposes, for each group of queries; only training attends to more than the first."""
    H = c.hidden
    again: Stream = sum_of(memory, c.queries) if headed else memory
    kinds: tuple[tuple[Part, Stream], ...] = (
        (linear("enc_output", H, H), memory),
        (layer_norm("enc_output_norm", H), memory),
        (mlp_head("enc_out_bbox_embed", H, H, H, 4), memory),
        (linear("enc_out_class_embed", H, c.labels), again),
    )
    found = []
    for module, places in kinds:
        groups = (replace(module, name=str(group), stream=0 if group else places) for group in layer_range(c.groups))
        found.append(part(module.name, *groups, kind="head"))
    return tuple(found)


def model(c: Config, *, headed: bool = False) -> tuple[Part, ...]:
    """Describe LwDetrModel."""
    seen = features(c.backbone, (c.backbone.image, c.backbone.image))
    found = [projector(c, scale, index, seen) for index, scale in enumerate(c.scales)]
    places: Size = 0
    for _, grid in found:
        places = places + area(grid)
    memory: Stream = places if found else unknown("projector_scale_factors names no map to look at")
    vision = part("backbone", *seen.parts, kind="backbone"), part("projector", part("scale_layers", *(module for module, _ in found)))
    return detr(c, vision, memory, c.levels, headed=headed)


def detr(c: Config, vision: tuple[Part, ...], memory: Stream, levels: Size, *, headed: bool) -> tuple[Part, ...]:
    """Describe queries, decoder and proposals behind a backbone."""
    return (
        part("backbone", *vision, kind="vision"),
        embedding("reference_point_embed", c.queries * c.groups, 4),
        embedding("query_feat", c.queries * c.groups, c.hidden),
        part("decoder", *decoder(c, memory, levels), kind="decoder", stream=c.queries),
        *proposals(c, memory, headed=headed),
    )


def detection(c: Config, inner: tuple[Part, ...]) -> Part:
    """Describe the class for detection around a model: a label and a box of each query."""
    H, body = c.hidden, part("model", *inner, kind="backbone")
    box = mlp_head("bbox_embed", H, H, H, 4, stream=c.queries)
    return part("", body, linear("class_embed", H, c.labels, stream=c.queries), box, kind="model")


CLASSES = {
    "LwDetrDecoder": lambda c: part("", *decoder(c, "encoder", c.levels), kind="model", stream=c.queries),
    "LwDetrModel": lambda c: part("", *model(c), kind="model"),
    "LwDetrForObjectDetection": lambda c: detection(c, model(c, headed=True)),
}
IGNORED_KEYS = frozenset(
    """activation_function auxiliary_loss batch_norm_eps bbox_cost bbox_loss_coefficient class_cost class_loss_coefficient
    decoder_activation_function dice_loss_coefficient disable_custom_kernels eos_coefficient focal_alpha giou_cost giou_loss_coefficient
    init_std mask_loss_coefficient num_feature_levels projector_in_channels projector_out_channels""".split()
)
FAMILIES = {"lw_detr": Family("lw_detr", FIELDS, CLASSES, "LwDetrModel", IGNORED_KEYS, normalize_config=refuse_named_backbone)}
