"""timm's FastViT, MobileCLIP's and FastVLM's image encoders among them: convolutions of several branches, or of the one that these fold into.

Source: arXiv 2303.14189 (FastViT), 2311.17049 (MobileCLIP); timm 1.0.31, timm/models/fastvit.py, whose live class the tests hold this to.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, height_width, module_list
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.blueprints.modules.timm_models import arguments_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream
from weighbridge.core.parts import attend, batch_norm, conv2d, layer_norm, linear, part
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

HEAD_DIM = 32
MIXERS = ("repmixer", "attention")


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _refuse_uneven(c: Config) -> bool:
    lists = {"embed_dims": c.widths, "mlp_ratios": c.ratios, "token_mixers": c.mixers, "downsamples": c.halving, "pos_embs": c.placed}
    for key, entries in (lists | {"se_downsamples": c.squeezed}).items():
        if len(entries) < len(c.depths):
            raise ConfigError("one entry for each stage is wanted", key=key, value=list(entries))
    for kind in c.mixers:
        if kind not in MIXERS:
            raise ConfigError("expected repmixer or attention", key="token_mixers", value=kind)
    for kind, width in zip(c.mixers, c.widths, strict=False):
        if kind == "attention" and width % HEAD_DIM:
            raise ConfigError("attention has heads of 32 channels each", key="embed_dims", value=width)
    for before, after in zip(c.widths, c.widths[1:], strict=False):
        if after % before:
            raise ConfigError("each width must be a multiple of the one before", key="embed_dims", value=list(c.widths))
    return True


FIELDS = (
    size("channels", "in_chans", 3, "N", "image channels"),
    choice("headed", "num_classes", 1000, read=bool, report_default=False),
    size("labels", "num_classes", 1000, "C", "number of labels", minimum=0),
    numbers("depths", "layers", (2, 2, 6, 2)),
    numbers("widths", "embed_dims", (64, 128, 256, 512)),
    choice("ratios", "mlp_ratios", [4] * 4, read=_as_tuple, report_default=False),
    choice("mixers", "token_mixers", ["repmixer"] * 4, read=_as_tuple, report_default=False),
    choice("halving", "downsamples", [False, True, True, True], read=_as_tuple, report_default=False),
    choice("squeezed", "se_downsamples", [False] * 4, read=_as_tuple, report_default=False),
    choice("placed", "pos_embs", [None] * 4, read=_as_tuple, report_default=False),
    number("kernel", "repmixer_kernel_size", 3)._replace(report_default=False),
    number("patch", "down_patch_size", 7)._replace(report_default=False),
    number("stride", "down_stride", 2)._replace(report_default=False),
    choice("scaled", "layer_scale_init_value", 1e-5, report_default=False, read=lambda value: value is not None)._replace(nullable=True),
    switch("stem_scaled", "stem_use_scale_branch", True, report_default=False),
    switch("folded", "inference_mode", False, report_default=False),
    choice("last_ratio", "cls_ratio", 2.0, report_default=False),
    choice("norm", "norm_layer", None, report_default=False),
    height_width("image", "img_size", 256)._replace(report_default=False),
    computed("even", _refuse_uneven),
)


def conv_norm(name: str, inputs: int, outputs: int, kernel: int, groups: int, stream: Stream) -> Part:
    """Describe a convolution and its batch norm."""
    conv = conv2d("conv", inputs, outputs, kernel, groups=groups, bias=False, stream=stream)
    return part(name, conv, batch_norm("bn", outputs), kind="convolution")


def squeeze(channels: int, inner: int) -> Part:
    """Describe a gate for each channel, computed from the means of all."""
    return part("se", conv2d("fc1", channels, inner, 1), conv2d("fc2", inner, channels, 1), kind="gate", stream="one")


def mobile_one(
    c: Config,
    name: str,
    widths: tuple[int, int],
    kernel: int,
    places: Stream,
    *,
    apart: bool = False,
    steps: int = 1,
    squeezed: bool = False,
    scale: bool = True,
    convolves: bool = True,
    folds: bool = True,
) -> Part:
    """Describe a convolution in training: a norm alone, a convolution, one of a single place, which are added; or the one they fold into."""
    inputs, outputs = widths
    groups = inputs if apart else 1
    gate = (squeeze(outputs, int(outputs / 16 + 0.5)),) if squeezed else ()
    if c.folded and folds:
        branches: tuple[Node, ...] = (conv2d("reparam_conv", inputs, outputs, kernel, groups=groups, stream=places),)
    else:
        convs = part("conv_kxk", conv_norm("0", inputs, outputs, kernel, groups, places), kind="convolution")
        branches = (
            *((batch_norm("identity", inputs),) if steps == 1 and inputs == outputs else ()),
            *((convs,) if convolves else ()),
            *((conv_norm("conv_scale", inputs, outputs, 1, groups, places),) if kernel > 1 and scale else ()),
        )
    return part(name, *gate, *branches, kind="convolution", stream=places)


def large_kernel(c: Config, inputs: int, outputs: int, squeezed: bool, places: Stream) -> Part:
    """Describe the convolution that halves the map: a large kernel, and a small one in training."""
    gate = (squeeze(outputs, max(8, int(outputs / 4 + 4) // 8 * 8)),) if squeezed else ()
    if c.folded:
        branches: tuple[Part, ...] = (conv2d("reparam_conv", inputs, outputs, c.patch, groups=inputs, stream=places),)
    else:
        kernels = (("large_conv", c.patch), ("small_conv", 3))
        branches = tuple(conv_norm(name, inputs, outputs, kernel, inputs, places) for name, kernel in kernels)
    return part("0", *branches, *gate, kind="convolution", stream=places)


def feed_forward(width: int, ratio: float, places: Stream) -> Part:
    """Describe a convolution of each channel and an MLP of each place."""
    inner = int(width * ratio)
    conv = conv_norm("conv", width, width, 7, width, places)
    return part("mlp", conv, conv2d("fc1", width, inner, 1), conv2d("fc2", inner, width, 1), kind="feed_forward", stream=places)


def scale(c: Config, name: str, width: int) -> tuple[Part, ...]:
    """Describe a factor for each channel, where there is one."""
    return (part(name, Tensor("gamma", (width, 1, 1), "gain"), kind="scale"),) if c.scaled else ()


def rep_mixer(c: Config, width: int, places: Stream) -> Part:
    """Describe the convolution that mixes places, in training with a norm beside it."""
    if c.folded:
        return part("token_mixer", conv2d("reparam_conv", width, width, c.kernel, groups=width), kind="convolution", stream=places)
    same = (width, width)
    beside = mobile_one(c, "norm", same, c.kernel, places, apart=True, scale=False, convolves=False, folds=False)
    mixer = mobile_one(c, "mixer", same, c.kernel, places, apart=True, folds=False)
    return part("token_mixer", beside, mixer, *scale(c, "layer_scale", width), kind="convolution", stream=places)


def block(c: Config, index: int, places: Stream) -> tuple[Node, ...]:
    """Describe a layer of a stage: by convolutions or by attention."""
    width, mlp = c.widths[index], feed_forward(c.widths[index], c.ratios[index], places)
    if c.mixers[index] == "repmixer":
        return rep_mixer(c, width, places), mlp, *scale(c, "layer_scale", width)
    heads = attend(heads=width // HEAD_DIM, head_dim=HEAD_DIM)
    attention = part("token_mixer", linear("qkv", width, 3 * width, bias=False), linear("proj", width, width), heads, kind="self_attention")
    norm = layer_norm("norm", width) if c.norm is not None and "ayer" in str(c.norm) else batch_norm("norm", width)
    return norm, attention, *scale(c, "layer_scale_1", width), mlp, *scale(c, "layer_scale_2", width)


def stage(c: Config, index: int, inputs: int, grid: Grid) -> tuple[tuple[Node, ...], Grid]:
    """Describe a stage, and return the map that it makes."""
    width = c.widths[index]
    first: tuple[Part, ...] = ()
    if c.halving[index] or inputs != width:
        grid = conv_output(grid, c.patch, c.stride, c.patch // 2)
        large = large_kernel(c, inputs, width, bool(c.squeezed[index]), area(grid))
        first = (part("downsample", part("proj", large, mobile_one(c, "1", (width, width), 1, area(grid)), kind="convolution")),)
    places = area(grid)
    encoded = conv2d("reparam_conv" if c.folded else "pos_enc", width, width, 7, groups=width, stream=places)
    where = (part("pos_emb", encoded, kind="embeddings"),) if c.placed[index] is not None else ()
    layers = part("blocks", *block(c, index, places), kind="layer", repeat=c.depths[index], stream=places)
    return (*first, *where, layers), grid


def fastvit(c: Config) -> Part:
    """Describe FastViT."""
    width = c.widths[0]
    halved = conv_output(c.image, 3, 2, 1)
    grid = conv_output(halved, 3, 2, 1)
    stem = part(
        "stem",
        mobile_one(c, "0", (c.channels, width), 3, area(halved), steps=2, scale=c.stem_scaled),
        mobile_one(c, "1", (width, width), 3, area(grid), apart=True, steps=2, scale=c.stem_scaled),
        mobile_one(c, "2", (width, width), 1, area(grid), scale=c.stem_scaled),
        kind="embeddings",
    )
    found, inputs = [], width
    for index in layer_range(len(c.depths)):
        inner, grid = stage(c, index, inputs, grid)
        found.append(inner)
        inputs = c.widths[index]
    features = int(inputs * c.last_ratio)
    last = mobile_one(c, "final_conv", (inputs, features), 3, area(grid), apart=True, squeezed=True)
    head = (part("head", linear("fc", features, c.labels), kind="head", stream="one"),) if c.headed else ()
    return part("", stem, module_list("stages", *found), last, *head, kind="model", stream=area(grid))


IGNORED_KEYS = frozenset(
    """act_layer architecture drop_path_rate drop_rate fork_feat global_pool lkc_use_act model_args num_features pretrained_cfg
    proj_drop_rate""".split()
)
FAMILIES = {
    "timm_fastvit": Family("timm_fastvit", FIELDS, {"timm.FastVit": fastvit}, "timm.FastVit", IGNORED_KEYS, normalize_config=arguments_of)
}
