"""diffusers: AnimateDiff, attention between frames beside the blocks of a U-Net that was trained on images.

Source: arXiv 2307.04725; diffusers 0.42.1, models/unets/unet_motion_model.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.convolutions import group_norm
from weighbridge.blueprints.modules.feature_maps import module_list
from weighbridge.blueprints.modules.stage_fields import WRITTEN_OUT, number, numbers, optional_number
from weighbridge.blueprints.modules.words import read_none
from weighbridge.blueprints.packages.diffusers import PASS, diffusers_family
from weighbridge.blueprints.packages.diffusers_unet import (
    UNET,
    conditions,
    each_stage,
    one_per_stage,
    read_kinds,
    resnet,
    resnets,
    sampler,
    text_layer,
    time_embedding,
    transformer,
    unet_stage,
)
from weighbridge.config.fields import Config, choice, constant, optional, size, switch, with_changes
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import conv2d, linear, part
from weighbridge.core.tree import Node, Part, Tensor


def motion_module(c: Config, width: int, heads: int, layers: int) -> tuple[Node, ...]:
    """Describe a transformer between the frames of each place, which attends twice to them; its positions are fixed."""
    if heads > width:
        raise ConfigError(
            Text("{width} channels for {heads} heads", width=width, heads=heads), key="motion_num_attention_heads", value=heads
        )
    inner = width // heads * heads
    if inner % 2:
        raise ConfigError(
            Text(
                "{width} channels for {heads} heads leave {inner}, and positions need an even number", width=width, heads=heads, inner=inner
            ),
            key="motion_num_attention_heads",
            value=heads,
        )
    positions = part("pos_embed", Tensor("pe", (1, c.frames, inner), "buffer"), kind="embeddings")
    layer = part("transformer_blocks", positions, *text_layer(inner, inner, heads), kind="layer", repeat=layers)
    return group_norm("norm", width), linear("proj_in", width, inner), layer, linear("proj_out", inner, width)


def motion_modules(c: Config, stage: int, many: int, layers: int | None = None) -> Part:
    """Describe *many* transformers of a stage, of so many *layers* or as the stage has."""
    count = len(c.widths)
    heads = one_per_stage(c.motion_heads, "motion_num_attention_heads", count)[stage]
    deep = one_per_stage(c.motion_layers, "temporal_transformer_layers_per_block", count)[stage] if layers is None else layers
    return module_list("motion_modules", *[motion_module(c, c.widths[stage], heads, deep)] * many, kind="block")


def adapter(c: Config) -> Part:
    """Describe MotionAdapter: the modules alone, to be put beside the blocks of any such U-Net."""
    count = len(c.widths)
    depths = one_per_stage(c.depth, "motion_layers_per_block", count)
    middle = (part("mid_block", motion_modules(c, count - 1, c.middle_depth, c.middle_layers), kind="stage"),) if c.middle else ()
    return part(
        "",
        *(() if c.channels is None else (conv2d("conv_in", c.channels, c.widths[0], 3),)),
        *middle,
        module_list("down_blocks", *((motion_modules(c, stage, depths[stage]),) for stage in range(count))),
        module_list("up_blocks", *((motion_modules(c, stage, depths[stage] + 1),) for stage in reversed(range(count)))),
        kind="model",
        stream=PASS,
    )


ADAPTER = (
    numbers("widths", "block_out_channels", (320, 640, 1280, 1280)),
    each_stage("depth", "motion_layers_per_block", 2, WRITTEN_OUT),
    each_stage("motion_layers", "motion_transformer_layers_per_block", 1),
    number("middle_depth", "motion_mid_block_layers_per_block", 1, most=WRITTEN_OUT),
    number("middle_layers", "motion_transformer_layers_per_mid_block", 1),
    each_stage("motion_heads", "motion_num_attention_heads", 8),
    size("frames", "motion_max_seq_length", 32, "F", "frames"),
    switch("middle", "use_motion_mid_block", True),
    optional("channels", "conv_in_channels", None, "N", "channels of the input that is mapped anew"),
)

DOWN, UP = ("DownBlockMotion", "CrossAttnDownBlockMotion"), ("UpBlockMotion", "CrossAttnUpBlockMotion")
GONE = "kernel_in kernel_out text_in encoder_hid_dim_type heads class_kind classes mid_block_type".split()
UNREAD = frozenset(
    """only_cross_attention dual_cross_attention cross_attention_norm class_embeddings_concat time_embedding_dim
    mid_block_only_cross_attention resnet_time_scale_shift time_embedding_type attention_type""".split()
)
MOTION_UNET = (
    *(field for field in UNET if field.word not in GONE and field.key not in UNREAD and field.word not in ("down", "up")),
    choice("down", "down_block_types", [DOWN[1], DOWN[1], DOWN[1], DOWN[0]], report_default=False),
    choice("up", "up_block_types", [UP[0], UP[1], UP[1], UP[1]], report_default=False),
    each_stage("heads", "num_attention_heads", 8),
    constant("class_kind", None),
    constant("classes", None),
    each_stage("motion_layers", "temporal_transformer_layers_per_block", 1),
    each_stage("motion_heads", "motion_num_attention_heads", 8),
    size("frames", "motion_max_seq_length", 32, "F", "frames"),
    switch("middle", "use_motion_mid_block", True),
    number("middle_depth", "mid_block_layers", 1, most=WRITTEN_OUT),
    optional_number("middle_layers", "transformer_layers_per_mid_block", None),
    number("middle_motion", "temporal_transformer_layers_per_mid_block", 1),
    *(read_none(f"reverse_{key}") for key in ("temporal_transformer_layers_per_block", "motion_num_attention_heads")),
)


def middle_block(c: Config) -> Part:
    """Describe the middle: residual blocks, with attention to the text and between frames."""
    last, width, time = len(c.widths) - 1, c.widths[-1], 4 * c.widths[0]
    deep = c if c.middle_layers is None else with_changes(c, transformers=c.middle_layers)
    attentions = module_list("attentions", *[transformer(deep, width, last)] * c.middle_depth, kind="block")
    blocks = resnets(*[resnet(width, width, time)] * (c.middle_depth + 1))
    motion = (motion_modules(c, last, c.middle_depth, c.middle_motion),) if c.middle else ()
    return part("mid_block", attentions, blocks, *motion, kind="stage")


def motion_unet(c: Config) -> Part:
    """Describe UNetMotionModel."""
    widths, count = c.widths, len(c.widths)
    last, time, depths = count - 1, 4 * widths[0], one_per_stage(c.depth, "layers_per_block", count)
    down: list[tuple[Part, ...]] = []
    before = widths[0]
    for stage, attends in enumerate(read_kinds("down_block_types", c.down, DOWN, count)):
        inputs = (before, *(widths[stage],) * (depths[stage] - 1))
        inner = *unet_stage(c, stage, inputs, widths[stage], attends=attends, time=time), motion_modules(c, stage, depths[stage])
        down.append((*inner, *(() if stage == last else (sampler("downsamplers", widths[stage]),))))
        before = widths[stage]
    up: list[tuple[Part, ...]] = []
    for index, attends in enumerate(read_kinds("up_block_types", c.up, UP, count)):
        stage = last - index
        width, below, blocks = widths[stage], widths[max(stage - 1, 0)], depths[stage] + 1
        ins = [(before if block == 0 else width) + (below if block == blocks - 1 else width) for block in range(blocks)]
        inner = *unet_stage(c, stage, ins, width, attends=attends, time=time), motion_modules(c, stage, blocks)
        up.append((*inner, *(() if index == last else (sampler("upsamplers", width),))))
        before = width
    condition = () if c.time_condition is None else (linear("cond_proj", c.time_condition, widths[0], bias=False),)
    return part(
        "",
        conv2d("conv_in", c.channels, widths[0], 3),
        time_embedding(c, *condition),
        *conditions(c, time),
        module_list("down_blocks", *down),
        module_list("up_blocks", *up),
        middle_block(c),
        group_norm("conv_norm_out", widths[0]),
        conv2d("conv_out", widths[0], c.outputs, 3),
        kind="model",
        stream=PASS,
    )


KEYS = frozenset("mid_block_scale_factor downsample_padding addition_time_embed_dim encoder_hid_dim encoder_hid_dim_type".split())
FAMILIES = {
    "diffusers_motion_adapter": diffusers_family(
        "diffusers_motion_adapter", ADAPTER, "MotionAdapter", adapter, frozenset(("motion_norm_num_groups",))
    ),
    "diffusers_unet_motion": diffusers_family("diffusers_unet_motion", MOTION_UNET, "UNetMotionModel", motion_unet, KEYS),
}
