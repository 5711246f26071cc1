"""ViTPose: a plain ViT, optionally with experts per dataset, and a heatmap head.

Source: arXiv 2204.12484 and 2212.04246; names as in transformers 5.23.0,
models/vitpose_backbone/modeling_vitpose_backbone.py and models/vitpose/modeling_vitpose.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import hidden_size, patch_grid, refuse_named_backbone
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_transpose2d
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    QKV_BIAS,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_LAYERS,
    WHOLE_HEADS,
    patches,
    split_attention,
    token,
)
from weighbridge.blueprints.vision.dinov2 import RATIO, WIDENED
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, sides, size, switch
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Part

BACKBONE = (
    *(VIT_HIDDEN, RATIO, WIDENED, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, CHANNELS, QKV_BIAS),
    *sides("image", "image_size", (256, 192), "R", "image size"),
    *sides("patch", "patch_size", (16, 16), "P", "patch size"),
    number("experts", "num_experts", 1),
    size("part", "part_features", 256, "X", "width of an expert's share"),
)
POSE = (
    model_config("backbone", "backbone_config", "vitpose_backbone", absent={"out_indices": [4]}),
    size("scale", "scale_factor", 4, "S", "factor by which the maps are enlarged"),
    switch("simple", "use_simple_decoder", True),
    LABELS,
)


def padded_patch_map(c: Config) -> Grid:
    """Return the map of patches of an image with two pixels of padding on each side."""
    rows = (c.image_height + 4 - c.patch_height) // c.patch_height + 1
    return rows, (c.image_width + 4 - c.patch_width) // c.patch_width + 1


def layer(c: Config) -> Part:
    """Describe a layer; of several experts all are run, and the data set's is kept."""
    H, own = c.hidden, 0 if c.experts == 1 else c.part
    experts = part("experts", *(linear(str(i), c.mlp, c.part) for i in layer_range(c.experts)), kind="experts") if c.experts > 1 else None
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H - own), *((experts,) if experts else ()), kind="feed_forward")
    norms = layer_norm("layernorm_before", H), layer_norm("layernorm_after", H)
    return part("layer", split_attention(c), mlp, *norms, kind="layer", repeat=c.layers)


def encoder(c: Config) -> Part:
    """Describe VitPoseBackboneEncoder: only the layers, over as many vectors as one gives it."""
    return part("", layer(c), kind="encoder", stream="seq")


def backbone(c: Config) -> Part:
    """Describe VitPoseBackbone; the first position is that of a class token that is not there."""
    patch = conv2d("projection", c.channels, c.hidden, (c.patch_height, c.patch_width))
    table = token("position_embeddings", c.hidden, patches(c) + 1)
    embeddings = part("embeddings", table, part("patch_embeddings", patch, kind="embeddings"), kind="embeddings")
    children = embeddings, part("encoder", layer(c), kind="encoder"), layer_norm("layernorm", c.hidden)
    return part("", *children, kind="model", stream=area(padded_patch_map(c)))


def pose(c: Config) -> Part:
    """Describe VitPoseForPoseEstimation: one map per point of the body."""
    inner = c.backbone
    H, places = hidden_size(inner), area(patch_grid(inner))
    simple = (conv2d("conv", H, c.labels, 3, stream=places * c.scale * c.scale),)
    classic = (
        conv_transpose2d("deconv1", H, 256, 4, places, bias=False),
        batch_norm("batchnorm1", 256),
        conv_transpose2d("deconv2", 256, 256, 4, 4 * places, bias=False),
        batch_norm("batchnorm2", 256),
        conv2d("conv", 256, c.labels, 1, stream=16 * places),
    )
    head = part("head", *(simple if c.simple else classic), kind="head")
    return part("", as_child("backbone", submodel(inner, "Backbone")), head, kind="model")


FAMILIES = {
    "vitpose_backbone": Family(
        "vitpose_backbone", BACKBONE, {"VitPoseBackboneEncoder": encoder, "VitPoseBackbone": backbone}, "VitPoseBackbone", IGNORED_KEYS
    ),
    "vitpose": Family(
        "vitpose",
        POSE,
        {"VitPoseForPoseEstimation": pose},
        "VitPoseForPoseEstimation",
        IGNORED_KEYS,
        normalize_config=refuse_named_backbone,
    ),
}
