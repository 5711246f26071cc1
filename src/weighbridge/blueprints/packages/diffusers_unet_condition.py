"""diffusers: the U-Net that removes noise after a text or an image, with every kind of stage that published ones have.

Stable Diffusion's stages hold transformers (arXiv 2112.10752); DeepFloyd IF's and Kandinsky's hold attention with the text's keys and
values beside the map's own (arXiv 2310.03502).

Source: diffusers 0.42.1, models/unets/{unet_2d_condition,unet_2d_blocks}.py, models/attention_processor.py and models/embeddings.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.words import one_of
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family, kind_or_none, to_out
from weighbridge.blueprints.packages.diffusers_unet import (
    UNET,
    UNET_KEYS,
    conditions,
    named_kinds,
    one_per_stage,
    required_conditions,
    resnet,
    resnets,
    sampler,
    time_embedding,
    transformer,
)
from weighbridge.config.fields import Config, choice, variant, with_changes
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, layer_norm, linear, part, replace
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

DOWN = ("DownBlock2D", "CrossAttnDownBlock2D", "ResnetDownsampleBlock2D", "SimpleCrossAttnDownBlock2D")
UP = ("UpBlock2D", "CrossAttnUpBlock2D", "ResnetUpsampleBlock2D", "SimpleCrossAttnUpBlock2D")
MIDDLES = ("UNetMidBlock2DCrossAttn", "UNetMidBlock2DSimpleCrossAttn", "UNetMidBlock2D")
HINT = (3, 16, 16, 32, 32, 96, 96, 256, 4)
"""Channels between the convolutions that a hint goes through, whatever the config says."""


def _crossings(value: Any) -> Any:
    if not isinstance(value, bool) and not (isinstance(value, (list, tuple)) and all(isinstance(entry, bool) for entry in value)):
        raise ConfigError(
            Text("expected true or false, or one of them for each stage, found {value!r:.60}", value=value),
            key="only_cross_attention",
            value=value,
        )
    return value


def _crossing_stages(c: Config) -> tuple[bool, ...]:
    count = len(c.widths)
    if isinstance(c.only_cross_attention, bool):
        return (c.only_cross_attention,) * count
    if len(c.only_cross_attention) != count:
        raise ConfigError(
            Text("expected one entry for each of {stages} stages", stages=count), key="only_cross_attention", value=c.only_cross_attention
        )
    return tuple(c.only_cross_attention)


FIELDS = variant(
    UNET,
    replace(kind_or_none("mid_block_type", "mid_block_type", *MIDDLES), default=MIDDLES[0]),
    kind_or_none("class_kind", "class_embed_type", "timestep", "projection", "simple_projection", "identity"),
    kind_or_none("added", "addition_embed_type", "text_time", "text", "text_image", "image", "image_hint"),
    kind_or_none("encoder_hid_dim_type", "encoder_hid_dim_type", "text_proj", "text_image_proj", "image_proj"),
    choice("only_cross_attention", "only_cross_attention", False, read=_crossings, report_default=False),
    replace(choice("mid_block_only_cross_attention", "mid_block_only_cross_attention", None, report_default=False), nullable=True),
    kind_or_none("cross_attention_norm", "cross_attention_norm", "layer_norm", "group_norm"),
    choice(
        "resnet_time_scale_shift",
        "resnet_time_scale_shift",
        "default",
        read=one_of("resnet_time_scale_shift", "default", "scale_shift"),
        report_default=False,
    ),
)


def _time(c: Config) -> int:
    return 4 * int(c.widths[0])


def _resnet(c: Config, inputs: int, width: int) -> tuple[Node, ...]:
    return resnet(inputs, width, _time(c), scaled=c.resnet_time_scale_shift == "scale_shift")


def text_beside(c: Config, width: int, text: int, head_dim: int, *, crossing: bool) -> tuple[Node, ...]:
    """Describe attention of a map's places to the text, and to each other unless it is *crossing* alone."""
    heads = width // head_dim
    if not heads:
        raise ConfigError(
            Text("a head of {head_dim} is wider than a map of {width} channels", head_dim=head_dim, width=width), key="attention_head_dim"
        )
    inner = heads * head_dim
    norms = {
        None: (),
        "layer_norm": (layer_norm("norm_cross", width),),
        "group_norm": (group_norm("norm_cross", text),),
    }
    maps = [linear(name, width, inner) for name in (("to_q",) if crossing else ("to_q", "to_k", "to_v"))]
    added = [linear(name, text, inner) for name in ("add_k_proj", "add_v_proj")]
    scores = attend(heads=heads, head_dim=head_dim)
    return group_norm("group_norm", width), *norms[c.cross_attention_norm], *maps, *added, to_out(inner, width), scores


def _stage(c: Config, kind: str, stage: int, inputs: Sequence[int], width: int, head_dim: int) -> tuple[Part, ...]:
    """Describe a stage: residual blocks of these *inputs*, each with what attends behind it, if any."""
    blocks, crossing = resnets(*(_resnet(c, before, width) for before in inputs)), _crossing_stages(c)[stage]
    if kind.startswith("CrossAttn"):
        return module_list("attentions", *(transformer(c, width, stage, crossing=crossing) for _ in inputs), kind="block"), blocks
    if kind.startswith("Simple"):
        text = one_per_stage(c.text, "cross_attention_dim", len(c.widths))[stage]
        inner = text_beside(c, width, text, head_dim, crossing=crossing)
        return module_list("attentions", *[inner] * len(inputs), kind="cross_attention"), blocks
    return (blocks,)


