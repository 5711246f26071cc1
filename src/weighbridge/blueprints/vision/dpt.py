"""DPT: a vision transformer, or another that hands on maps, whose layers' outputs are added up to depth or to classes.

Source: arXiv 2103.13413; names as in transformers 5.23.0, models/dpt/modeling_dpt.py. The hybrid with a ResNet in front is refused.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import composed, submodel, under
from weighbridge.blueprints.modules.dense_prediction import convolutions, doubling, fields, fusing, maps, reassembling
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import (
    HEADS,
    HIDDEN,
    LAYERS,
    MLP,
    NEUTRAL,
    PATCH,
    POOLED,
    QKV_BIAS,
    WHOLE_HEADS,
    grid,
    patches,
    projection,
    split_layer,
    token,
)
from weighbridge.blueprints.vision.depth_anything import last
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Sizes, choice, sides, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any


def plain(hybrid: Any) -> Any:
    """Refuse the hybrid, whose ResNet is not described here."""
    if hybrid:
        raise ConfigError("the hybrid of a ResNet and a transformer is not described", key="is_hybrid", value=hybrid)
    return hybrid


FIELDS = (
    *(HIDDEN, MLP, LAYERS, HEADS, WHOLE_HEADS, *PATCH, CHANNELS, QKV_BIAS, LABELS, POOLED),
    *sides("image", "image_size", 384, "R", "side of the image"),
    size("pooled_width", "pooler_output_size", lambda c: c.hidden, "O", "width of the pooled output"),
    composed("backbone", "backbone_config", "dinov2 beit", optional=True),
    choice("hybrid", "is_hybrid", False, read=plain),
    choice("readout", "readout_type", "project"),
    *fields(256, (96, 192, 384, 768)),
    number("used", "head_in_index", -1, minimum=-99),
    switch("normed", "use_batch_norm_in_fusion_residual", False),
    switch("fusion_bias", "use_bias_in_fusion_residual", lambda c: not c.normed),
    switch("projected", "add_projection", False),
    switch("auxiliary", "use_auxiliary_head", True),
)


def dpt(c: Sizes, name: str = "", *, pooled: bool = False) -> Part:
    """Describe DPTModel: ViT with a table of positions that is resized."""
    H = c.hidden
    learned = token("cls_token", H), token("position_embeddings", H, patches(c) + 1)
    embeddings = part("embeddings", *learned, part("patch_embeddings", projection(c), kind="embeddings"), kind="embeddings")
    pooler = (part("pooler", linear("dense", H, c.pooled_width), kind="pooler", stream="one"),) if pooled else ()
    children = (embeddings, part("encoder", split_layer(c), kind="encoder"), layer_norm("layernorm", H), *pooler)
    return part(name, *children, kind="backbone" if name else "model", stream=patches(c) + 1)


def alone(c: Sizes) -> Part:
    """Describe DPTModel: with a pooler unless that is left out."""
    return dpt(c, pooled=c.pooled)


def neck(c: Sizes, hidden: Size, at: Grid) -> tuple[Part, list[tuple[Grid, Grid]]]:
    """Describe the maps of four sizes and the steps that add them up, and return the steps beside it."""
    found = maps(c, at)
    steps = doubling(found)
    layers = (fusing(str(i), c.fusion, *step, first=i == 0, bias=c.fusion_bias, normed=c.normed) for i, step in enumerate(steps))
    stages = reassembling(c, hidden, at, readout=c.readout == "project"), convolutions(c, found)
    return part("neck", *stages, part("fusion_stage", part("layers", *layers)), kind="neck"), steps


def depth_estimation(c: Sizes) -> Part:
    """Describe DPTForDepthEstimation: one number for every place, on twice the last map in the end."""
    inner = c if c.backbone is None else c.backbone
    body = dpt(c, "dpt") if c.backbone is None else under("backbone", submodel(inner, "Backbone"))
    F, (between, steps) = c.fusion, neck(c, inner.hidden, grid(inner))
    places = area(last(steps, c.used))
    convs = (
        conv2d("0", F, F // 2, 3, stream=places),
        conv2d("2", F // 2, 32, 3, stream=4 * places),
        conv2d("4", 32, 1, 1, stream=4 * places),
    )
    projected = (conv2d("projection", 256, 256, 3, stream=places),) if c.projected else ()
    return part("", body, between, part("head", *projected, part("head", *convs), kind="head"), kind="model")


def scores(c: Sizes, name: str, at: Grid) -> Part:
    """Describe a convolution, a norm, and scores for every place."""
    first = conv2d("0", c.fusion, c.fusion, 3, stream=area(at), bias=False)
    convs = first, batch_norm("1", c.fusion), conv2d("4", c.fusion, c.labels, 1, stream=area(at))
    return part(name, part("head", *convs), kind="head")


def segmentation(c: Sizes) -> Part:
    """Describe DPTForSemanticSegmentation, always with a transformer of its own."""
    hidden = c.hidden if c.backbone is None else c.backbone.hidden
    between, steps = neck(c, hidden, grid(c))
    auxiliary = (scores(c, "auxiliary_head", steps[-1][1]),) if c.auxiliary else ()
    return part("", dpt(c, "dpt"), between, scores(c, "head", last(steps, c.used)), *auxiliary, kind="model")


CLASSES = {"DPTModel": alone, "DPTForDepthEstimation": depth_estimation, "DPTForSemanticSegmentation": segmentation}
KEYS = NEUTRAL | frozenset(
    """auxiliary_loss_weight backbone_featmap_shape backbone_out_indices neck_ignore_stages pooler_act semantic_classifier_dropout
    semantic_loss_ignore_index""".split()
)

FAMILIES = {"dpt": Family("dpt", FIELDS, CLASSES, "DPTModel", KEYS)}
