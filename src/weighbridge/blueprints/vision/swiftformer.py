"""SwiftFormer: efficient additive attention between convolutions (Shaker et al., 2023).

Source: arXiv 2303.15446; names as in transformers 5.23.0, models/swiftformer/modeling_swiftformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD, half_size
from weighbridge.blueprints.modules.feature_maps import CHANNELS, area, conv_output, height_width, image
from weighbridge.blueprints.modules.stage_fields import entries, first_stages, number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, Config, computed, switch
from weighbridge.core.parts import batch_norm, conv2d, label_head, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

FIELDS = (
    CHANNELS,
    image(),
    numbers("depths", "depths", (3, 3, 6, 4)),
    numbers("widths", "embed_dims", (48, 56, 112, 220)),
    number("mlp_times", "mlp_ratio", 4),
    entries("halving", "downsamples", [True] * 4, bool),
    height_width("patch", "down_patch_size", 3),
    number("stride", "down_stride", 2),
    number("padding", "down_pad", 1, minimum=0),
    switch("scaled", "use_layer_scale", True),
    computed("stages", lambda c: first_stages("depths", len(c.depths), embed_dims=c.widths, downsamples=(*c.halving, True))),
    LABELS,
)


def scale(name: str, width: int) -> Tensor:
    """Describe a factor for every channel of a map."""
    return Tensor(name, (width, 1, 1), "gain")


def conv_encoder(name: str, width: int, inner: int, repeat: int | None = None) -> Part:
    """Describe a depthwise convolution and two of single positions, scaled and added to what came in."""
    return part(
        name,
        scale("layer_scale", width),
        conv2d("depth_wise_conv", width, width, 3, groups=width),
        batch_norm("norm", width),
        conv2d("point_wise_conv1", width, inner, 1),
        conv2d("point_wise_conv2", inner, width, 1),
        kind="convolution",
        repeat=repeat,
    )


def block(c: Config, name: str, width: int) -> Part:
    """Describe a stage's last block: a convolution, attention by one query for the whole map, a feed-forward network."""
    inner = width * c.mlp_times
    attention: tuple[Node, ...] = (
        Tensor("w_g", (width, 1), "weight"),
        *(linear(which, width, width) for which in ("to_query", "to_key", "proj", "final")),
    )
    mlp = batch_norm("norm1", width), conv2d("fc1", width, inner, 1), conv2d("fc2", inner, width, 1)
    return part(
        name,
        *((scale("layer_scale_1", width), scale("layer_scale_2", width)) if c.scaled else ()),
        conv_encoder("local_representation", width, width),
        part("attn", *attention, kind="self_attention"),
        part("linear", *mlp, kind="feed_forward"),
        kind="layer",
    )


def swiftformer(c: Config) -> tuple[Size, tuple[Part, ...]]:
    """Describe stem and stages; return the positions of the last map, too."""
    half, width = c.widths[0] // 2, c.widths[0]
    one = half_size(c.image)
    grid = half_size(one)
    first = conv2d("0", c.channels, half, 3, stream=area(one)), batch_norm("1", half, stream=area(one))
    second = conv2d("3", half, width, 3, stream=area(grid)), batch_norm("4", width, stream=area(grid))
    stem = part("patch_embed", part("patch_embedding", *first, *second, kind="embeddings"), kind="embeddings")
    network: list[Part] = []
    for index, (width, depth) in enumerate(zip(c.widths, c.depths, strict=False)):
        layers: tuple[Node, ...] = (block(c, str(depth - 1), width),)
        if depth > 1:
            layers = (conv_encoder("", width, width * c.mlp_times, repeat=depth - 1), *layers)
        network.append(part(str(len(network)), part("blocks", *layers, kind="stage"), kind="stage", stream=area(grid)))
        after = c.widths[index + 1 : index + 2] if index + 1 < c.stages else ()
        if after and (c.halving[index] or width != after[0]):
            grid = conv_output(grid, c.patch[0], c.stride, c.padding)[0], conv_output(grid, c.patch[1], c.stride, c.padding)[1]
            down = conv2d("proj", width, after[0], c.patch), batch_norm("norm", after[0])
            network.append(part(str(len(network)), *down, kind="convolution", stream=area(grid)))
    return area(grid), (stem, part("encoder", part("network", *network, kind="stage"), kind="encoder"))


def classification(c: Config) -> Part:
    """Describe SwiftFormerForImageClassification: two heads, whose labels are averaged."""
    places, parts = swiftformer(c)
    norm = batch_norm("norm", c.widths[-1], stream=places)
    heads = (label_head(name, c.widths[-1], c.labels, stream="one") for name in ("head", "dist_head"))
    return part("", part("swiftformer", *parts, kind="backbone"), norm, *heads, kind="model")


CLASSES = {"SwiftFormerModel": lambda c: part("", *swiftformer(c)[1], kind="model"), "SwiftFormerForImageClassification": classification}

MORE_IGNORED_KEYS = HEAD | frozenset("batch_norm_eps drop_conv_encoder_rate drop_mlp_rate layer_scale_init_value".split())

FAMILIES = {"swiftformer": Family("swiftformer", FIELDS, CLASSES, "SwiftFormerModel", MORE_IGNORED_KEYS)}
