"""Swin2SR: image super-resolution with residual Swin v2 blocks, each followed by a convolution (Conde et al., 2022).

Source: arXiv 2209.11345; names as in transformers 5.23.0, models/swin2sr/modeling_swin2sr.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.feature_maps import CHANNELS, area, height_width, image, module_list
from weighbridge.blueprints.modules.stage_fields import first_stages, number, numbers, ratio, scale_width
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, per_batch, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace, split_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any


def connection(value: Any) -> str:
    """Take how a stage ends: with one convolution, or with three around a narrow one."""
    if value not in ("1conv", "3conv"):
        raise ConfigError(Text("expected 1conv or 3conv, found {value!r:.60}", value=value), key="resi_connection", value=value)
    return str(value)


def scale(c: Config) -> int:
    """Refuse scales that the class refuses."""
    if c.upsampler == "nearest+conv" and c.scale != 4:
        raise ConfigError("nearest+conv makes images four times as large", key="upscale", value=c.scale)
    if c.upsampler in ("pixelshuffle", "pixelshuffle_aux") and c.scale != 3 and c.scale & (c.scale - 1):
        raise ConfigError("expected a power of two, or 3", key="upscale", value=c.scale)
    return int(c.scale)


FIELDS = (
    CHANNELS,
    size("channels_out", "num_channels_out", lambda c: c.channels, "N_o", "channels of the upscaled image"),
    size("hidden", "embed_dim", 180, "H", "hidden size", "hidden_size"),
    numbers("depths", "depths", (6, 6, 6, 6, 6, 6)),
    numbers("heads", "num_heads", (6, 6, 6, 6, 6, 6), "num_attention_heads"),
    computed("stages", lambda c: first_stages("depths", len(c.depths), num_heads=c.heads)),
    number("window", "window_size", 8),
    ratio("mlp_ratio", "mlp_ratio", 2.0),
    image(64),
    height_width("patch", "patch_size", 1),
    switch("qkv_bias", "qkv_bias", True),
    switch("absolute", "use_absolute_embeddings", False),
    choice("connection", "resi_connection", "1conv", read=connection),
    choice("upsampler", "upsampler", "pixelshuffle"),
    number("scale", "upscale", 2),
    computed("checked", scale),
)


WIDTH = 64
"""Channels while an image is made larger."""


def places(c: Config) -> Stream:
    """Return the positions of the image, which must be whole windows of single pixels: the reference runs no other."""
    if c.patch != (1, 1) or c.absolute or any(side % c.window for side in c.image):
        return unknown("it runs only with one-pixel patches, images of whole windows and no position table")
    return area(c.image)


def attention(c: Config, heads: int) -> Part:
    """Describe attention inside windows, the biases of relative positions computed by a small network."""
    H, inside = c.hidden, c.window * c.window
    count = area((c.image[0] // c.window, c.image[1] // c.window))
    bias = linear("0", 2, 512), linear("2", 512, heads, bias=False)
    inner = part(
        "self",
        Tensor("logit_scale", (heads, 1, 1), "gain"),
        part("continuous_position_bias_mlp", *bias, kind="feed_forward", stream=per_batch((2 * c.window - 1) ** 2)),
        linear("query", H, H, bias=c.qkv_bias),
        linear("key", H, H, bias=False),
        linear("value", H, H, bias=c.qkv_bias),
        attend(heads=heads, head_dim=exact(H, heads), queries=inside, keys=inside, groups=count),
        kind="self_attention",
    )
    return part("attention", inner, part("output", linear("dense", H, H)), kind="self_attention")


def stage(c: Config, depth: int, heads: int) -> tuple[Node, ...]:
    """Describe the layers of a stage, the convolution after them, and patches cut anew."""
    H, inner = c.hidden, scale_width(c.hidden, c.mlp_ratio)
    layer = part(
        "layers",
        attention(c, heads),
        layer_norm("layernorm_before", H),
        *split_mlp(H, inner),
        layer_norm("layernorm_after", H),
        kind="layer",
        repeat=depth,
    )
    narrow = conv2d("0", H, H // 4, 3), conv2d("2", H // 4, H // 4, 1), conv2d("4", H // 4, H, 3)
    conv = conv2d("conv", H, H, 3) if c.connection == "1conv" else part("conv", *narrow, kind="convolution")
    return layer, conv, part("patch_embed", conv2d("projection", H, H, c.patch), kind="embeddings")


def swin2sr(c: Config) -> tuple[Part, ...]:
    """Describe Swin2SRModel."""
    H = c.hidden
    positions = (Tensor("position_embeddings", (1, area((c.image[0] // c.patch[0], c.image[1] // c.patch[1])) + 1, H), "embedding"),)
    patches = part("patch_embeddings", conv2d("projection", H, H, c.patch), layer_norm("layernorm", H), kind="embeddings")
    stages = (stage(c, depth, heads) for depth, heads in zip(c.depths, c.heads, strict=False))
    return (
        conv2d("first_convolution", c.channels, H, 3),
        part("embeddings", *(positions if c.absolute else ()), patches, kind="embeddings"),
        part("encoder", module_list("stages", *stages), kind="encoder"),
        layer_norm("layernorm", H),
        conv2d("conv_after_body", H, H, 3),
    )


def upsample(c: Config, seen: Stream) -> tuple[Part, Stream]:
    """Describe convolutions whose channels become positions, twice as high and wide each or three times at once; return those, too."""
    if c.scale == 3:
        return part("upsample", conv2d("convolution", WIDTH, 9 * WIDTH, 3, stream=seen), kind="convolution"), times(seen, 9)
    steps = range(c.scale.bit_length() - 1)
    found = (conv2d(f"convolution_{step}", WIDTH, 4 * WIDTH, 3, stream=times(seen, 4**step)) for step in steps)
    return part("upsample", *found, kind="convolution"), times(seen, 4 ** len(steps))


def times(seen: Stream, by: int) -> Stream:
    """Return as many times the positions."""
    return length(seen) * by


def larger(c: Config) -> tuple[Part, ...]:
    """Describe how the larger image is made."""
    H, O, seen, many = c.hidden, c.channels_out, places(c), c.scale * c.scale
    before, last = conv2d("conv_before_upsample", H, WIDTH, 3, stream=seen), conv2d("final_convolution", WIDTH, O, 3)
    steps, final = upsample(c, seen) if c.upsampler in ("pixelshuffle", "pixelshuffle_aux") else (None, times(seen, many))
    last = replace(last, stream=final)
    if steps is not None and c.upsampler == "pixelshuffle":
        return (part("upsample", before, steps, last, kind="head"),)
    if steps is not None:
        N: Size = c.channels
        bicubic, aux = conv2d("conv_bicubic", N, WIDTH, 3, stream=times(seen, many)), conv2d("conv_aux", WIDTH, N, 3, stream=seen)
        after = part("conv_after_aux", conv2d("0", 3, WIDTH, 3, stream=seen), kind="convolution")
        return (part("upsample", bicubic, before, aux, after, steps, last, kind="head"),)
    if c.upsampler == "pixelshuffledirect":
        return (part("upsample", conv2d("conv", H, many * O, 3, stream=seen), kind="head"),)
    if c.upsampler == "nearest+conv":
        convs = (conv2d(name, WIDTH, WIDTH, 3, stream=times(seen, by)) for name, by in (("conv_up1", 4), ("conv_up2", 16), ("conv_hr", 16)))
        return (part("upsample", before, *convs, last, kind="head"),)
    return (conv2d("final_convolution", H, O, 3, stream=seen),)


def super_resolution(c: Config) -> Part:
    """Describe Swin2SRForImageSuperResolution."""
    return part("", part("swin2sr", *swin2sr(c), kind="backbone", stream=places(c)), *larger(c), kind="model")


CLASSES = {
    "Swin2SRModel": lambda c: part("", *swin2sr(c), kind="model", stream=places(c)),
    "Swin2SRForImageSuperResolution": super_resolution,
}
FAMILIES = {
    "swin2sr": Family(
        "swin2sr", FIELDS, CLASSES, "Swin2SRModel", frozenset("drop_path_rate img_range num_hidden_layers num_layers".split())
    )
}
