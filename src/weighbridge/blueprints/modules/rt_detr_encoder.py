"""The encoder of RT-DETR: attention on the smallest map, then maps joined upwards and downwards by convolutions (Zhao et al., 2023).

Source: arXiv 2304.08069; names as in transformers 5.23.0, models/rt_detr/modeling_rt_detr.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weighbridge.blueprints.modules.backbones import Features
from weighbridge.blueprints.modules.detr_common import attention
from weighbridge.blueprints.modules.feature_maps import Grid, area, module_list
from weighbridge.blueprints.modules.stage_fields import scale_width
from weighbridge.config.fields import Config
from weighbridge.core.length import Stream, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import batch_norm, conv2d, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor


def conv(name: str, inputs: Size, outs: Size, places: Stream | None = None, kernel: int = 1) -> Part:
    """Describe a convolution without bias and its batch norm."""
    return part(name, conv2d("conv", inputs, outs, kernel, bias=False), batch_norm("norm", outs), kind="convolution", stream=places)


def encoder_layer(c: Config) -> Part:
    """Describe the layers of attention over a map."""
    H = c.encoder_hidden
    return part(
        "layers",
        attention("self_attn", H, c.encoder_heads, head_dim=None if c.encoder_even else H // c.encoder_heads),
        layer_norm("self_attn_layer_norm", H),
        plain_mlp("mlp", H, c.encoder_mlp, ("fc1", "fc2"), bias=True),
        layer_norm("final_layer_norm", H),
        kind="layer",
        repeat=c.encoder_layers,
    )


def csp_rep_layer(c: Config, places: Stream) -> tuple[Part, ...]:
    """Describe how two maps become one: a path of three doubled convolutions, and one beside it."""
    H, inner = c.encoder_hidden, scale_width(c.encoder_hidden, c.expansion)
    double = part("bottlenecks", conv("conv1", inner, inner, None, 3), conv("conv2", inner, inner), kind="convolution", repeat=3)
    ends = (conv("conv3", inner, H),) if c.widened else ()
    parts = conv("conv1", 2 * H, inner), conv("conv2", 2 * H, inner), double, *ends
    return tuple(replace(module, stream=places) for module in parts)


def doubled_area(maps: Sequence[Grid], index: int) -> Stream:
    """Return the positions of a map, where the next one is half as high and wide, as joining them wants it."""
    (height, width), (lower, less) = maps[index], maps[index + 1]
    return area(maps[index]) if (height, width) == (2 * lower, 2 * less) else unknown("a map is not twice as high and wide as the next one")


def downsample(c: Config, name: str, places: Stream) -> Part:
    """Describe how a map is halved: one convolution."""
    return conv(name, c.encoder_hidden, c.encoder_hidden, places, 3)


def hybrid_encoder(
    c: Config,
    maps: Sequence[Grid],
    *,
    layer: Callable[[Config], Part] = encoder_layer,
    join: Callable[[Config, Stream], tuple[Part, ...]] = csp_rep_layer,
    down: Callable[[Config, str, Stream], Part] = downsample,
) -> tuple[Part, ...]:
    """Describe the encoder over maps, the largest first; later ones have another *layer*, *join* maps or halve them another way."""
    H, levels = c.encoder_hidden, range(len(c.in_widths) - 1)
    if len(maps) != len(c.in_widths):
        undetermined: Stream = unknown(
            Text("{expected} maps are expected, and the backbone hands on {count}", expected=len(c.in_widths), count=len(maps))
        )
        upper = below = [undetermined for _ in levels]
        attended: list[Stream] = [undetermined for _ in c.projected]
    else:
        upper, below = [doubled_area(maps, index) for index in levels], [area(maps[index + 1]) for index in levels]
        beyond = unknown("encode_proj_layers names a map that is not there")
        attended = [area(maps[index]) if index < len(maps) else beyond for index in c.projected]
    aifi = ((replace(layer(c), stream=places),) for places in attended)
    return (
        module_list("aifi", *aifi, kind="encoder"),
        part("lateral_convs", *(conv(str(i), H, H, places) for i, places in enumerate(below[::-1])), kind="convolution"),
        module_list("fpn_blocks", *(join(c, places) for places in upper[::-1])),
        part("downsample_convs", *(down(c, str(i), places) for i, places in enumerate(below)), kind="convolution"),
        module_list("pan_blocks", *(join(c, places) for places in below)),
    )


def deformable_attention(
    c: Config, heads: Size, levels: Size, points: Size, memory: Stream, *, scale: bool = False, name: str = "encoder_attn"
) -> Part:
    """Describe attention to a few points around each query: linear maps predict where they are and how much they count."""
    H = c.hidden
    scales = (Tensor("n_points_scale", (levels * points,), "buffer"),) if scale else ()
    return part(
        name,
        *scales,
        linear("sampling_offsets", H, heads * levels * points * 2),
        linear("attention_weights", H, heads * levels * points),
        linear("value_proj", H, H, stream=memory),
        linear("output_proj", H, H),
        kind="cross_attention",
    )


def input_projections(name: str, widths: Sequence[Size], outs: Size, maps: Sequence[Stream]) -> Part:
    """Describe a convolution and its batch norm for each map."""
    parts = ((conv2d("0", width, outs, 1, bias=False), batch_norm("1", outs)) for width in widths)
    found = (tuple(replace(module, stream=places) for module in pair) for pair, places in zip(parts, maps, strict=True))
    return module_list(name, *found, kind="projection")


def map_areas(seen: Features) -> list[Stream]:
    """Return the positions of every map that a backbone outputs."""
    return [area(grid) for grid in seen.maps]
