"""D-FINE and DEIMv2: RT-DETR with boxes predicted as distributions that each decoder layer refines (Peng 2024, Huang 2025).

Source: arXiv 2410.13842 and 2509.20787; names as in transformers 5.23.0, models/d_fine/modeling_d_fine.py and
models/deimv2/modeling_deimv2.py. Its FLOPs over a DINOv3 are not given.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.detection.rt_detr import FIELDS as BEFORE
from weighbridge.blueprints.detection.rt_detr import MORE_IGNORED_KEYS as IGNORED_KEYS
from weighbridge.blueprints.detection.rt_detr import backbone_features, tied_to_owner
from weighbridge.blueprints.modules.backbones import Features, backbone, hidden_size, named_backbone
from weighbridge.blueprints.modules.convolutions import half_size, positive_float
from weighbridge.blueprints.modules.detr_common import attention, mlp_head
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.rt_detr_encoder import conv, encoder_layer, hybrid_encoder, input_projections
from weighbridge.blueprints.modules.stage_fields import number, scale_width
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import TIED, Config, Field, choice, computed, constant, size, switch, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, is_unknown, length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, embedding, gated_mlp, layer_norm, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def points(value: Any) -> int | tuple[int, ...]:
    """Take how many points a head attends to on every map, or a list of them."""
    found = value if isinstance(value, (list, tuple)) else (value,)
    if not found or any(type(entry) is not int or entry < 1 for entry in found):
        raise ConfigError(
            Text("expected a whole number or a list of them, found {value!r:.60}", value=value), key="decoder_n_points", value=value
        )
    return tuple(value) if isinstance(value, (list, tuple)) else int(value)


def total_points(c: Config) -> int:
    """Return how many points a head attends to on all maps."""
    if isinstance(c.points, int):
        return int(c.points * c.levels)
    if len(c.points) != c.levels:
        raise ConfigError(
            Text("{count} entries for {levels} maps", count=len(c.points), levels=c.levels), key="decoder_n_points", value=list(c.points)
        )
    return sum(c.points)


def last_layer(c: Config) -> int:
    """Return the layer whose answer counts; those behind it are of the same width, or refused."""
    found = int(c.evaluated if c.evaluated >= 0 else c.decoder_layers + c.evaluated)
    if not 0 <= found < c.decoder_layers:
        raise ConfigError(Text("there are {decoder_layers} layers", decoder_layers=c.decoder_layers), key="eval_idx", value=c.evaluated)
    if found < c.decoder_layers - 1 and c.layer_scale != 1:
        raise ConfigError("layers of another width are not described", key="layer_scale", value=c.layer_scale, hint="1, or eval_idx -1")
    return found


def kind(value: Any) -> str:
    """Take one of the two kinds of encoder."""
    if value not in ("hybrid", "lite"):
        raise ConfigError(Text("expected hybrid or lite, found {value!r:.60}", value=value), key="encoder_type", value=value)
    return str(value)


GONE = ("points", "attended", "widened", "alike", "second")

FIELDS = variant(
    tuple(field for field in BEFORE if field.word not in GONE),
    choice("points", "decoder_n_points", 4, read=points),
    computed("total", total_points),
    number("evaluated", "eval_idx", -1, minimum=-99),
    positive_float("layer_scale", "layer_scale", 1.0),
    computed("last", last_layer),
    size("bins", "max_num_bins", 32, "B", "distance bins"),
    size("best", "top_prob_values", 4, "K", "likeliest bins looked at"),
    size("quality_hidden", "lqe_hidden_dim", 64, "H_l", "hidden size of the quality estimator"),
    number("quality_depth", "lqe_layers", 2),
    positive_float("depth", "depth_mult", 1.0),
    computed("blocks", lambda c: round(3 * c.depth)),
    computed("same", lambda c: c.hidden == c.out_widths[-1]),
    computed("alike", lambda c: c.out_widths[-1] == c.encoder_hidden),
    TIED,
    constant("later", False),
    constant("kind", "hybrid"),
    constant("shared", False),
    decoder_layers=number("decoder_layers", "decoder_layers", 6),
    backbone=backbone("hgnet_v2 rt_detr_resnet resnet", {"model_type": "hgnet_v2", "out_indices": [2, 3, 4]}),
)

LATER = variant(
    FIELDS,
    switch("gated", "use_gateway", True),
    switch("trailing", "encoder_has_trailing_conv", True),
    choice("fused", "encoder_fuse_op", "sum"),
    size("tuning", "spatial_tuning_adapter_inplanes", 16, "N_s", "channels of the network beside DINOv3"),
    later=True,
    kind=choice("kind", "encoder_type", "hybrid", read=kind),
    shared=switch("shared", "share_bbox_head", False),
)

MORE_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """decoder_offset_scale head_dim mal_alpha reg_scale up use_dense_one_to_one weight_loss_ddf
    weight_loss_fgl weight_loss_mal""".split()
)


def transformer_layer(c: Config) -> Part:
    """Describe the layers of attention over a map."""
    before = encoder_layer(c)
    mlp = mlp_head("mlp", c.encoder_hidden, c.encoder_mlp, c.encoder_hidden)
    children = (mlp if isinstance(child, Part) and child.name == "mlp" else child for child in before.children)
    return replace(before, children=tuple(children))


def csp_rep_layer(c: Config, name: str, inputs: Size, outs: Size) -> Part:
    """Describe doubled convolutions and a path beside them, which the later type makes in one."""
    double = part("bottlenecks", conv("conv1", outs, outs, None, 3), conv("conv2", outs, outs), kind="convolution", repeat=c.blocks)
    doubles = (double,) if c.blocks else ()
    if not c.later:
        return part(name, conv("conv1", inputs, outs), conv("conv2", inputs, outs), *doubles, kind="convolution")
    ends = (conv("conv2", outs, outs, None, 3),) if c.trailing else ()
    return part(name, conv("conv1", inputs, 2 * outs), *doubles, *ends, kind="convolution")


def join(c: Config, places: Stream) -> tuple[Part, ...]:
    """Describe how two maps become one; the later type adds them up before."""
    H, inner = c.encoder_hidden, scale_width(c.encoder_hidden, (c.expansion[0], 2 * c.expansion[1]))
    first, second, wide = csp_rep_layer(c, "csp_rep1", H, inner), csp_rep_layer(c, "csp_rep2", inner, inner), 2 * H + 2 * inner
    if c.later:
        places = places if c.fused == "sum" else unknown("concatenated feature maps are twice as wide as the blocks after them")
        parts = conv("conv1", H, 2 * H), first, second, conv("conv2", wide, H)
    else:
        steps = conv("conv2", inner, inner, None, 3), second, conv("conv3", inner, inner, None, 3)
        parts = conv("conv1", 2 * H, 2 * H), first, *steps, conv("conv4", wide, H)  # type: ignore[assignment]
    return tuple(replace(module, stream=places) for module in parts)


def downsampling(c: Config, name: str, places: Stream) -> Part:
    """Describe how a map is halved: a convolution of every place, at the larger map, and one of every channel with itself."""
    H = c.encoder_hidden
    larger = unknown("a map is not twice as high and wide as the next one")
    before: Stream = larger if is_unknown(places) else length(places) * 4
    apart = conv2d("conv", H, H, 3, groups=H, bias=False), batch_norm("norm", H)
    return part(name, conv("conv1", H, H, before), part("conv2", *apart, kind="convolution", stream=places), kind="convolution")


def lite(c: Config, maps: Sequence[Grid]) -> tuple[tuple[Part, ...], tuple[Grid, ...]]:
    """Describe the small encoder over one or two maps, and one more made from the smallest; return the two maps it outputs, too."""
    H, more = c.encoder_hidden, half_size(maps[-1])
    seen = (*maps, more)
    first, second = seen[0], seen[1]
    fits = len(maps) == len(c.in_widths) and first == (2 * second[0], 2 * second[1])
    undetermined = unknown("the maps are not as many as expected, or the first is not twice as high and wide as the second")
    inputs = (conv(str(i), w, H, area(maps[i]) if fits else undetermined) for i, w in enumerate(c.in_widths))
    parts = (
        part("input_proj", *inputs, kind="projection"),
        conv("down_conv1", H, H, area(more)),
        conv("down_conv2", H, H, area(second)),
        conv("bi_fusion_conv", H, H, area(more)),
        part("fpn_block", *join_plain(c, area(first)), kind="stage"),
        part("pan_block", *join_plain(c, area(second)), kind="stage"),
    )
    return parts, (first, second)


def join_plain(c: Config, places: Stream) -> tuple[Part, ...]:
    """Describe a block over maps that are always added up."""
    return join(with_changes(c, fused="sum"), places)


def encoder(c: Config, maps: Sequence[Grid]) -> tuple[tuple[Part, ...], tuple[Grid, ...]]:
    """Describe the encoder over maps, the largest first; return the maps it outputs, too."""
    if c.kind == "lite":
        return lite(c, maps)
    return hybrid_encoder(c, maps, layer=transformer_layer, join=join, down=downsampling), tuple(maps)


def sources(c: Config, maps: tuple[Grid, ...]) -> tuple[tuple[Part, ...], Stream]:
    """Describe the maps as the decoder sees them, further ones made from the smallest; return all their positions, too."""
    count, width, extra = len(c.out_widths), c.out_widths[-1], max(c.levels - len(c.out_widths), 0)
    runs = c.alike and count == len(maps) <= c.levels
    small = maps[-1] if c.same else half_size(maps[-1])
    memory: Size = extra * area(small)
    for grid in maps:
        memory = memory + area(grid)
    undetermined = unknown("the number or the widths of the feature maps are not what the decoder expects")
    if c.same:
        return (), memory if runs else undetermined
    found = []
    for index in range(count + extra):
        places = undetermined if not runs else area(maps[index]) if index < count else area(small)
        kernel = 1 if index < count else 3
        plain = conv2d("0", width, c.hidden, kernel, bias=False), batch_norm("1", c.hidden)
        found.append(conv(str(index), width, c.hidden, None, kernel) if c.later else part(str(index), *plain, kind="projection"))
        found[-1] = replace(found[-1], stream=places)
    return (part("decoder_input_proj", *found, kind="projection"),), memory if runs else undetermined


def spatial_tuning(c: Config) -> tuple[Part, Part]:
    """Describe the small network of convolutions beside a DINOv3, and what joins its three maps with those of the transformer."""
    N, W, H = c.tuning, c.backbone.hidden, c.encoder_hidden
    steps = ("stem_conv", 3, N), ("conv2", N, 2 * N), ("conv3", 2 * N, 4 * N), ("conv4", 4 * N, 4 * N)
    joins = (conv(str(index), W + times * N, H) for index, times in enumerate((2, 4, 4)))
    adapter = part("spatial_tuning_adapter", *(conv(name, few, many, None, 3) for name, few, many in steps), kind="convolutions")
    return adapter, part("fusion_proj", *joins, kind="projection")


UNTOLD = unknown("the maps of a DINOv3 under this neck")


def dinov3_encoder(c: Config, parts: tuple[Node, ...]) -> tuple[Part, ...]:
    """Describe a transformer with the network of convolutions beside it."""
    return part("backbone", *parts, kind="backbone"), *spatial_tuning(c)


def dinov3_alone(c: Config) -> Part:
    """Describe Deimv2DINOv3ConvEncoder, for any backbone that has one width.

    Raises:
        ConfigError: The backbone has a width for each stage alone.
    """
    hidden_size(c.backbone)
    return part("", *dinov3_encoder(c, backbone_features(c).parts), kind="model", stream=UNTOLD)


def conv_encoder(c: Config, seen: Features) -> tuple[Part, ...]:
    """Describe a backbone and, except for the lite encoder, what brings each of its maps to one width."""
    found = tuple(conv(str(i), w, c.encoder_hidden, area(seen.maps[i])) for i, w in enumerate(seen.widths))
    first = () if c.kind == "lite" else (part("encoder_input_proj", *found, kind="projection"),)
    return part("model", *seen.parts, kind="backbone"), *first


def inputs(c: Config) -> tuple[Part, tuple[Part, ...], tuple[Grid, ...]]:
    """Describe the backbone and the projections of its maps."""
    seen = backbone_features(c)
    body, H = part("model", *seen.parts, kind="backbone"), c.encoder_hidden
    if c.later and c.backbone.model_type == "dinov3_vit":
        maps_of_three: tuple[Grid, ...] = ((UNTOLD, UNTOLD),) * 3  # type: ignore[assignment]
        return part("conv_encoder", *dinov3_encoder(c, seen.parts), kind="vision", stream=UNTOLD), (), maps_of_three
    if c.later:
        return part("conv_encoder", *conv_encoder(c, seen), kind="vision"), (), seen.maps
    count = len(c.out_widths)
    if len(seen.widths) < count:
        raise ConfigError(
            Text("the backbone hands on {count} maps", count=len(seen.widths)), key="decoder_in_channels", value=list(c.out_widths)
        )
    maps: list[Stream] = [area(grid) for grid in seen.maps[:count]]
    return part("backbone", body, kind="vision"), (input_projections("encoder_input_proj", seen.widths[:count], H, maps),), seen.maps


def deformable_attention(c: Config) -> Part:
    """Describe attention to a few points around each query; what is there is taken as it is."""
    scale = Tensor("num_points_scale", (c.total,), "buffer")
    points = c.decoder_heads * c.total
    return part(
        "encoder_attn",
        scale,
        linear("sampling_offsets", c.hidden, points * 2),
        linear("attention_weights", c.hidden, points),
        kind="cross_attention",
    )


def layer(c: Config, repeat: Size) -> Part:
    """Describe a layer of the decoder, whose gate weighs what it found against what it had."""
    H, norm = c.hidden, rms_norm if c.later else layer_norm
    gate = part("gateway", linear("gate", 2 * H, 2 * H), norm("norm", H), kind="feed_forward")
    ends: Part = gate if not c.later or c.gated else norm("encoder_attn_layer_norm", H)
    return part(
        "layers",
        attention("self_attn", H, c.decoder_heads),
        norm("self_attn_layer_norm", H),
        deformable_attention(c),
        gated_mlp("mlp", H, c.decoder_mlp // 2, bias=True) if c.later else mlp_head("mlp", H, c.decoder_mlp, H),
        norm("final_layer_norm", H),
        ends,
        kind="layer",
        repeat=repeat,
    )


def decoder(c: Config, *, headed: bool = False) -> tuple[Node, ...]:
    """Describe the decoder; the quality of boxes is estimated behind the layer that counts, and only with heads."""
    H, repeat = c.hidden, c.decoder_layers + c.decoder_layers - c.last - 1
    inner = (c.quality_hidden,) * (c.quality_depth - 1)
    quality = part("", mlp_head("reg_conf", 4 * (c.best + 1), *inner, 1), kind="head")
    counts = layer_range(c.decoder_layers)
    estimates = (replace(quality, name=str(i), stream=c.queries if headed and i == c.last else 0) for i in counts)
    where = mlp_head("query_pos_head", 4, H, H, H) if c.later else mlp_head("query_pos_head", 4, 2 * H, H)
    return (
        Tensor("reg_scale", (1,), "gain", frozen=True),
        Tensor("up", (1,), "gain", frozen=True),
        layer(c, repeat),
        replace(where, executions=repeat),
        mlp_head("pre_bbox_head", H, H, H, 4),
        part("lqe_layers", *estimates, kind="head"),
    )


def model(c: Config, own: tuple[Part, ...] = ()) -> tuple[Part, ...]:
    """Describe backbone, encoder and decoder, with the heads that the decoder holds; every place is a query at first."""
    (body, projections, maps), H = inputs(c), c.hidden
    joined, maps = encoder(c, maps)
    places, memory = sources(c, maps)
    behind = unknown("layers after the one that is read have no heads, and the reference does not run them")
    asked: Stream = behind if own and c.last < c.decoder_layers - 1 else c.queries
    between = (
        *((embedding("denoising_class_embed", c.labels + 1, H),) if c.denoised else ()),
        *((embedding("weight_embedding", c.queries, H),) if c.learned else ()),
        part("enc_output", linear("0", H, H), layer_norm("1", H), kind="transform", stream=memory),
        linear("enc_score_head", H, c.labels, stream=memory),
        mlp_head("enc_bbox_head", H, H, H, 4, stream=memory),
    )
    decoded = part("decoder", *decoder(c, headed=bool(own)), *own, kind="decoder", stream=asked)
    middle = (*between, *places, decoded) if c.later else (*between, decoded, *places)
    return body, *projections, part("encoder", *joined, kind="encoder"), *middle


def heads(c: Config) -> tuple[Part, Part]:
    """Describe what every layer predicts for a query: its label, for the layer that counts, and its box as four distributions."""
    H, counts = c.hidden, layer_range(c.decoder_layers)
    labels = (linear(str(i), H, c.labels, stream=c.queries if i == c.last else 0) for i in counts)
    boxes = [mlp_head(str(i), H, H, H, 4 * (c.bins + 1)) for i in counts]
    return part("class_embed", *labels, kind="head"), part("bbox_embed", *boxes, kind="head")


def module_list_of_one(module: Part, prefix: str) -> Part:
    """Return a list of parts that are all the first."""
    first, *others = module.children
    return replace(module, children=(first, *(tied_to_owner(other, f"{prefix}0.") for other in others)))  # type: ignore[arg-type]


def detection(c: Config) -> Part:
    """Describe the class for detection, which holds its heads twice, and runs those of the decoder."""
    labels, boxes = heads(c)
    inner = labels, module_list_of_one(boxes, "model.decoder.bbox_embed.") if c.shared else boxes
    again = [replace(module, stream=0, children=tuple(replace(child, stream=0) for child in module.children)) for module in (labels, boxes)]
    if c.tied:
        found = [tied_to_owner(module, f"model.decoder.{module.name}.") for module in again]
        if c.shared:
            each = (tied_to_owner(child, "model.decoder.bbox_embed.0.") for child in again[1].children)  # type: ignore[arg-type]
            found[1] = replace(again[1], children=tuple(each))
    else:
        found = [again[0], module_list_of_one(again[1], "bbox_embed.") if c.shared else again[1]]
    return part("", part("model", *model(c, inner), kind="backbone"), *found, kind="model")


def encoder_alone(c: Config) -> tuple[Part, ...]:
    """Describe the encoder alone, over maps of the strides that the config says."""
    return encoder(c, [half_size(c.image, stride) for stride in c.strides])[0]


def family(model_type: str, prefix: str, fields: tuple[Field, ...], more: dict[str, Blueprint] | None = None) -> Family:
    """Return the family of one of the two types."""
    classes: dict[str, Blueprint] = {
        f"{prefix}HybridEncoder": lambda c: part("", *encoder_alone(with_changes(c, kind="hybrid")), kind="model"),
        **(more or {}),
        f"{prefix}Decoder": lambda c: part("", *decoder(c), kind="model", stream=c.queries),
        f"{prefix}Model": lambda c: part("", *model(c), kind="model"),
        f"{prefix}ForObjectDetection": detection,
    }
    return Family(model_type, fields, classes, f"{prefix}Model", MORE_IGNORED_KEYS, normalize_config=named_backbone)


MORE: dict[str, Blueprint] = {
    "Deimv2LiteEncoder": lambda c: part("", *encoder_alone(with_changes(c, kind="lite")), kind="model"),
    "Deimv2DINOv3ConvEncoder": dinov3_alone,
    "Deimv2ConvEncoder": lambda c: part("", *conv_encoder(c, backbone_features(c)), kind="model"),
}

FAMILIES = {"d_fine": family("d_fine", "DFine", FIELDS), "deimv2": family("deimv2", "Deimv2", LATER, MORE)}
