"""The encoders of D-FINE and DEIMv2: maps joined by blocks that keep what each of their steps put out.

Source: arXiv 2410.13842 and 2509.20787; names as in transformers 5.23.0, models/d_fine/modeling_d_fine.py and
models/deimv2/modeling_deimv2.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.blueprints.convolutions import halved
from weighbridge.blueprints.detections import perceptron
from weighbridge.blueprints.grids import Grid, area
from weighbridge.blueprints.hybrid import conv, encoder_layer, hybrid, projected
from weighbridge.blueprints.rtdetr import looked_through
from weighbridge.config.fields import Sizes, altered
from weighbridge.core.errors import ConfigError
from weighbridge.core.parts import batch_norm, conv2d
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Stream, Untold


def layer(c: Sizes) -> Part:
    """Describe the layers of attention over a map."""
    before = encoder_layer(c)
    mlp = perceptron("mlp", c.encoder_hidden, c.encoder_mlp, c.encoder_hidden)
    children = (mlp if isinstance(child, Part) and child.name == "mlp" else child for child in before.children)
    return before._replace(children=tuple(children))


def repeated(c: Sizes, name: str, inputs: Size, outs: Size) -> Part:
    """Describe doubled convolutions and a path beside them, which the later type makes in one."""
    double = Part("bottlenecks", (conv("conv1", outs, outs, None, 3), conv("conv2", outs, outs)), "convolution", repeat=c.blocks)
    doubles = (double,) if c.blocks else ()
    if not c.later:
        return Part(name, (conv("conv1", inputs, outs), conv("conv2", inputs, outs), *doubles), "convolution")
    ends = (conv("conv2", outs, outs, None, 3),) if c.trailing else ()
    return Part(name, (conv("conv1", inputs, 2 * outs), *doubles, *ends), "convolution")


def join(c: Sizes, places: Stream) -> tuple[Part, ...]:
    """Describe how two maps become one; the later type adds them up before."""
    H, inner = c.encoder_hidden, c.encoder_hidden * c.expansion[0] // (2 * c.expansion[1])
    first, second, wide = repeated(c, "csp_rep1", H, inner), repeated(c, "csp_rep2", inner, inner), 2 * H + 2 * inner
    if c.later:
        places = places if c.fused == "sum" else Untold("maps side by side are twice as wide as the blocks behind them")
        parts = conv("conv1", H, 2 * H), first, second, conv("conv2", wide, H)
    else:
        steps = conv("conv2", inner, inner, None, 3), second, conv("conv3", inner, inner, None, 3)
        parts = conv("conv1", 2 * H, 2 * H), first, *steps, conv("conv4", wide, H)  # type: ignore[assignment]
    return tuple(part._replace(stream=places) for part in parts)


def down(c: Sizes, name: str, places: Stream) -> Part:
    """Describe how a map is halved: a convolution of every place, at the larger map, and one of every channel with itself."""
    H = c.encoder_hidden
    larger = Untold("a map is not twice as high and wide as the next one")
    before: Stream = 4 * places if not isinstance(places, Untold) else larger  # type: ignore[assignment]
    apart = conv2d("conv", H, H, 3, groups=H, bias=False), batch_norm("norm", H)
    return Part(name, (conv("conv1", H, H, before), Part("conv2", apart, "convolution", stream=places)), "convolution")


def lite(c: Sizes, maps: Sequence[Grid]) -> tuple[tuple[Part, ...], tuple[Grid, ...]]:
    """Describe the small encoder over one or two maps, and one more made from the smallest; return the two maps it puts out, too."""
    H, more = c.encoder_hidden, halved(maps[-1])
    seen = (*maps, more)
    first, second = seen[0], seen[1]
    fits = len(maps) == len(c.in_widths) and first == (2 * second[0], 2 * second[1])
    untold = Untold("the maps are not as many as expected, or the first is not twice as high and wide as the second")
    inputs = (conv(str(i), w, H, area(maps[i]) if fits else untold) for i, w in enumerate(c.in_widths))
    parts = (
        Part("input_proj", tuple(inputs), "projection"),
        conv("down_conv1", H, H, area(more)),
        conv("down_conv2", H, H, area(second)),
        conv("bi_fusion_conv", H, H, area(more)),
        Part("fpn_block", join_plain(c, area(first)), "stage"),
        Part("pan_block", join_plain(c, area(second)), "stage"),
    )
    return parts, (first, second)


def join_plain(c: Sizes, places: Stream) -> tuple[Part, ...]:
    """Describe a block over maps that are always added up."""
    return join(altered(c, fused="sum"), places)


def encoder(c: Sizes, maps: Sequence[Grid]) -> tuple[tuple[Part, ...], tuple[Grid, ...]]:
    """Describe the encoder over maps, the largest first; return the maps it puts out, too."""
    if c.kind == "lite":
        return lite(c, maps)
    return hybrid(c, maps, layer=layer, join=join, down=down), tuple(maps)


def sources(c: Sizes, maps: tuple[Grid, ...]) -> tuple[tuple[Part, ...], Stream]:
    """Describe the maps as the decoder sees them, further ones made from the smallest; return all their places, too."""
    count, width, extra = len(c.out_widths), c.out_widths[-1], max(c.levels - len(c.out_widths), 0)
    runs = c.alike and count == len(maps) <= c.levels
    small = maps[-1] if c.same else halved(maps[-1])
    memory: Size = extra * area(small)
    for grid in maps:
        memory = memory + area(grid)
    untold = Untold("the maps are not as many, or not as wide, as the decoder takes them to be")
    if c.same:
        return (), memory if runs else untold
    found = []
    for index in range(count + extra):
        places = untold if not runs else area(maps[index]) if index < count else area(small)
        kernel = 1 if index < count else 3
        plain = conv2d("0", width, c.hidden, kernel, bias=False), batch_norm("1", c.hidden)
        found.append(conv(str(index), width, c.hidden, None, kernel) if c.later else Part(str(index), plain, "projection"))
        found[-1] = found[-1]._replace(stream=places)
    return (Part("decoder_input_proj", tuple(found), "projection"),), memory if runs else untold


def inputs(c: Sizes) -> tuple[Part, tuple[Part, ...], tuple[Grid, ...]]:
    """Describe the backbone and the projections of its maps."""
    seen = looked_through(c)
    body, H = Part("model", seen.parts, "backbone"), c.encoder_hidden
    if c.later:
        found = tuple(conv(str(i), w, H, area(seen.maps[i])) for i, w in enumerate(seen.widths))
        first = () if c.kind == "lite" else (Part("encoder_input_proj", found, "projection"),)
        return Part("conv_encoder", (body, *first), "vision"), (), seen.maps
    count = len(c.out_widths)
    if len(seen.widths) < count:
        raise ConfigError(f"the backbone hands on {len(seen.widths)} maps", key="decoder_in_channels", value=list(c.out_widths))
    maps: list[Stream] = [area(grid) for grid in seen.maps[:count]]
    return Part("backbone", (body,), "vision"), (projected("encoder_input_proj", seen.widths[:count], H, maps),), seen.maps
