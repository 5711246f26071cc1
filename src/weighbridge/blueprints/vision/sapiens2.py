"""Sapiens2: DINOv3's structure with RMS norms and, in the middle layers, grouped-query attention.

Source: names as in transformers 5.23.0, models/sapiens2/modeling_sapiens2.py. ``head_config`` says how the maps of patches are enlarged; it has no default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, conv_transpose2d
from weighbridge.blueprints.modules.layer_types import one_per_layer
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.blueprints.modules.vit_common import VIT_IMAGE, VIT_PATCH, WHOLE_HEADS, grid, projection, token
from weighbridge.blueprints.vision.dinov2 import OWN_IGNORED_KEYS, REGISTERS, scale, tokens
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LABELS, LAYERS, MLP, Config, Field, choice, constant, nested, size, switch
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, gated_mlp, linear, part, plain_mlp, replace, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part

if TYPE_CHECKING:
    from typing import Any


def kinds(c: Config) -> list[int]:
    """Return each layer's heads of keys and values; 0 is as many as queries have, -1 the number of the middle layers."""
    if c.stated_kinds is not None:
        heads = one_per_layer(c, c.stated_kinds, "num_key_value_heads_per_layer", longer=True)
        return [0 if entry == c.heads else int(entry) for entry in heads]
    return [0 if index < c.first or index >= c.layers - c.last else -1 for index in layer_range(c.layers)]


def channels(word: str, key: str) -> Field:
    """Declare the widths, or the kernels, of convolutions one behind another; None and an empty list are not the same."""

    def read(value: Any) -> tuple[int, ...] | None:
        if value is None:
            return None
        if not isinstance(value, (list, tuple)) or any(type(entry) is not int or entry < 1 for entry in value):
            raise ConfigError(
                Text("expected a list of whole numbers from {minimum} up, found {value!r:.60}", minimum=1, value=value),
                key=key,
                value=value,
            )
        return tuple(value)

    return choice(word, key, None, read=read)


HEAD = (
    channels("upsample", "upsample_out_channels"),
    channels("upsample_kernels", "upsample_kernel_sizes"),
    number("upsample_kernel", "upsample_kernel_size", 4),
    switch("shuffled", "use_pixel_shuffle", False),
    channels("refine", "conv_out_channels"),
    channels("refine_kernels", "conv_kernel_sizes"),
    number("refine_kernel", "conv_kernel_size", 1),
    channels("scale", "scale_conv_out_channels"),
    channels("scale_kernels", "scale_conv_kernel_sizes"),
    number("scale_kernel", "scale_conv_kernel_size", 1),
    number("scale_inputs", "scale_final_input_size", None),
    channels("scale_widths", "scale_final_hidden_sizes"),
)
FIELDS = (
    HIDDEN.with_default(1024),
    MLP.with_default(4096),
    LAYERS.with_default(24),
    HEADS.with_default(16),
    size("kv_heads", "num_key_value_attention_heads", 8, "K", "key-value heads"),
    *(WHOLE_HEADS, *VIT_IMAGE, *VIT_PATCH, CHANNELS, REGISTERS.with_default(8)),
    number("first", "num_first_full_attention_layers", 8, minimum=0),
    number("last", "num_last_full_attention_layers", 8, minimum=0),
    choice("stated_kinds", "num_key_value_heads_per_layer", None),
    constant("kinds", kinds),
    switch("masked", "use_mask_token", False),
    switch("gated", "use_gated_mlp", True),
    switch("head_norms", "use_qk_norm", True),
    switch("query_bias", "query_bias", True),
    switch("key_bias", "key_bias", True),
    switch("value_bias", "value_bias", True),
    switch("output_bias", "proj_bias", True),
    switch("mlp_bias", "mlp_bias", True),
    nested("head", "head_config", HEAD),
    LABELS,
)


