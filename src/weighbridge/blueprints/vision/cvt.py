"""CvT: convolutional projections of queries, keys and values, keys on a smaller feature map (Wu et al., 2021).

Source: arXiv 2103.15808; names as in transformers 5.23.0, models/cvt/modeling_cvt.py. The config states no image:
``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD
from weighbridge.blueprints.modules.feature_maps import CHANNELS, Grid, area, conv_output, image, module_list
from weighbridge.blueprints.modules.stage_fields import entries, first_stages, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, Field, computed
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, label_head, layer_norm, linear, part, split_mlp
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    CHANNELS,
    numbers("patches", "patch_sizes", (7, 3, 3)),
    numbers("strides", "patch_stride", (4, 2, 2)),
    numbers("paddings", "patch_padding", (2, 1, 1), minimum=0),
    numbers("widths", "embed_dim", (64, 192, 384)),
    numbers("heads", "num_heads", (1, 3, 6)),
    numbers("depths", "depth", (1, 2, 10)),
    Field("ratios", "mlp_ratio", [4.0, 4.0, 4.0], "sequence", read=tuple),
    entries("biased", "qkv_bias", [True, True, True], bool),
    entries("tokens", "cls_token", [False, False, True], bool),
    entries("methods", "qkv_projection_method", ["dw_bn"] * 3, str),
    numbers("kernels", "kernel_qkv", (3, 3, 3)),
    numbers("key_paddings", "padding_kv", (1, 1, 1), minimum=0),
    numbers("key_strides", "stride_kv", (2, 2, 2)),
    numbers("query_paddings", "padding_q", (1, 1, 1), minimum=0),
    numbers("query_strides", "stride_q", (1, 1, 1)),
    computed("stages", lambda c: stages_of(c)),
    image(report_default=False),
    LABELS,
)


def stages_of(c: Config) -> int:
    """Return how many stages there are, which every list must say alike; the reference looks for a rate of every stage in its layers."""
    short = [index for index, depth in enumerate(c.depths) if depth <= index]
    if short:
        raise ConfigError(Text("stage {short} needs more than {short} layers to be built", short=short[0]), key="depth", value=c.depths)
    words = (
        "patches strides paddings widths heads ratios biased tokens methods kernels key_paddings key_strides query_paddings query_strides"
    )
    return first_stages("depth", len(c.depths), **{word: getattr(c, word) for word in words.split()})


def projection(c: Config, which: str, index: int, places: Stream) -> Part:
    """Describe the depthwise convolution before queries, keys or values; other methods than ``dw_bn`` have none."""
    width = c.widths[index]
    inner = conv2d("convolution", width, width, c.kernels[index], groups=width, bias=False), batch_norm("normalization", width)
    parts = (part("convolution_projection", *inner, kind="convolution"),) if c.methods[index] == "dw_bn" else ()
    return part(f"convolution_projection_{which}", *parts, kind="convolution", stream=places)


def attention(c: Config, index: int, grid: Grid) -> Part:
    """Describe attention over queries of one map to keys of another; a class token passes the convolutions by."""
    width, heads, token = c.widths[index], c.heads[index], 1 if c.tokens[index] else 0
    seen = area(conv_output(grid, c.kernels[index], c.query_strides[index], c.query_paddings[index]))
    small = area(conv_output(grid, c.kernels[index], c.key_strides[index], c.key_paddings[index]))
    places: Stream = seen
    if seen != area(grid) or c.methods[index] != "dw_bn":
        places = unknown("there are not as many queries as positions, or they are projected in a way that the reference cannot run")
    keys = small + token
    inner = part(
        "attention",
        projection(c, "query", index, places),
        projection(c, "key", index, small),
        projection(c, "value", index, small),
        linear("projection_query", width, width, bias=c.biased[index]),
        linear("projection_key", width, width, bias=c.biased[index], stream=keys),
        linear("projection_value", width, width, bias=c.biased[index], stream=keys),
        attend(heads=heads, head_dim=width // heads, keys=keys),
        kind="self_attention",
    )
    return part("attention", inner, part("output", linear("dense", width, width), kind="self_attention"), kind="self_attention")


def cvt(c: Config) -> Part:
    """Describe the stages."""
    grid, found = c.image, []
    for index, width in enumerate(c.widths[: c.stages]):
        grid = conv_output(grid, c.patches[index], c.strides[index], c.paddings[index])
        inner = int(width * c.ratios[index])
        layer = part(
            "layers",
            attention(c, index, grid),
            *split_mlp(width, inner),
            layer_norm("layernorm_before", width),
            layer_norm("layernorm_after", width),
            kind="layer",
            repeat=c.depths[index],
            stream=area(grid) + (1 if c.tokens[index] else 0),
        )
        inputs, fits = c.widths[index - 1] if index else c.channels, not c.tokens[index] or width == c.widths[-1]
        places: Stream = area(grid) if fits else unknown("the class token is as wide as the last stage, whatever stage it stands in")
        patches = conv2d("projection", inputs, width, c.patches[index], stream=places), layer_norm("normalization", width)
        embedding = part("embedding", part("convolution_embeddings", *patches, kind="embeddings", stream=area(grid)), kind="embeddings")
        token = (Tensor("cls_token", (1, 1, c.widths[-1]), "embedding"),) if c.tokens[index] else ()
        found.append((*token, embedding, layer))
    return part("encoder", module_list("stages", *found), kind="encoder")


def classification(c: Config) -> Part:
    """Describe CvtForImageClassification: the labels, on the normed class token or the mean of all positions."""
    encoder = cvt(c)
    seen: Stream = (
        "one" if c.tokens[-1] else unknown("without a class token in the last stage, the reference looks for one that is not there")
    )
    norm = layer_norm("layernorm", c.widths[-1], stream=seen)
    return part(
        "", part("cvt", encoder, kind="backbone"), norm, label_head("classifier", c.widths[-1], c.labels, stream="one"), kind="model"
    )


CLASSES = {"CvtModel": lambda c: part("", cvt(c), kind="model"), "CvtForImageClassification": classification}

FAMILIES = {"cvt": Family("cvt", FIELDS, CLASSES, "CvtModel", HEAD | {"attention_drop_rate", "drop_rate"})}
