"""RF-DETR: LW-DETR with a windowed DINOv2 backbone, and a segmentation head (Robinson et al., 2025).

Source: arXiv 2511.09554; names as in transformers 5.23.0, models/rf_detr/modeling_rf_detr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.lw_detr import FIELDS as BEFORE
from weighbridge.blueprints.detection.lw_detr import IGNORED_KEYS, c2f, decoder, detection, detr
from weighbridge.blueprints.detection.rf_detr_dinov2 import features
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.stage_fields import number, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, variant
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, layer_norm, linear, matmul, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

DINOV2 = {
    "num_attention_heads": 6,
    "out_features": ["stage2", "stage5", "stage8", "stage11"],
    "hidden_size": 384,
    "num_register_tokens": 0,
    "image_size": 518,
}

FIELDS = variant(
    tuple(field for field in BEFORE if field.word not in ("levels", "scales", "wide")),
    number("levels", "num_feature_levels", 1),
    size("mask_mlp", "intermediate_size", 1024, "I_m", "intermediate size of the mask head"),
    number("shrunk", "mask_downsample_ratio", 4),
    backbone=model_config("backbone", "backbone_config", "rf_detr_dinov2", only=True, absent=DINOV2),
)


def conv(name: str, inputs: Size, outs: Size, places: Stream | None = None, kernel: int = 1) -> Part:
    """Describe a convolution without bias and a norm of every place's channels."""
    return part(name, conv2d("conv", inputs, outs, kernel, bias=False), layer_norm("norm", outs), kind="convolution", stream=places)


def model(c: Config, *, headed: bool = False) -> tuple[Part, ...]:
    """Describe RfDetrModel: one map is attended to, joined from all that the backbone outputs."""
    seen, inner = features(c.backbone, c.backbone.image), scale_width(c.hidden, c.expansion)
    grid: Grid = seen.maps[-1]
    memory: Stream = area(grid) if c.levels == 1 else unknown(Text("there is one map, and {levels} are expected", levels=c.levels))
    body = part("backbone", *seen.parts, kind="backbone", stream=seen.parts[1].stream)  # type: ignore[union-attr]
    joined = part("projector_layer", *c2f(c, len(seen.maps) * c.backbone.hidden, inner, conv), kind="convolution")
    projector = part("projector", joined, layer_norm("layer_norm", c.hidden), kind="projector", stream=area(grid))
    return detr(c, (body, projector), memory, c.levels, headed=headed)


def segmentation(c: Config) -> Part:
    """Describe RfDetrForInstanceSegmentation: the masks of every layer's queries, and once of the proposals."""
    H, (height, width) = c.hidden, c.backbone.image
    places = area((height // c.shrunk, width // c.shrunk))
    block = layer_norm("layernorm", H), conv2d("depthwise_conv", H, H, 3, groups=H), linear("pointwise_conv", H, H)
    asked = layer_norm("norm", H), plain_mlp("mlp", H, c.mask_mlp, ("fc1", "fc2"), bias=True)
    often = c.decoder_layers + 1
    drawn = matmul("masks", (c.queries, places, H))
    return part(
        "",
        Tensor("segmentation_bias", (1,), "bias"),
        replace(detection(c, model(c, headed=True)), name="model"),
        part("blocks", *block, kind="convolution", repeat=c.decoder_layers, stream=places),
        conv2d("spatial_features_proj", H, H, 1, stream=places, executions=c.decoder_layers),
        part("query_features_block", *asked, kind="feed_forward", executions=often, stream=c.queries),
        linear("query_features_proj", H, H, stream=c.queries, executions=often),
        part("", drawn, kind="head", executions=often),
        kind="model",
    )


CLASSES = {
    "RfDetrDecoder": lambda c: part("", *decoder(c, "encoder", c.levels), kind="model", stream=c.queries),
    "RfDetrModel": lambda c: part("", *model(c), kind="model"),
    "RfDetrForObjectDetection": lambda c: detection(c, model(c, headed=True)),
    "RfDetrForInstanceSegmentation": segmentation,
}
OUTER_IGNORED_KEYS = frozenset(
    """mask_class_loss_coefficient mask_dice_loss_coefficient mask_point_sample_ratio segmentation_head_activation_function
    use_pretrained_backbone use_timm_backbone backbone backbone_kwargs""".split()
)
FAMILIES = {"rf_detr": Family("rf_detr", FIELDS, CLASSES, "RfDetrModel", IGNORED_KEYS | OUTER_IGNORED_KEYS)}
