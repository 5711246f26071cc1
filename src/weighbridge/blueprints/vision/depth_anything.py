"""Depth Anything, prompted or not, and CHMv2: DINO features with a DPT head for depth.

Source: arXiv 2401.10891 and 2406.09414, 2412.14015 (prompts); names as in transformers 5.23.0,
models/{depth_anything,prompt_depth_anything,chmv2}/modeling_*.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.backbones import hidden_size, patch_grid, refuse_named_backbone
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.dense_prediction import (
    convolutions,
    double_each,
    fields,
    fusion_layer,
    match_next,
    reassemble_stage,
    reassembled_maps,
)
from weighbridge.blueprints.modules.feature_maps import Grid, area
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import PATCH, Config, choice, constant, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, matmul, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part

SMALL = {"image_size": 518, "hidden_size": 384, "num_attention_heads": 6, "out_indices": [9, 10, 11, 12], "reshape_hidden_states": False}
LARGE = {
    "image_size": 416,
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_hidden_layers": 24,
    "num_register_tokens": 4,
    "key_bias": True,
    "out_indices": [6, 12, 18, 24],
    "return_class_token": True,
}
ANYTHING = (
    model_config("backbone", "backbone_config", "dinov2 beit", absent=SMALL),
    PATCH.with_default(14),
    size("inner", "reassemble_hidden_size", 384, "H", "hidden size"),
    *fields(64, (48, 96, 192, 384)),
    size("head_hidden", "head_hidden_size", 32, "U", "channels of the head"),
    number("used", "head_in_index", -1, minimum=-99),
)
CHMV2 = (
    model_config("backbone", "backbone_config", "dinov3_vit", absent=LARGE),
    *fields(256, (128, 256, 512, 1024), "post_process_channels"),
    size("head_hidden", "head_hidden_size", 128, "U", "channels of the head"),
    number("bins", "number_output_channels", 256),
    choice("readout", "readout_type", "project"),
    choice("norm", "norm_strategy", "chmv2_mixlog"),
)


def prompt_convolutions(width: Size, at: Grid) -> Part:
    """Describe the convolutions over a depth map that is put in."""
    inputs = (1, width, width)
    convs = (conv2d(f"convolution{i + 1}", inner, width, 3, stream=area(at)) for i, inner in enumerate(inputs))
    return part("prompt_depth_layer", *convs, kind="convolution", requires="prompt")


def last_map(steps: list[tuple[Grid, Grid]], index: int) -> Grid:
    """Return the fused map that the head takes."""
    if not -len(steps) <= index < len(steps):
        raise ConfigError(Text("there are {count} fused maps", count=len(steps)), key="head_in_index", value=index)
    return steps[index][1]


def whole_patches(c: Config, side: Size) -> Grid:
    """Return the pixels of the image that whole patches cover."""
    if "image_height" not in vars(c):
        return patch_grid(c)
    return c.image_height // side * side, c.image_width // side * side


def depth_estimation(c: Config) -> Part:
    """Describe DepthAnythingForDepthEstimation and its variant with prompts: a head that works on every pixel in the end."""
    inner, F, at = c.backbone, c.fusion, patch_grid(c.backbone)
    found = reassembled_maps(c, at)
    steps = match_next(found)
    layers = (
        fusion_layer(str(i), F, *step, *((prompt_convolutions(F, step[0]),) if c.prompted else ()), first=i == 0)
        for i, step in enumerate(steps)
    )
    neck = reassemble_stage(c, c.inner, at), convolutions(c, found), part("fusion_stage", part("layers", *layers))
    pixels = area(whole_patches(inner, c.patch))
    head = (
        conv2d("conv1", F, F // 2, 3, stream=area(last_map(steps, -1 if c.prompted else c.used))),
        conv2d("conv2", F // 2, c.head_hidden, 3, stream=pixels),
        conv2d("conv3", c.head_hidden, 1, 1, stream=pixels),
    )
    return part(
        "",
        as_child("backbone", submodel(inner, "Backbone")),
        part("neck", *neck, kind="neck"),
        part("head", *head, kind="head"),
        kind="model",
    )


def chmv2(c: Config) -> Part:
    """Describe CHMv2ForDepthEstimation: scores for bins of depth, averaged with a matrix product unless they are mixed."""
    inner, F, at = c.backbone, c.fusion, patch_grid(c.backbone)
    found = reassembled_maps(c, at)
    steps = double_each(found)
    first, *others = (fusion_layer(str(i), F, *step, first=False) for i, step in enumerate(steps))
    first = replace(first, children=tuple(child for child in first.children if child.name != "residual_layer1"))
    rows, columns = steps[-1][1]
    pixels = rows * columns * 4
    convs = (
        conv2d("0", F, F // 2, 3, stream=rows * columns),
        conv2d("2", F // 2, c.head_hidden, 3, stream=pixels),
        conv2d("4", c.head_hidden, c.bins, 1, stream=pixels),
    )
    head = part(
        "head",
        reassemble_stage(c, hidden_size(inner), at, readout=c.readout == "project"),
        convolutions(c, found),
        part("fusion_layers", first, *others),
        part("conv_depth", part("head", *convs), kind="head"),
        *((matmul("depth", (c.bins, pixels)),) if c.bins > 1 and c.norm != "chmv2_mixlog" else ()),
        kind="head",
    )
    return part("", as_child("backbone", submodel(inner, "Backbone")), head, kind="model")


def family(model_type: str, class_name: str, *, prompted: bool) -> Family:
    """Return the family of one of the two."""
    keys = IGNORED_KEYS | {"depth_estimation_type", "max_depth"}
    fields = (*ANYTHING, constant("prompted", prompted))
    return Family(model_type, fields, {class_name: depth_estimation}, class_name, keys, normalize_config=refuse_named_backbone)


FAMILIES = {
    "depth_anything": family("depth_anything", "DepthAnythingForDepthEstimation", prompted=False),
    "prompt_depth_anything": family("prompt_depth_anything", "PromptDepthAnythingForDepthEstimation", prompted=True),
    "chmv2": Family(
        "chmv2",
        CHMV2,
        {"CHMv2ForDepthEstimation": chmv2},
        "CHMv2ForDepthEstimation",
        IGNORED_KEYS | {"patch_size", "bins_strategy", "min_depth", "max_depth"},
        normalize_config=refuse_named_backbone,
    ),
}
