"""SLANet and SLANeXt, which read the structure of a table: a network of convolutions or Segment Anything's encoder, and a recurrent cell.

Source: arXiv 2210.05391 (PP-StructureV2); names as in transformers 5.23.0, models/slanet/modeling_slanet.py and models/slanext.
The recurrent cell looks at every place of the map, and writes a token of the table's structure at each step.
"""

from __future__ import annotations

from weighbridge.blueprints.detection.sam_vision import encoder
from weighbridge.blueprints.detection.sam_vision import side as sam_side
from weighbridge.blueprints.modules.backbones import backbone
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.convolutions import conv_norm
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.multimodal.got_ocr2 import VISION, half_side
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, computed, size, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, linear, part, replace
from weighbridge.core.tree import Part, Tensor

STEPS = unknown("the number of tokens of a table's structure depends on its image")
PAGE = unknown("the size of the table depends on its image")


def head(c: Config) -> Part:
    """Describe the recurrent cell: it looks at the map, and reads the sum of it and the last token."""
    H, seen, tokens = c.hidden, c.wide, c.tokens
    gates = (Tensor("weight_ih", (3 * H, seen + tokens)), Tensor("weight_hh", (3 * H, H)))
    biases = (Tensor("bias_ih", (3 * H,), "bias"), Tensor("bias_hh", (3 * H,), "bias"))
    cell = part(
        "structure_attention_cell",
        linear("input_to_hidden", seen, H, bias=False),
        linear("hidden_to_hidden", H, H),
        linear("score", H, 1, bias=False),
        part("rnn", *gates, *biases, kind="recurrent"),
        kind="recurrent",
    )
    generator = part("structure_generator", linear("fc1", H, H), linear("fc2", H, tokens), kind="head")
    return part("", cell, generator, kind="model", stream=STEPS)


def next_backbone(c: Config) -> Part:
    """Describe SLANeXt's encoder, and the convolution that halves its map."""
    half = half_side(sam_side(c.vision))
    down = conv2d("post_conv", c.inner, c.wide, 3, stream=half * half, bias=False)
    return part("", as_child("vision_tower", submodel(c.vision)), down, kind="model")


def separable(name: str, width: int, kernel: int) -> Part:
    """Describe a convolution of each channel with itself, then of channels with each other."""
    own = conv_norm("depthwise_convolution", width, width, PAGE, kernel, groups=width)
    return part(name, own, conv_norm("pointwise_convolution", width, width, PAGE), kind="convolution")


def csp_layer(c: Config, name: str) -> Part:
    """Describe a cross-stage partial layer: half of the channels go through bottlenecks, and are joined by the other half."""
    wide, half = c.wide, c.wide // 2
    bottleneck = part("bottlenecks", conv_norm("conv1", half, half, PAGE), separable("conv2", half, c.kernel), repeat=c.blocks)
    maps = (("conv1", 2 * wide, half), ("conv2", 2 * wide, half), ("conv3", 2 * half, wide))
    convs = (conv_norm(module, inputs, outs, PAGE) for module, inputs, outs in maps)
    return part(name, *convs, bottleneck, kind="layer", repeat=len(c.seen) - 1)


def table_backbone(c: Config) -> Part:
    """Describe SLANet's network, and the pyramid that carries its maps down and up again."""
    projector = (conv_norm(str(index), width, c.wide, PAGE) for index, width in enumerate(c.seen))
    pyramid = part(
        "post_csp_pan",
        part("channel_projector", *projector, kind="convolutions"),
        csp_layer(c, "top_down_blocks"),
        replace(separable("downsamples", c.wide, c.kernel), repeat=len(c.seen) - 1),
        csp_layer(c, "bottom_up_blocks"),
        kind="neck",
    )
    network = submodel(c.backbone, "Backbone")
    return part("", as_child("vision_backbone", network), pyramid, kind="model", stream=PAGE)


def _pyramid_widths(c: Config) -> tuple[int, ...]:
    """Return the widths of the maps that the pyramid is built for: of all stages but the first, whichever of them are output."""
    known = getattr(c.backbone, "blocks", ())
    if c.backbone.model_type not in ("pp_lcnet", "pp_lcnet_v3"):
        raise ConfigError(
            Text("the pyramid over {model_type} is not described", model_type=c.backbone.model_type),
            key="backbone_config.model_type",
            value=c.backbone.model_type,
        )
    return tuple(int(blocks[-1][2] * c.backbone.scale) for blocks in known[1:])


TABLE = (
    backbone(
        "pp_lcnet",
        {
            "model_type": "pp_lcnet",
            "scale": 1,
            "out_features": ["stage2", "stage3", "stage4", "stage5"],
            "out_indices": [2, 3, 4, 5],
            "divisor": 16,
        },
    ),
    number("wide", "post_conv_out_channels", 96),
    size("tokens", "out_channels", 50, "V", "table structure tokens"),
    HIDDEN.with_default(256),
    number("kernel", "csp_kernel_size", 5),
    number("blocks", "csp_num_blocks", 1, minimum=0),
    computed("seen", _pyramid_widths),
)
NEXT = (
    model_config("vision", "vision_config", "slanext_vision", fixed=True),
    size("inner", "post_conv_in_channels", 256, "N", "input channels of the last convolution"),
    size("wide", "post_conv_out_channels", 512, "W", "output channels of the last convolution"),
    size("tokens", "out_channels", 50, "V", "table structure tokens"),
    HIDDEN.with_default(512),
)


def slanet_model(seen: Part, c: Config) -> Part:
    """Describe what sees the table and what writes its structure."""
    return part("", as_child("backbone", seen), as_child("head", head(c)), kind="model")


NEXT_VISION = variant(VISION, image=512)
TOWER = "SLANeXtVisionEncoder"
FAMILIES = {
    "slanet": Family(
        "slanet",
        TABLE,
        {
            "SLANetSLAHead": head,
            "SLANetBackbone": table_backbone,
            "SLANetForTableRecognition": lambda c: slanet_model(table_backbone(c), c),
        },
        "SLANetBackbone",
        frozenset(("max_text_length",)),
    ),
    "slanext": Family(
        "slanext",
        NEXT,
        {
            "SLANeXtBackbone": next_backbone,
            "SLANeXtSLAHead": head,
            "SLANeXtForTableRecognition": lambda c: slanet_model(next_backbone(c), c),
        },
        "SLANeXtBackbone",
        frozenset(("max_text_length",)),
    ),
    "slanext_vision": Family("slanext_vision", NEXT_VISION, {TOWER: encoder}, TOWER),
}
