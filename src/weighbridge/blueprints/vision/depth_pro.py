"""Depth Pro: depth from patches of an image at several scales and the whole of it, each through a vision transformer.

Source: Bochkovskii et al. 2024, arXiv 2410.02073; names as in transformers 5.23.0, models/depth_pro/modeling_depth_pro.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.backbones import hidden_size, patch_grid
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, Field, computed, sequence, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, linear, part, replace
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

SIDE = 384
MODELS = {"whole": "image_model_config", "pieces": "patch_model_config", "angle": "fov_model_config"}
"""The transformers over the whole image, over pieces of it, and over the whole again for the field of view."""
CUT = unknown("the number of patches depends on the size of the picture")


def refuse_mismatch(c: Config) -> bool:
    """Refuse lists that do not fit each other and images of another side than the patches, as the reference does."""
    if not len(c.ratios) == len(c.overlaps) == len(c.scaled):
        raise ConfigError(Text("expected {many} entries", many=len(c.ratios)), key="scaled_images_feature_dims", value=list(c.scaled))
    if list(c.ratios) != sorted(c.ratios):
        raise ConfigError("they go from low to high", key="scaled_images_ratios", value=list(c.ratios))
    if len(c.hooks) != len(c.hooked):
        raise ConfigError(Text("expected {many} entries", many=len(c.hooks)), key="intermediate_feature_dims", value=list(c.hooked))
    if c.fusion // 2**c.fov_layers == 0:
        raise ConfigError("fewer layers, or more channels", key="num_fov_head_layers", value=c.fov_layers)
    for word, key in MODELS.items():
        inner = getattr(c, word)
        if "image_height" in vars(inner) and inner.image_height != c.side:
            raise ConfigError(Text("its images are {side} wide, as the patches", side=c.side), key=f"{key}.image_size")
    return True


def last_kernel(c: Config) -> int:
    """Return the side of the last convolution of the head of the field of view, as large as the map that is left."""
    rows = patch_grid(c.whole)[0]
    if not isinstance(rows, int):
        return 1
    return int((rows - 1) / 2**c.fov_layers + 1)


FIELDS = (
    Field("side", "patch_size", SIDE, "choice"),
    *(model_config(word, key, "dinov2", absent={"image_size": SIDE}) for word, key in MODELS.items()),
    size("fusion", "fusion_hidden_size", 256, "F", "channels of the fused maps"),
    sequence("hooks", "intermediate_hook_ids", [11, 5]),
    numbers("hooked", "intermediate_feature_dims", (256, 256)),
    sequence("ratios", "scaled_images_ratios", [0.25, 0.5, 1]),
    sequence("overlaps", "scaled_images_overlap_ratios", [0.0, 0.5, 0.25]),
    numbers("scaled", "scaled_images_feature_dims", (1024, 1024, 512)),
    switch("normed", "use_batch_norm_in_fusion_residual", False),
    switch("bias", "use_bias_in_fusion_residual", True),
    switch("viewed", "use_fov_model", False),
    Field("fov_layers", "num_fov_head_layers", 2, "choice"),
    computed("checked", refuse_mismatch),
    computed("last_kernel", last_kernel),
    computed("same", lambda c: c.hooked[-1] == c.fusion),
)


def enlarge(name: str, inputs: Size, outputs: Size, *, bias: bool = False) -> Part:
    """Describe a transposed convolution that makes four places of each."""
    tensors = Tensor("weight", (inputs, outputs, 2, 2)), Tensor("bias", (outputs,), "bias")
    return part(name, *(tensors if bias else tensors[:1]), kind="convolution")


def upsample(name: str, inputs: Size, inner: Size, outputs: Size, steps: int) -> Part:
    """Describe a map of each place, and steps that enlarge."""
    first = conv2d("0", inputs, inner, 1, bias=False)
    others = (enlarge(str(step + 1), inner if step == 0 else outputs, outputs) for step in range(steps))
    return part(name, part("layers", first, *others), kind="stage")


def neck(c: Config) -> Part:
    """Describe what brings the maps of all scales to the widths that are fused."""
    wide, H, F = hidden_size(c.whole), hidden_size(c.pieces), c.fusion
    image = part("image_block", part("layers", enlarge("0", wide, c.scaled[0], bias=True)), kind="stage")
    scaled = (upsample(str(i), H, width, width, 1) for i, width in enumerate(c.scaled))
    hooked = (upsample(str(i), H, F if i == 0 else width, width, 2 + i) for i, width in enumerate(c.hooked))
    widths = (*c.scaled, *c.hooked)
    kept = widths[:-1] if c.same else widths
    projections = (conv2d(str(i), width, F, 3, bias=False) for i, width in enumerate(kept))
    return part(
        "neck",
        part("feature_upsample", image, part("scaled_images", *scaled), part("intermediate", *hooked), kind="stage"),
        conv2d("fuse_image_with_low_res", 2 * c.scaled[0], c.scaled[0], 1),
        part("feature_projection", part("projections", *projections), kind="projector"),
        kind="neck",
    )


def body(c: Config, name: str = "") -> Part:
    """Describe DepthProModel."""
    named = ("patch_encoder", c.pieces), ("image_encoder", c.whole)
    towers = (part(tower, as_child("model", submodel(inner)), kind="encoder") for tower, inner in named)
    return part(name, part("encoder", *towers, kind="encoder"), neck(c), kind="backbone" if name else "model", stream=CUT)


def fusion_layer(c: Config, *, enlarged: bool) -> tuple[Part, ...]:
    """Describe a step that adds a map to what came from the smaller ones."""
    F = c.fusion
    convs = (conv2d(f"convolution{i}", F, F, 3, bias=c.bias) for i in (1, 2))
    norms = (batch_norm(f"batch_norm{i}", F) for i in (1, 2)) if c.normed else ()
    unit = part("residual_layer1", *convs, *norms, kind="convolution")
    deconv = (enlarge("deconv", F, F),) if enlarged else ()
    return unit, replace(unit, name="residual_layer2"), *deconv, conv2d("projection", F, F, 1)


def fusion(c: Config) -> Part:
    """Describe the steps that add up the maps, each but the last of which enlarges."""
    steps = len(c.hooks) + len(c.ratios) - 1
    layers = part("intermediate", *fusion_layer(c, enlarged=True), kind="stage", repeat=steps)
    return part("fusion_stage", layers, part("final", *fusion_layer(c, enlarged=False), kind="stage"), kind="neck")


def head(c: Config) -> Part:
    """Describe the head: depth at twice the size of the last map."""
    F = c.fusion // 2
    convs = conv2d("0", c.fusion, F, 3), enlarge("1", F, F, bias=True), conv2d("2", F, 32, 3), conv2d("4", 32, 1, 1)
    return part("head", part("layers", *convs), kind="head")


def field_of_view(c: Config) -> Part:
    """Describe what predicts the field of view: a third transformer, and convolutions down to one number."""
    F = c.fusion
    own = as_child("model", submodel(c.angle)), linear("neck", hidden_size(c.angle), F // 2)

    def channels(halvings: int) -> Size:
        return (F + 2**halvings - 1) // 2**halvings

    layers = [conv2d(str(2 * i), channels(i + 1), channels(i + 2), 3) for i in layer_range(c.fov_layers)]
    last = conv2d(str(2 * c.fov_layers), channels(c.fov_layers + 1), 1, c.last_kernel)
    return part(
        "fov_model",
        part("fov_encoder", *own, kind="encoder"),
        conv2d("conv", F, F // 2, 3),
        part("head", part("layers", *layers, last), kind="head"),
        kind="head",
    )


def estimation(c: Config) -> Part:
    """Describe DepthProForDepthEstimation."""
    view = (field_of_view(c),) if c.viewed else ()
    return part("", body(c, "depth_pro"), fusion(c), head(c), *view, kind="model", stream=CUT)


def normalize_config(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Give the transformers' images the side of the patches, as the class does."""
    result, side = dict(raw), raw.get("patch_size", SIDE)
    for key in MODELS.values():
        inner = result.get(key)
        if isinstance(inner, Mapping):
            result[key] = {**inner, "image_size": side}
    return result


CLASSES = {"DepthProModel": body, "DepthProForDepthEstimation": estimation}
FAMILIES = {
    "depth_pro": Family(
        "depth_pro", FIELDS, CLASSES, "DepthProModel", frozenset(("merge_padding_value",)), normalize_config=normalize_config
    )
}
