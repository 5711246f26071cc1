"""YOLOS: a plain vision transformer with a hundred learned detection tokens after its patches.

Source: You Only Look at One Sequence, arXiv 2106.00666; names as in transformers 5.23.0, models/yolos/modeling_yolos.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    POOLED,
    QKV_BIAS,
    SQUARE_PATCH,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_LAYERS,
    VIT_MLP,
    WHOLE_HEADS,
    patches,
    pooler,
    projection,
    split_layer,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, sides, size, switch
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *(VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, CHANNELS, LABELS, QKV_BIAS, POOLED),
    *sides("image", "image_size", (512, 864), "R", "image size"),
    *SQUARE_PATCH,
    size("objects", "num_detection_tokens", 100, "Q", "object queries"),
    switch("middle", "use_mid_position_embeddings", True),
)


def yolos(c: Config, *, pooled: bool, name: str = "") -> Part:
    """Describe YolosModel: positions are added again behind each layer but the last."""
    H = c.hidden
    learned = (token("cls_token", H), token("detection_tokens", H, c.objects), token("position_embeddings", H, patches(c) + c.objects + 1))
    embeddings = part("embeddings", *learned, part("patch_embeddings", projection(c), kind="embeddings"), kind="embeddings")
    # The reference divides the area of the image here, not each of its sides.
    seen = c.image_height * c.image_width // (c.patch_height * c.patch_width) + c.objects + 1
    table = Tensor("mid_position_embeddings", (c.layers - 1, 1, seen, H), "embedding")
    middle = (part("interpolation", table, kind="embedding"),) if c.middle else ()
    children = (embeddings, part("encoder", split_layer(c), *middle, kind="encoder"), layer_norm("layernorm", H))
    last = (pooler(c),) if pooled else ()
    return part(name, *children, *last, kind="backbone" if name else "model", stream=patches(c) + c.objects + 1)


def bare_model(c: Config) -> Part:
    """Describe YolosModel: with a pooler unless that is left out."""
    return yolos(c, pooled=c.pooled)


def prediction(name: str, c: Config, outputs: Size) -> Part:
    """Describe three linear maps, over the detection tokens alone."""
    widths = (c.hidden, c.hidden, c.hidden, outputs)
    maps = (linear(str(i), widths[i], widths[i + 1]) for i in range(3))
    return part(name, part("layers", *maps, kind="feed_forward"), kind="head", stream=c.objects)


def detection(c: Config) -> Part:
    """Describe YolosForObjectDetection: for each token a class, of which one is none, and a box."""
    heads = prediction("class_labels_classifier", c, c.labels + 1), prediction("bbox_predictor", c, 4)
    return part("", yolos(c, pooled=False, name="vit"), *heads, kind="model")


OWN_IGNORED_KEYS = IGNORED_KEYS | frozenset(
    "auxiliary_loss class_cost bbox_cost giou_cost bbox_loss_coefficient giou_loss_coefficient eos_coefficient".split()
)

FAMILIES = {
    "yolos": Family("yolos", FIELDS, {"YolosModel": bare_model, "YolosForObjectDetection": detection}, "YolosModel", OWN_IGNORED_KEYS)
}