def _sampler(c: Config, kind: str, name: str, width: int) -> Part:
    """Describe what halves or doubles a map behind a stage of this *kind*: a convolution, or a residual block."""
    if kind.startswith(("Resnet", "Simple")):
        return module_list(name, _resnet(c, width, width), kind="layer")
    return sampler(name, width)


def _middle(c: Config) -> tuple[Part, ...]:
    if c.mid_block_type is None:
        return ()
    width, last = c.widths[-1], len(c.widths) - 1
    if c.mid_block_type == "UNetMidBlock2D":
        return (part("mid_block", resnets(_resnet(c, width, width)), kind="stage"),)
    if c.mid_block_type == "UNetMidBlock2DCrossAttn":
        attentions = module_list("attentions", transformer(c, width, last), kind="block")
    else:
        stated = c.mid_block_only_cross_attention
        crossing = bool(c.only_cross_attention is True if stated is None else stated)
        text, head_dim = (one_per_stage(value, "attention_head_dim", last + 1)[-1] for value in (c.text, c.heads))
        attentions = module_list("attentions", text_beside(c, width, text, head_dim, crossing=crossing), kind="cross_attention")
    return (part("mid_block", attentions, resnets(*[_resnet(c, width, width)] * 2), kind="stage"),)


def _one_text(c: Config, key: str) -> int:
    if not isinstance(c.text, int):
        raise ConfigError("one width of the text for each stage is not described here", key=key)
    return c.text


def _text_in(c: Config) -> Size:
    if c.text_in is None:
        raise ConfigError("missing, and the class needs it", key="encoder_hid_dim")
    return c.text_in


def _seen(c: Config) -> tuple[Part, ...]:
    """Describe the map of what is attended to, a text, an image or both, to the width that is."""
    if c.text_in is None and c.encoder_hid_dim_type is None:
        return ()
    entering, width = _text_in(c), _one_text(c, "encoder_hid_dim")
    if c.encoder_hid_dim_type == "image_proj":
        inner = linear("image_embeds", entering, 32 * width), layer_norm("norm", width)
    elif c.encoder_hid_dim_type == "text_image_proj":
        inner = linear("image_embeds", width, 10 * width), linear("text_proj", entering, width)
    else:
        return (linear("encoder_hid_proj", entering, width),)
    return (part("encoder_hid_proj", *inner, kind="projector"),)


def _added(c: Config, time: int) -> tuple[Part, ...]:
    """Describe the embeddings that are added to the time's."""
    classed = with_changes(c, added=None)
    if c.class_kind == "simple_projection":
        found: tuple[Part, ...] = (linear("class_embedding", required_conditions(c), time),)
    else:
        found = () if c.class_kind == "identity" else conditions(classed, time)
    if c.added is None:
        return found
    if c.added == "text_time":
        return *found, *conditions(with_changes(c, class_kind=None, classes=None), time)
    return *found, part("add_embedding", *_added_embedding(c, time), kind="embeddings")


def _added_embedding(c: Config, time: int) -> tuple[Node, ...]:
    if c.added == "text":
        width = _one_text(c, "addition_embed_type") if c.text_in is None else c.text_in
        maps = (linear(name, width, width) for name in ("k_proj", "q_proj", "v_proj"))
        pool = part("pool", Tensor("positional_embedding", (1, width), "embedding"), *maps, kind="pooler")
        return layer_norm("norm1", width), pool, linear("proj", width, time), layer_norm("norm2", time)
    if c.added == "text_image":
        width = _one_text(c, "addition_embed_type")
        return linear("text_proj", width, time), layer_norm("text_norm", time), linear("image_proj", width, time)
    image = linear("image_proj", _text_in(c), time), layer_norm("image_norm", time)
    if c.added == "image":
        return image
    hints = (conv2d(str(2 * index), before, after, 3) for index, (before, after) in enumerate(itertools.pairwise(HINT)))
    return *image, part("input_hint_block", *hints, kind="convolutions")


def unet(c: Config) -> Part:
    """Describe UNet2DConditionModel: stages down, a middle and stages up, each of which gets what the stage beside it output."""
    widths, count = c.widths, len(c.widths)
    last, depths = count - 1, one_per_stage(c.depth, "layers_per_block", count)
    head_dims = one_per_stage(c.heads, "attention_head_dim", count)
    down, up, before = [], [], widths[0]
    for stage, (kind, width) in enumerate(zip(named_kinds("down_block_types", c.down, DOWN, count), widths, strict=True)):
        inner = _stage(c, kind, stage, (before, *(width,) * (depths[stage] - 1)), width, head_dims[stage])
        down.append((*inner, *(() if stage == last else (_sampler(c, kind, "downsamplers", width),))))
        before = width
    turned = widths[::-1]
    for index, (kind, width) in enumerate(zip(named_kinds("up_block_types", c.up, UP, count), turned, strict=True)):
        stage, below = last - index, turned[min(index + 1, last)]
        blocks = depths[stage] + 1
        inputs = [(before if block == 0 else width) + (below if block == blocks - 1 else width) for block in range(blocks)]
        inner = _stage(c, kind, stage, inputs, width, head_dims[index])  # the class does not turn these around
        up.append((*inner, *(() if index == last else (_sampler(c, kind, "upsamplers", width),))))
        before = width
    condition = () if c.time_condition is None else (linear("cond_proj", c.time_condition, widths[0], bias=False),)
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], c.kernel_in),
        time_embedding(c, *condition),
        *_seen(c),
        *_added(c, _time(c)),
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        *_middle(c),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, c.kernel_out),
        kind="model",
        stream=PASS,
    )


FAMILIES = {"diffusers_unet": diffusers_family("diffusers_unet", FIELDS, "UNet2DConditionModel", unet, UNET_KEYS)}
