"""GLPN: monocular depth with a pyramid transformer and a selective feature fusion decoder (Kim et al., 2022).

Source: arXiv 2201.07436; names as in transformers 5.23.0, models/glpn/modeling_glpn.py. The config states no image:
``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import HEAD
from weighbridge.blueprints.modules.feature_maps import area, image, module_list
from weighbridge.blueprints.modules.pyramid_vit import (
    SHARED,
    attention,
    layer,
    overlapping_maps,
    overlapping_patches,
    stages_of,
    with_stream,
)
from weighbridge.blueprints.modules.stage_fields import number, numbers
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, constant
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, part
from weighbridge.core.tree import Part

GLPN = (
    *SHARED,
    image(report_default=False),
    numbers("reductions", "sr_ratios", (8, 4, 2, 1)),
    numbers("widths", "hidden_sizes", (32, 64, 160, 256)),
    numbers("patches", "patch_sizes", (7, 3, 3, 3)),
    numbers("ratios", "mlp_ratios", (4, 4, 4, 4)),
    number("head", "decoder_hidden_size", 64),
    choice("head_in", "head_in_index", -1),
    computed("stages", lambda c: stages_of(c)),
    constant("qkv_bias", True),
    constant("convolved", True),
    constant("pooled", False),
)


def glpn(c: Config) -> tuple[Part, ...]:
    """Describe GLPN's encoder: all patches, all layers, all norms."""
    grids = overlapping_maps(c)
    patches = [tuple(with_stream(module, area(grid)) for module in overlapping_patches(c, index)) for index, grid in enumerate(grids)]
    blocks = [
        (with_stream(layer(c, "", index, attention(c, index, grid, "sr", area(grid))), area(grid)),) for index, grid in enumerate(grids)
    ]
    norms = tuple(with_stream(layer_norm(str(index), c.widths[index]), area(grid)) for index, grid in enumerate(grids))
    parts = (
        module_list("patch_embeddings", *patches, kind="embeddings"),
        module_list("block", *blocks),
        part("layer_norm", *norms, kind="norms"),
    )
    return (part("encoder", *parts, kind="encoder"),)


def fusion(width: int) -> Part:
    """Describe how two maps are weighted against each other, place by place."""
    half = width // 2
    return part(
        "fusion",
        part("convolutional_layer1", conv2d("0", 2 * width, width, 3), batch_norm("1", width), kind="convolution"),
        part("convolutional_layer2", conv2d("0", width, half, 3), batch_norm("1", half), kind="convolution"),
        conv2d("convolutional_layer3", half, 2, 3),
        kind="gate",
    )


def joined_maps(c: Config) -> list[tuple[Stream, Stream]]:
    """Return the places of each map that the decoder reads, from the smallest up, and of what it is joined to."""
    grids = overlapping_maps(c)[::-1]
    if len(grids) != len(c.widths):
        return [(unknown("there are not as many maps as widths"), unknown("there are not as many maps as widths"))] * len(c.widths)
    found: list[tuple[Stream, Stream]] = []
    for index, grid in enumerate(grids):
        below = grids[index - 1]
        fits = index == 0 or grid == (2 * below[0], 2 * below[1])
        found.append((area(grid), area(grid) if fits else unknown("a map is not twice as high and wide as the next one")))
    return found


def depth(c: Config) -> Part:
    """Describe GLPNForDepthEstimation: maps joined from the smallest up, each doubled first, and a depth for every place."""
    maps, stages = joined_maps(c), []
    for index, ((places, joined), width) in enumerate(zip(maps, c.widths[::-1], strict=True)):
        brought = (conv2d("convolution", width, c.head, 1, stream=places),) if width != c.head else ()
        stages.append((*brought, *((with_stream(fusion(c.head), joined),) if index else ())))
    outs = [places * 4 for places, _ in maps]
    outs[-1] = outs[-1] * 4
    out = outs[c.head_in] if -len(outs) <= c.head_in < len(outs) else unknown("there is no such map for the head")
    head = part("head", conv2d("0", c.head, c.head, 3), conv2d("2", c.head, 1, 3), kind="head", stream=out)
    decoder = part("decoder", module_list("stages", *stages), kind="decoder")
    return part("", part("glpn", *glpn(c), kind="backbone"), decoder, part("head", head, kind="head"), kind="model")


CLASSES = {"GLPNModel": lambda c: part("", *glpn(c), kind="model"), "GLPNForDepthEstimation": depth}

FAMILIES = {"glpn": Family("glpn", GLPN, CLASSES, "GLPNModel", HEAD | {"max_depth"})}
