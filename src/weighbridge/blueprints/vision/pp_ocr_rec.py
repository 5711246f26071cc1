"""PaddleOCR's readers of a line of text: a network of convolutions, SVTR's layers over the line, and a character for each place.

Source: arXiv 2507.05595 (PP-OCRv5), 2205.00159 (SVTR); names as in transformers 5.23.0, models/pp_ocrv5_mobile_rec,
models/pp_ocrv5_server_rec, models/pp_ocrv6_small_rec and models/pp_ocrv6_tiny_rec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from weighbridge.blueprints.modules.backbones import backbone
from weighbridge.blueprints.modules.composite import as_child, submodel
from weighbridge.blueprints.modules.convolutions import make_divisible
from weighbridge.blueprints.modules.feature_maps import pair
from weighbridge.blueprints.modules.stage_fields import ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, Config, Field, constant, derived, size, switch
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, batch_norm, conv2d, layer_norm, linear, part, plain_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

LINE = unknown("the length of the line of text depends on its image")
SERVER = {
    "model_type": "hgnet_v2",
    "out_features": ["stage1", "stage2", "stage3", "stage4"],
    "stage_downsample": [True, True, True, True],
    "stem_strides": [2, 1, 1, 1, 1],
    "stage_downsample_strides": [[2, 1], [1, 2], [2, 1], [2, 1]],
}
MOBILE = {
    "model_type": "pp_lcnet_v3",
    "scale": 0.75,
    "out_features": ["stage2", "stage3", "stage4", "stage5"],
    "out_indices": [2, 3, 4, 5],
    "divisor": 16,
}
FOURTH = {"model_type": "pp_lcnet_v4"}


def _last_width(c: Config) -> Size:
    """Return the channels of the last map: as the head takes them, whatever the network outputs."""
    if c.way == "fifth_server":
        width: Size = c.backbone.outs[-1]
        return width
    last = c.backbone.blocks[-1][-1][2]
    return make_divisible(last * c.backbone.scale, c.backbone.divisor) if c.way == "fifth_mobile" else last


def svtr(c: Config) -> tuple[Part, ...]:
    """Describe convolutions around attention along the line; the fifth version puts what came before beside what comes out."""
    H, wide = c.hidden, _last_width(c)
    if c.way == "sixth":
        maps = [(wide, H, (1, 1), 1), (wide, H, (1, 1), 1), (H, H, c.kernel, H)]
    else:
        maps = [(wide, wide // 8, c.kernel, 1), (wide // 8, H, (1, 1), 1), (H, wide, (1, 1), 1)]
        maps += [(2 * wide, wide // 8, c.kernel, 1), (wide // 8, H, (1, 1), 1)]
    convs = (
        part(str(index), conv2d("convolution", ins, outs, kernel, groups=groups, bias=False), batch_norm("normalization", outs))
        for index, (ins, outs, kernel, groups) in enumerate(maps)
    )
    attention = part(
        "self_attn",
        linear("qkv", H, 3 * H, bias=c.qkv_bias),
        linear("projection", H, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", H, scale_width(H, c.ratio), ("fc1", "fc2"), bias=True)
    layer = attention, layer_norm("layer_norm1", H), mlp, layer_norm("layer_norm2", H)
    return part("conv_block", *convs, kind="convolutions"), part("svtr_block", *layer, kind="layer", repeat=c.layers), layer_norm("norm", H)


def tiny_head(c: Config) -> tuple[Part, ...]:
    """Describe the head without attention: two convolutions along the line and two linear layers."""
    H, wide = c.hidden, _last_width(c)
    own = part("conv1", Tensor("weight", (wide, 1, 5)), kind="convolution")
    mixed = part("conv2", Tensor("weight", (wide, wide, 1)), kind="convolution")
    return own, batch_norm("norm1", wide), mixed, batch_norm("norm2", wide), linear("fc1", wide, H), linear("fc2", H, c.characters)


def model(c: Config, name: str = "") -> Part:
    """Describe the network of convolutions."""
    found = submodel(c.backbone, "Backbone")
    return part(name, as_child("backbone", found), kind="model" if not name else "backbone", stream=LINE)


def recognition(c: Config) -> Part:
    """Describe the whole."""
    if c.way == "tiny":
        head = part("head", *tiny_head(c), kind="head", stream=LINE)
    else:
        head = part("head", part("encoder", *svtr(c), kind="encoder"), linear("head", c.hidden, c.characters), kind="head", stream=LINE)
    return part("", model(c, "model"), head, kind="model", stream=LINE)


def fields(types: str, absent: Mapping[str, object], way: str, characters: int, kernel: tuple[int, int]) -> tuple[Field, ...]:
    """Return the fields of one of the readers."""
    return (
        constant("way", way),
        backbone(types, absent),
        HIDDEN.with_default(120),
        size("characters", "head_out_channels", characters, "V", "characters"),
        *(() if way == "tiny" else _line_fields(kernel)),
    )


def _line_fields(kernel: tuple[int, int]) -> tuple[Field, ...]:
    return (
        ratio("ratio", "mlp_ratio", 2.0),
        size("layers", "depth", 2, "L", "layers", "num_hidden_layers"),
        Field("kernel", "conv_kernel_size", list(kernel), "choice", read=lambda value: pair("conv_kernel_size", value)),
        switch("qkv_bias", "qkv_bias", True),
        HEADS.with_default(8),
        derived("head_dim", lambda c: exact(c.hidden, c.heads), "hidden_size", "num_attention_heads"),
    )


def family(model_type: str, prefix: str, table: tuple[Field, ...], *, tiny: bool = False) -> Family:
    """Return the family of one of the readers."""
    encoder: dict[str, Callable[[Config], Part]] = {}
    if not tiny:
        encoder = {f"{prefix}EncoderWithSVTR": lambda c: part("", *svtr(c), kind="encoder", stream=LINE)}
    classes = {**encoder, f"{prefix}Model": model, f"{prefix}ForTextRecognition": recognition}
    return Family(model_type, table, classes, f"{prefix}Model", frozenset())


FAMILIES = {
    "pp_ocrv5_mobile_rec": family("pp_ocrv5_mobile_rec", "PPOCRV5MobileRec", fields("pp_lcnet_v3", MOBILE, "fifth_mobile", 18385, (1, 3))),
    "pp_ocrv5_server_rec": family("pp_ocrv5_server_rec", "PPOCRV5ServerRec", fields("hgnet_v2", SERVER, "fifth_server", 18385, (1, 3))),
    "pp_ocrv6_small_rec": family("pp_ocrv6_small_rec", "PPOCRV6SmallRec", fields("pp_lcnet_v4", FOURTH, "sixth", 18714, (1, 7))),
    "pp_ocrv6_tiny_rec": family("pp_ocrv6_tiny_rec", "PPOCRV6TinyRec", fields("pp_lcnet_v4", FOURTH, "tiny", 6625, (1, 1)), tiny=True),
}
