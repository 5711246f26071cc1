"""diffusers: the U-Net of Kandinsky 3, whose norms the time scales and shifts.

Source: arXiv 2312.03511; diffusers 0.42.1, models/unets/unet_kandinsky3.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import conv_transpose2d, module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, two_maps
from weighbridge.config.fields import Config, computed, size
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part

STAGES = 4
"""The code attends in all of four stages but the first."""


def timed_norm(name: str, width: int, time: Size) -> Part:
    """Describe a norm without gains, which a map of the time scales and shifts."""
    return part(name, part("context_mlp", linear("1", time, 2 * width), kind="projector"), kind="adaptive_norm")


def attention(inputs: Size, keys: Size, width: int, head_dim: int) -> Part:
    """Describe attention without biases, as many heads as there is room for."""
    maps = linear("to_q", inputs, width, bias=False), linear("to_k", keys, width, bias=False), linear("to_v", keys, width, bias=False)
    out = part("to_out", linear("0", width, width, bias=False), kind="output")
    if width < head_dim:
        raise ConfigError(
            Text("a head of {head_dim} is wider than a map of {width} channels", head_dim=head_dim, width=width), key="attention_head_dim"
        )
    return part("attention", *maps, out, attend(heads=width // head_dim, head_dim=head_dim), kind="cross_attention")


def attention_block(c: Config, width: int, keys: Size) -> tuple[Node, ...]:
    """Describe attention to the text or to the map itself, and a network of two convolutions."""
    wide = 4 * width
    network = part("feed_forward", conv2d("0", width, wide, 1, bias=False), conv2d("2", wide, width, 1, bias=False), kind="feed_forward")
    attends = attention(width, keys, width, c.head_dim)
    return timed_norm("in_norm", width, c.time), attends, timed_norm("out_norm", width, c.time), network


def larger(name: str, width: int) -> Part:
    """Describe a convolution that doubles the map."""
    return replace(conv_transpose2d(name, width, width, 2, 1), stream=PASS)


def resnet(c: Config, before: int, after: int, scale: str = "") -> tuple[Node, ...]:
    """Describe four convolutions at half the width, of which one may change the map's *scale*, ``up`` or ``down``."""
    inner = max(before, after) // 2
    widths, blocks = (before, inner, inner, inner, after), []
    for at, kernel in enumerate((1, 3, 3, 1)):
        wide, narrow = widths[at], widths[at + 1]
        up = (larger("up_sample", wide),) if scale == "up" and at == 1 else ()
        down = (conv2d("down_sample", narrow, narrow, 2),) if scale == "down" and at == 2 else ()
        blocks.append((timed_norm("group_norm", wide, c.time), *up, conv2d("projection", wide, narrow, kernel), *down))
    beside = (
        *((larger("shortcut_up_sample", before),) if scale == "up" else ()),
        *((conv2d("shortcut_projection", before, after, 1),) if before != after else ()),
        *((conv2d("shortcut_down_sample", after, after, 2),) if scale == "down" else ()),
    )
    return module_list("resnet_blocks", *blocks, kind="block"), *beside


def stage_of(c: Config, own: int, pairs: list[tuple[int, int]], *, up: bool, attends: bool, scaled: bool) -> tuple[Part, ...]:
    """Describe a stage: attention *own* wide to the map itself, then pairs of residual blocks with attention to the text between them."""
    attentions: list[tuple[Node, ...]] = [attention_block(c, own, own) if attends else ()]
    first, second, last = [], [], c.depth - 1
    for at, (before, after) in enumerate(pairs):
        between = before if up else after
        first.append(resnet(c, before, between, "up" if up and scaled and at == 0 else ""))
        attentions.append(attention_block(c, between, c.text) if attends else ())
        second.append(resnet(c, between, after, "down" if not up and scaled and at == last else ""))
    return (
        module_list("attentions", *attentions, kind="block"),
        module_list("resnets_in", *first, kind="layer"),
        module_list("resnets_out", *second, kind="layer"),
    )


def unet(c: Config) -> Part:
    """Describe Kandinsky3UNet."""
    widths, first = c.widths, c.widths[0] // 2
    ends = list(zip((first, *widths), widths, strict=False))
    down = []
    for stage, (before, after) in enumerate(ends):
        pairs = [(before, after), *[(after, after)] * (c.depth - 1)]
        down.append(stage_of(c, before, pairs, up=False, attends=stage > 0, scaled=stage < STAGES - 1))
    up = []
    for index, (outer, inner) in enumerate(ends[::-1]):
        beside = inner if index else 0
        pairs = [(inner + beside, inner), *[(inner, inner)] * (c.depth - 2), (inner, outer)][: c.depth]
        up.append(stage_of(c, outer, pairs, up=True, attends=index < STAGES - 1, scaled=index > 0))
    text = part("encoder_hid_proj", linear("projection_linear", c.encoder, c.text, bias=False), layer_norm("projection_norm", c.text))
    pooled = part("add_time_condition", attention(c.text, c.text, c.time, c.head_dim), kind="pooler")
    return part(
        "",
        two_maps("time_embedding", first, c.time),
        pooled,
        conv2d("conv_in", c.channels, first, 3),
        text,
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        group_norm("conv_norm_out", first),
        conv2d("conv_out", first, c.channels, 3),
        kind="model",
        stream=PASS,
    )


def _check_stages(c: Config) -> int:
    """Refuse another number of stages than the code has switches for."""
    if len(c.widths) != STAGES:
        raise ConfigError(
            Text("expected one entry for each of {stages} stages", stages=STAGES), key="block_out_channels", value=list(c.widths)
        )
    return STAGES


FIELDS = (
    size("channels", "in_channels", 4, "N", "latent channels"),
    number("time", "time_embedding_dim", 1536),
    number("head_dim", "attention_head_dim", 64),
    number("depth", "layers_per_block", 3, most=WRITTEN_OUT),
    numbers("widths", "block_out_channels", (384, 768, 1536, 3072)),
    size("text", "cross_attention_dim", 4096, "T", "width of the text states"),
    size("encoder", "encoder_hid_dim", 4096, "J", "width of the text encoder's states"),
    computed("stages", _check_stages),
)
FAMILIES = {"diffusers_kandinsky3": diffusers_family("diffusers_kandinsky3", FIELDS, "Kandinsky3UNet", unet, frozenset(("groups",)))}
