"""D-FINE and DEIMv2: RT-DETR whose boxes are told as distributions over distances, layer by layer finer (Peng 2024, Huang 2025).

Source: arXiv 2410.13842 and 2509.20787; names as in transformers 5.23.0, models/d_fine/modeling_d_fine.py and
models/deimv2/modeling_deimv2.py. DEIMv2 over a DINOv3 is refused.
"""

from __future__ import annotations

from weighbridge.blueprints import Blueprint, Family
from weighbridge.blueprints.convolutions import halved
from weighbridge.blueprints.detections import attention, perceptron
from weighbridge.blueprints.dfine_encoder import encoder, inputs, sources
from weighbridge.blueprints.dfine_fields import FIELDS, LATER, SKIPPED
from weighbridge.blueprints.rtdetr import owned
from weighbridge.config.fields import Field, Sizes, altered
from weighbridge.core.parts import embedding, gated_mlp, layer_norm, linear, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Stream, Tensor, Untold


def looking(c: Sizes) -> Part:
    """Describe attention to a few points around each query; what is there is taken as it is."""
    scale = Tensor("num_points_scale", (c.total,), "buffer")
    points = c.decoder_heads * c.total
    return Part("encoder_attn", (
        scale,
        linear("sampling_offsets", c.hidden, points * 2),
        linear("attention_weights", c.hidden, points),
    ), "cross_attention")  # fmt: skip


def layer(c: Sizes, repeat: Size) -> Part:
    """Describe a layer of the decoder, whose gate weighs what it found against what it had."""
    H, norm = c.hidden, rms_norm if c.later else layer_norm
    gate = Part("gateway", (linear("gate", 2 * H, 2 * H), norm("norm", H)), "feed_forward")
    ends: Part = gate if not c.later or c.gated else norm("encoder_attn_layer_norm", H)
    return Part("layers", (
        attention("self_attn", H, c.decoder_heads),
        norm("self_attn_layer_norm", H),
        looking(c),
        gated_mlp("mlp", H, c.decoder_mlp // 2, bias=True) if c.later else perceptron("mlp", H, c.decoder_mlp, H),
        norm("final_layer_norm", H),
        ends,
    ), "layer", repeat=repeat)  # fmt: skip


def decoder(c: Sizes, *, headed: bool = False) -> tuple[Node, ...]:
    """Describe the decoder; the quality of boxes is estimated behind the layer that counts, and only with heads."""
    H, repeat = c.hidden, c.decoder_layers + c.decoder_layers - c.last - 1
    inner = (c.quality_hidden,) * (c.quality_depth - 1)
    quality = Part("", (perceptron("reg_conf", 4 * (c.best + 1), *inner, 1),), "head")
    counts = range(c.decoder_layers)
    estimates = (quality._replace(name=str(i), stream=c.queries if headed and i == c.last else 0) for i in counts)
    where = perceptron("query_pos_head", 4, H, H, H) if c.later else perceptron("query_pos_head", 4, 2 * H, H)
    return (
        Tensor("reg_scale", (1,), "gain", frozen=True),
        Tensor("up", (1,), "gain", frozen=True),
        layer(c, repeat),
        where._replace(runs=repeat),
        perceptron("pre_bbox_head", H, H, H, 4),
        Part("lqe_layers", tuple(estimates), "head"),
    )


def model(c: Sizes, own: tuple[Part, ...] = ()) -> tuple[Part, ...]:
    """Describe backbone, encoder and decoder, with the heads that the decoder holds; every place is a query at first."""
    (body, projections, maps), H = inputs(c), c.hidden
    joined, maps = encoder(c, maps)
    places, memory = sources(c, maps)
    behind = Untold("layers behind the one that counts have no heads, and the reference does not run them")
    asked: Stream = behind if own and c.last < c.decoder_layers - 1 else c.queries
    between = (
        *((embedding("denoising_class_embed", c.labels + 1, H),) if c.denoised else ()),
        *((embedding("weight_embedding", c.queries, H),) if c.learned else ()),
        Part("enc_output", (linear("0", H, H), layer_norm("1", H)), "transform", stream=memory),
        linear("enc_score_head", H, c.labels, stream=memory),
        perceptron("enc_bbox_head", H, H, H, 4)._replace(stream=memory),
    )
    decoded = Part("decoder", (*decoder(c, headed=bool(own)), *own), "decoder", stream=asked)
    middle = (*between, *places, decoded) if c.later else (*between, decoded, *places)
    return body, *projections, Part("encoder", joined, "encoder"), *middle


def heads(c: Sizes) -> tuple[Part, Part]:
    """Describe what every layer tells of a query: its label, for the layer that counts, and its box as four distributions."""
    H, counts = c.hidden, range(c.decoder_layers)
    labels = (linear(str(i), H, c.labels, stream=c.queries if i == c.last else 0) for i in counts)
    boxes = [perceptron(str(i), H, H, H, 4 * (c.bins + 1)) for i in counts]
    return Part("class_embed", tuple(labels), "head"), Part("bbox_embed", tuple(boxes), "head")


def shared(part: Part, prefix: str) -> Part:
    """Return a list of parts that are all the first."""
    first, *others = part.children
    return part._replace(children=(first, *(owned(other, f"{prefix}0.") for other in others)))  # type: ignore[arg-type]


def detection(c: Sizes) -> Part:
    """Describe the class for detection, which holds its heads twice, and runs those of the decoder."""
    labels, boxes = heads(c)
    inner = labels, shared(boxes, "model.decoder.bbox_embed.") if c.shared else boxes
    again = [part._replace(stream=0, children=tuple(child._replace(stream=0) for child in part.children)) for part in (labels, boxes)]  # type: ignore[call-arg]
    if c.tied:
        found = [owned(part, f"model.decoder.{part.name}.") for part in again]
        if c.shared:
            each = (owned(child, "model.decoder.bbox_embed.0.") for child in again[1].children)  # type: ignore[arg-type]
            found[1] = again[1]._replace(children=tuple(each))
    else:
        found = [again[0], shared(again[1], "bbox_embed.") if c.shared else again[1]]
    return Part("", (Part("model", model(c, inner), "backbone"), *found), "model")


def alone(c: Sizes) -> tuple[Part, ...]:
    """Describe the encoder alone, over maps of the strides that the config says."""
    return encoder(c, [halved(c.image, stride) for stride in c.strides])[0]


def family(model_type: str, prefix: str, fields: tuple[Field, ...], more: dict[str, Blueprint] | None = None) -> Family:
    """Return the family of one of the two types."""
    classes: dict[str, Blueprint] = {
        f"{prefix}HybridEncoder": lambda c: Part("", alone(altered(c, kind="hybrid")), "model"),
        **(more or {}),
        f"{prefix}Decoder": lambda c: Part("", decoder(c), "model", stream=c.queries),
        f"{prefix}Model": lambda c: Part("", model(c), "model"),
        f"{prefix}ForObjectDetection": detection,
    }
    return Family(model_type, fields, classes, f"{prefix}Model", SKIPPED)


MORE: dict[str, Blueprint] = {
    "Deimv2LiteEncoder": lambda c: Part("", alone(altered(c, kind="lite")), "model"),
    "Deimv2ConvEncoder": lambda c: Part("", inputs(c)[0].children, "model"),
}

FAMILIES = {"d_fine": family("d_fine", "DFine", FIELDS), "deimv2": family("deimv2", "Deimv2", LATER, MORE)}
