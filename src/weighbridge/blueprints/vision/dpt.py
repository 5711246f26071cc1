"""DPT: dense prediction (depth, segmentation) from the layers of a vision transformer or another backbone.

Source: arXiv 2103.13413; names as in transformers 5.23.0, models/dpt/modeling_dpt.py. The hybrid has a ResNet in place of
the patches, and takes its first two maps as they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.backbones import hidden_size, patch_grid
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.dense_prediction import (
    convolutions,
    double_each,
    fields,
    fusion_layer,
    reassemble_stage,
    reassembled_maps,
)
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    POOLED,
    QKV_BIAS,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_LAYERS,
    VIT_MLP,
    VIT_PATCH,
    WHOLE_HEADS,
    grid,
    patches,
    projection,
    split_layer,
    token,
)
from weighbridge.blueprints.vision.depth_anything import last_map
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, choice, sides, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from typing import Any


RESNET = {
    "model_type": "bit",
    "global_padding": "same",
    "layer_type": "bottleneck",
    "depths": [3, 4, 9],
    "out_features": ["stage1", "stage2", "stage3"],
    "embedding_dynamic_padding": True,
}
"""The hybrid's ResNet, where the config has none."""


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Put the ResNet into a hybrid's config that leaves it out."""
    return {**raw, "backbone_config": RESNET} if raw.get("is_hybrid") and raw.get("backbone_config") is None else dict(raw)


def feature_width(value: Any) -> int:
    """Take how many channels the maps have that a hybrid turns into vectors: the second entry of their shape."""
    if not isinstance(value, (list, tuple)) or len(value) != 4 or any(type(entry) is not int or entry < 1 for entry in value):
        raise ConfigError(
            Text("expected the four sizes of a map, found {value!r:.60}", value=value), key="backbone_featmap_shape", value=value
        )
    return value[1]


FIELDS = (
    *(VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, *VIT_PATCH, CHANNELS, QKV_BIAS, LABELS, POOLED),
    *sides("image", "image_size", 384, "R", "image size"),
    size("pooled_width", "pooler_output_size", lambda c: c.hidden, "O", "width of the pooled output"),
    model_config("backbone", "backbone_config", "bit dinov2 beit", optional=True),
    switch("hybrid", "is_hybrid", False),
    choice("feature_width", "backbone_featmap_shape", [1, 1024, 24, 24], read=feature_width),
    choice("readout", "readout_type", "project"),
    *fields(256, (96, 192, 384, 768)),
    number("used", "head_in_index", -1, minimum=-99),
    switch("normed", "use_batch_norm_in_fusion_residual", False),
    switch("fusion_bias", "use_bias_in_fusion_residual", lambda c: not c.normed),
    switch("projected", "add_projection", False),
    switch("auxiliary", "use_auxiliary_head", True),
)


def dpt(c: Config, name: str = "", *, pooled: bool = False) -> Part:
    """Describe DPTModel: ViT with a table of positions that is resized."""
    H = c.hidden
    learned = token("cls_token", H), token("position_embeddings", H, patches(c) + 1)
    front: tuple[Part, ...] = (part("patch_embeddings", projection(c), kind="embeddings"),)
    if c.hybrid:
        front = as_child("backbone", submodel(c.backbone, "Backbone")), conv2d("projection", c.feature_width, H, 1)
    embeddings = part("embeddings", *learned, *front, kind="embeddings")
    pooler = (part("pooler", linear("dense", H, c.pooled_width), kind="pooler", stream="one"),) if pooled else ()
    children = (embeddings, part("encoder", split_layer(c), kind="encoder"), layer_norm("layernorm", H), *pooler)
    return part(name, *children, kind="backbone" if name else "model", stream=patches(c) + 1)


def bare_model(c: Config) -> Part:
    """Describe DPTModel: with a pooler unless that is left out."""
    return dpt(c, pooled=c.pooled)


def width_of(c: Config) -> Size:
    """Return the width of what the neck is given: the backbone's, if it has one width."""
    own: Size = c.hidden
    return own if c.backbone is None else hidden_size(c.backbone, own)


def neck(c: Config, hidden: Size, at: Grid) -> tuple[Part, list[tuple[Grid, Grid]]]:
    """Describe the maps of four sizes and the steps that add them up, and return the steps beside it."""
    found = reassembled_maps(c, at)
    steps = double_each(found)
    layers = (fusion_layer(str(i), c.fusion, *step, first=i == 0, bias=c.fusion_bias, normed=c.normed) for i, step in enumerate(steps))
    ready = c.backbone is not None and c.backbone.model_type == "swinv2"
    made = () if ready else (reassemble_stage(c, hidden, at, readout=c.readout == "project", first=2 if c.hybrid else 0),)
    stages = *made, convolutions(c, found)
    return part("neck", *stages, part("fusion_stage", part("layers", *layers)), kind="neck"), steps


def depth_estimation(c: Config) -> Part:
    """Describe DPTForDepthEstimation: one number for every place, on twice the last map in the end."""
    alone = c.backbone is None or c.hybrid
    body = dpt(c, "dpt") if alone else as_child("backbone", submodel(c.backbone, "Backbone"))
    F, (between, steps) = c.fusion, neck(c, width_of(c), grid(c) if alone else patch_grid(c.backbone))
    places = area(last_map(steps, c.used))
    convs = (
        conv2d("0", F, F // 2, 3, stream=places),
        conv2d("2", F // 2, 32, 3, stream=4 * places),
        conv2d("4", 32, 1, 1, stream=4 * places),
    )
    projected = (conv2d("projection", 256, 256, 3, stream=places),) if c.projected else ()
    return part("", body, between, part("head", *projected, part("head", *convs), kind="head"), kind="model")


def scores(c: Config, name: str, at: Grid) -> Part:
    """Describe a convolution, a norm, and scores for every place."""
    first = conv2d("0", c.fusion, c.fusion, 3, stream=area(at), bias=False)
    convs = first, batch_norm("1", c.fusion), conv2d("4", c.fusion, c.labels, 1, stream=area(at))
    return part(name, part("head", *convs), kind="head")


def segmentation(c: Config) -> Part:
    """Describe DPTForSemanticSegmentation, always with a transformer of its own."""
    between, steps = neck(c, width_of(c), grid(c))
    auxiliary = (scores(c, "auxiliary_head", steps[-1][1]),) if c.auxiliary else ()
    return part("", dpt(c, "dpt"), between, scores(c, "head", last_map(steps, c.used)), *auxiliary, kind="model")


CLASSES = {"DPTModel": bare_model, "DPTForDepthEstimation": depth_estimation, "DPTForSemanticSegmentation": segmentation}
OWN_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    """auxiliary_loss_weight backbone_out_indices neck_ignore_stages pooler_act semantic_classifier_dropout
    semantic_loss_ignore_index""".split()
)

FAMILIES = {"dpt": Family("dpt", FIELDS, CLASSES, "DPTModel", OWN_IGNORED_KEYS, normalize_config=normalize_config)}