def layer(c: Config, kind: int) -> tuple[Node, ...]:
    """Describe a layer; only behind attention is there a learned scale."""
    H = c.hidden
    kept: Size = c.heads if kind == 0 else c.kv_heads if kind < 0 else kind
    inner = kept * c.head_dim
    attention = part(
        "attention",
        linear("q_proj", H, H, bias=c.query_bias),
        linear("o_proj", H, H, bias=c.output_bias),
        linear("k_proj", H, inner, bias=c.key_bias),
        linear("v_proj", H, inner, bias=c.value_bias),
        *((rms_norm("q_norm", c.head_dim), rms_norm("k_norm", c.head_dim)) if c.head_norms else ()),
        attend(heads=c.heads, kv_heads=kept, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = (gated_mlp if c.gated else plain_mlp)("mlp", H, c.mlp, bias=c.mlp_bias)
    return rms_norm("norm1", H), attention, scale("layer_scale1", H), rms_norm("norm2", H), mlp


def layers(c: Config) -> tuple[Part, ...]:
    """Describe the layers, of which the first and the last have all heads of keys and values."""
    return stack("layer", c.kinds, c.layers, lambda kind: layer(c, kind))


def sapiens2(c: Config) -> Part:
    """Describe Sapiens2Model and Sapiens2Backbone: rotary positions, no table of them."""
    H = c.hidden
    masked = (token("mask_token", H),) if c.masked else ()
    learned = token("cls_token", H), *masked, token("register_tokens", H, c.registers)
    embeddings = part("embeddings", *learned, projection(c, "patch_embeddings"), kind="embeddings")
    return part("", embeddings, part("model", *layers(c), kind="encoder"), rms_norm("norm", H), kind="model", stream=tokens(c))


def encoder(c: Config) -> Part:
    """Describe Sapiens2Encoder: only the layers, over as many vectors as one gives it."""
    return part("", *layers(c), kind="encoder", stream="seq")


def required_list(c: Config, word: str, key: str) -> tuple[int, ...]:
    """Return a list that the head's config must have, of one entry or more."""
    found: tuple[int, ...] | None = getattr(c.head, word)
    if not found:
        raise ConfigError("this class is built from the head's own config, which has no default", key=f"head_config.{key}", value=found)
    return found


def chain(inputs: Size, outs: tuple[int, ...], kernels: tuple[int, ...] | None, kernel: int) -> list[tuple[Size, int, int]]:
    """Return inputs, outputs and kernel of convolutions one behind another."""
    return list(zip((inputs, *outs), outs, (kernel,) * len(outs) if kernels is None else kernels, strict=False))


def convolution(name: str, inputs: Size, outs: Size, kernel: int, at: Grid) -> Part:
    """Describe a convolution; the norm of each image behind it has no parameters."""
    return part(name, conv2d("convolution", inputs, outs, kernel, stream=area(at)), kind="convolution")


def upsampling(name: str, inputs: Size, outs: int, kernel: int, at: Grid, shuffled: bool) -> tuple[Part, Grid]:
    """Describe what doubles a map, by four times the channels or by a transposed convolution, and return the map that comes out."""
    if shuffled:
        seen = conv_output(at, kernel, 1, (kernel - 1) // 2)
        return convolution(name, inputs, 4 * outs, kernel, seen), (2 * seen[0], 2 * seen[1])
    doubled = part(name, conv_transpose2d("convolution", inputs, outs, kernel, area(at), bias=False), kind="convolution")
    return doubled, (2 * at[0] - 4 + kernel, 2 * at[1] - 4 + kernel)


def decode_head(c: Config) -> Part:
    """Describe the convolutions that enlarge the map of patches and output each label's."""
    upsample, refine = required_list(c, "upsample", "upsample_out_channels"), c.head.refine
    if refine is None:
        raise ConfigError("this class is built from the head's own config, which has no default", key="head_config.conv_out_channels")
    at, larger, refined = grid(c), [], []
    first = (convolution("input_conv", c.hidden, c.hidden, 3, at),) if c.head.shuffled else ()
    for index, (inputs, outs, kernel) in enumerate(chain(c.hidden, upsample, c.head.upsample_kernels, c.head.upsample_kernel)):
        doubled, at = upsampling(str(index), inputs, outs, kernel, at, c.head.shuffled)
        larger.append(doubled)
    for index, (inputs, outs, kernel) in enumerate(chain(upsample[-1], refine, c.head.refine_kernels, c.head.refine_kernel)):
        at = conv_output(at, kernel, 1, (kernel - 1) // 2 if c.head.shuffled else 0)
        refined.append(convolution(str(index), inputs, outs, kernel, at))
    predictor = conv2d("predictor", (refine or upsample)[-1], c.labels, 1, stream=area(at))
    return part("decode_head", *first, part("upsample_layers", *larger), part("conv_layers", *refined), predictor, kind="head")


def scale_head(c: Config) -> Part:
    """Describe what predicts the focal length: convolutions that halve the map, and three linear maps of all that is left."""
    outs, widths = required_list(c, "scale", "scale_conv_out_channels"), required_list(c, "scale_widths", "scale_final_hidden_sizes")
    at, halved = grid(c), []
    for index, (inputs, out, kernel) in enumerate(chain(c.hidden, outs, c.head.scale_kernels, c.head.scale_kernel)):
        at = conv_output(at, kernel, 2, (kernel - 1) // 2)
        halved.append(convolution(str(index), inputs, out, kernel, at))
    left = area(at) * outs[-1] if c.head.scale_inputs is None else c.head.scale_inputs
    blocks = (
        part(f"block{index + 1}", part("layers", linear("0", inputs, out)), kind="feed_forward")
        for index, (inputs, out) in enumerate(zip((left, widths[0]), widths[:2], strict=True))
    )
    predictor = part("predictor", *blocks, linear("proj", widths[1], 1), kind="head", stream="one")
    return part("scale_head", part("conv_layers", *halved), predictor, kind="head")


def with_head(c: Config) -> Part:
    """Describe the backbone and a head that outputs a map for each label."""
    return part("", replace(sapiens2(c), name="model", kind="backbone"), decode_head(c), kind="model")


def pointmap(c: Config) -> Part:
    """Describe Sapiens2ForPointmapEstimation, which may predict the focal length too."""
    found = with_head(c)
    return found if c.head.scale is None else replace(found, children=(*found.children, scale_head(c)))


CLASSES = {
    "Sapiens2Encoder": encoder,
    "Sapiens2Model": sapiens2,
    "Sapiens2Backbone": sapiens2,
    "Sapiens2ForSemanticSegmentation": with_head,
    "Sapiens2ForPoseEstimation": with_head,
    "Sapiens2ForNormalEstimation": with_head,
    "Sapiens2ForPointmapEstimation": pointmap,
    "Sapiens2ForImageMatting": with_head,
}

FAMILIES = {
    "sapiens2": Family(
        "sapiens2",
        uneven_heads(FIELDS),
        CLASSES,
        "Sapiens2Model",
        OWN_IGNORED_KEYS | {"flip_pairs", "normalize_backbone_outputs", "semantic_loss_ignore_index"},
    )
}
