"""LayoutLMv2: one transformer over words, their positions on the page, and the map that detectron2's ResNeXt and feature pyramid make of it.

Source: arXiv 2012.14740; names as in transformers 5.23.0, models/layoutlmv2/modeling_layoutlmv2.py, and in detectron2 0.5,
modeling/backbone/{resnet,fpn}.py. The config states no image: ``image_size`` may be set beside its fields, and is 224 by default.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import pooler
from weighbridge.blueprints.modules.backbones import constant_batch_norms
from weighbridge.blueprints.modules.feature_maps import Grid, area, conv_output, image, pair
from weighbridge.blueprints.multimodal.layoutlmv3 import corner_tables, position_table
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    MLP,
    POSITIONS,
    TOKEN_TYPES,
    VOCAB,
    Config,
    choice,
    computed,
    size,
    switch,
)
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, sum_of
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, batch_norm, conv2d, embedding, layer_norm, linear, part, replace, split_mlp
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Node, Part, Tensor

if TYPE_CHECKING:
    from typing import Any

DEPTHS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3)}
"""The blocks of each stage, by the layers of the whole."""
STEM, WIDTH, PYRAMID, FROZEN = 64, 256, 256, 1
"""Channels of the stem, of the first stage and of the pyramid's maps, and the stages behind the stem that are not trained, by default."""
STAGES = ["res2", "res3", "res4", "res5"]
NEEDED = {"MODEL.BACKBONE.NAME": "build_resnet_fpn_backbone", "MODEL.FPN.IN_FEATURES": STAGES, "MODEL.RESNETS.OUT_FEATURES": STAGES}
WITHOUT_TENSORS = ("MODEL.ANCHOR_GENERATOR.", "MODEL.RPN.", "MODEL.ROI_", "MODEL.POST_NMS_", "MODEL.PIXEL_", "MODEL.MASK_ON")
"""Settings of the detector around the backbone, which the model does not keep."""
UNUSED = frozenset(("MODEL.RESNETS.SIZES", "MODEL.RESNETS.ASPECT_RATIOS"))


class Backbone(NamedTuple):
    """What a config of detectron2 says of a ResNet.

    Attributes:
        depth: Layers of the whole.
        groups, group_width: Groups of the wide convolutions, and the channels of one in the first stage.
        strided_first: Whether a block's first convolution, of 1 by 1, halves the map, and not the second.
    """

    depth: int = 50
    groups: int = 1
    group_width: int = 64
    strided_first: bool = True


def backbone_of(value: Any) -> Backbone:
    """Read ``detectron2_config_args``, which where it is absent is that of all published models.

    Raises:
        ConfigError: It says something else than a ResNet with four stages under a feature pyramid.
    """
    key = "detectron2_config_args"
    if value is None:
        return Backbone(101, 32, 8, strided_first=False)
    if not isinstance(value, dict):
        raise ConfigError(Text("expected settings of detectron2, found {value!r:.60}", value=value), key=key, value=value)
    known = {"DEPTH": "depth", "NUM_GROUPS": "groups", "WIDTH_PER_GROUP": "group_width", "STRIDE_IN_1X1": "strided_first"}
    own = {f"MODEL.RESNETS.{name}": word for name, word in known.items()}
    for name, setting in value.items():
        if NEEDED.get(name, setting) != setting or not (
            name in NEEDED or name in own or name in UNUSED or name.startswith(WITHOUT_TENSORS)
        ):
            raise ConfigError(Text("this setting of detectron2 is not described: {name}", name=name), key=key, value=setting)
    if missing := [name for name in NEEDED if name not in value]:
        raise ConfigError(Text("the model needs a feature pyramid over four stages: {missing}", missing=", ".join(missing)), key=key)
    found = Backbone(**{word: value[name] for name, word in own.items() if name in value})
    if found.depth not in DEPTHS or any(type(number) is not int or number < 1 for number in (found.groups, found.group_width)):
        raise ConfigError(Text("no such ResNet: {found}", found=str(found)), key=key, value=found.depth, hint="50, 101 or 152 layers")
    return found


def pooled_map(value: Any) -> tuple[int, int]:
    """Read the height and width to which the map is pooled, and check its channels.

    Raises:
        ConfigError: They are not those of the pyramid.
    """
    if isinstance(value, (list, tuple)) and len(value) == 3 and value[2] != PYRAMID:
        raise ConfigError(Text("the pyramid has {channels} channels", channels=PYRAMID), key="image_feature_pool_shape", value=list(value))
    return pair("image_feature_pool_shape", value[:2] if isinstance(value, (list, tuple)) and len(value) in (2, 3) else value)


FIELDS = (
    VOCAB.with_default(30522),
    HIDDEN.with_default(768),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    MLP.with_default(3072),
    POSITIONS.with_default(512),
    TOKEN_TYPES.with_default(2),
    size("places", "max_2d_position_embeddings", 1024, "B", "positions on a page"),
    size("coordinate", "coordinate_size", 128, "X", "width of a coordinate"),
    size("shape", "shape_size", 128, "W", "width of a height or width embedding"),
    size("buckets", "rel_pos_bins", 32, "Q", "relative position buckets"),
    size("page_buckets", "rel_2d_pos_bins", 64, "Z", "relative position buckets on a page"),
    switch("fused", "fast_qkv", True),
    switch("relative", "has_relative_attention_bias", True),
    switch("spatial", "has_spatial_attention_bias", True),
    switch("segment", "has_visual_segment_embedding", False),
    choice("pooled", "image_feature_pool_shape", [7, 7, PYRAMID], read=pooled_map),
    image(224, report_default=False),
    choice("backbone", "detectron2_config_args", None, read=backbone_of),
    computed("head_dim", lambda c: exact(c.hidden, c.heads)),
    LABELS,
)


def convolution(name: str, inputs: Size, outs: Size, kernel: int, at: Grid, groups: int = 1) -> Part:
    """Describe a convolution that holds its batch norm, which is constant."""
    found = conv2d(name, inputs, outs, kernel, groups=groups, bias=False, stream=area(at))
    return replace(found, children=(*found.children, batch_norm("norm", outs)))


def residual_block(b: Backbone, stage: int, index: int, before: Grid, at: Grid) -> tuple[Part, ...]:
    """Describe a block of three convolutions; the first of a stage widens, and may halve the map."""
    inner, outs = b.groups * b.group_width * 2**stage, WIDTH * 2**stage
    inputs = outs if index else (WIDTH * 2 ** (stage - 1) if stage else STEM)
    return (
        *(() if index else (convolution("shortcut", inputs, outs, 1, at),)),
        convolution("conv1", inputs, inner, 1, at if b.strided_first else before),
        convolution("conv2", inner, inner, 3, at, b.groups),
        convolution("conv3", inner, outs, 1, at),
    )


def visual_backbone(c: Config) -> Part:
    """Describe the feature pyramid, of whose maps the largest is used, and the ResNet below it."""
    b: Backbone = c.backbone
    half = conv_output(c.image, 7, 2, 3)
    grids = [conv_output(half, 3, 2, 1)]
    for _ in range(3):
        grids.append(conv_output(grids[-1], 3, 2, 1))
    pyramid: list[Part] = []
    stages = [constant_batch_norms(part("stem", convolution("conv1", 3, STEM, 7, half), kind="convolution"), frozen=True)]
    for stage, (blocks, at) in enumerate(zip(DEPTHS[b.depth], grids, strict=True)):
        lateral = conv2d(f"fpn_lateral{stage + 2}", WIDTH * 2**stage, PYRAMID, 1, stream=area(at))
        pyramid += [lateral, conv2d(f"fpn_output{stage + 2}", PYRAMID, PYRAMID, 3, stream=area(at))]
        found = (
            part(str(i), *residual_block(b, stage, i, at if i else grids[max(0, stage - 1)], at), kind="convolution") for i in range(blocks)
        )
        stages.append(constant_batch_norms(part(f"res{stage + 2}", *found, kind="stage"), frozen=stage < FROZEN))
    return part("backbone", *pyramid, part("bottom_up", *stages, kind="backbone"), kind="vision")


def attention(c: Config) -> Part:
    """Describe self-attention: queries, keys and values from one matrix, where keys have no bias, or from three."""
    H, inner = c.hidden, c.heads * c.head_dim
    scores = attend(heads=c.heads, head_dim=c.head_dim)
    biases = (Tensor(f"{name}_bias", (1, 1, inner), "bias") for name in "qv")
    fused: tuple[Node, ...] = (*biases, linear("qkv_linear", H, 3 * inner, bias=False))
    separate: tuple[Node, ...] = tuple(linear(name, H, inner) for name in ("query", "key", "value"))
    output = part("output", linear("dense", H, H), layer_norm("LayerNorm", H), kind="attention")
    return part("attention", part("self", *(fused if c.fused else separate), scores, kind="self_attention"), output, kind="self_attention")


def feed_forward(c: Config) -> tuple[Part, Part]:
    """Describe the feed-forward network and its norm."""
    up, down = split_mlp(c.hidden, c.mlp)
    return up, replace(down, children=(*down.children, layer_norm("LayerNorm", c.hidden)))


def layoutlmv2(c: Config, *, segment: bool, runs: int = 1) -> tuple[Node, ...]:
    """Describe the model; a class may run what it makes of the image once more."""
    H, places = c.hidden, area(c.pooled)
    words = embedding("word_embeddings", c.vocab, H), embedding("position_embeddings", c.positions, H)
    types = embedding("token_type_embeddings", c.types, H), layer_norm("LayerNorm", H)
    layer = part("layer", attention(c), *feed_forward(c), kind="layer", repeat=c.layers)
    tables = (
        *((position_table("rel_pos_bias", c, "buckets"),) if c.relative else ()),
        *((position_table("rel_pos_x_bias", c, "page_buckets"), position_table("rel_pos_y_bias", c, "page_buckets")) if c.spatial else ()),
    )
    return (
        *((Tensor("visual_segment_embedding", (H,), "embedding"),) if segment else ()),
        part("embeddings", *words, *corner_tables(c), *types, kind="embeddings", stream="seq"),
        part("visual", visual_backbone(c), kind="vision", executions=runs),
        linear("visual_proj", PYRAMID, H, stream=places, executions=runs),
        layer_norm("visual_LayerNorm", H, stream=places, executions=runs),
        part("encoder", layer, *tables, kind="encoder"),
        pooler(c),
    )


def stream(c: Config) -> Stream:
    """Return what the layers see: the text and the places of the map."""
    return sum_of("seq", area(c.pooled))


def with_head(c: Config, head: Part, *, segment: bool, runs: int = 1) -> Part:
    """Describe the model and one head on it."""
    inner = part("layoutlmv2", *layoutlmv2(c, segment=segment, runs=runs), kind="backbone", stream=stream(c))
    return part("", inner, head, kind="model")


def sequence_classification(c: Config) -> Part:
    """Describe LayoutLMv2ForSequenceClassification: labels on the first token and on the means of the map before and behind the layers."""
    return with_head(c, linear("classifier", 3 * c.hidden, c.labels, stream="one"), segment=c.segment, runs=2)


CLASSES = {
    "LayoutLMv2Model": lambda c: part("", *layoutlmv2(c, segment=c.segment), kind="model", stream=stream(c)),
    "LayoutLMv2ForSequenceClassification": sequence_classification,
    "LayoutLMv2ForTokenClassification": lambda c: with_head(c, linear("classifier", c.hidden, c.labels, stream="seq"), segment=c.segment),
    "LayoutLMv2ForQuestionAnswering": lambda c: with_head(c, linear("qa_outputs", c.hidden, c.labels, stream="seq"), segment=True),
}
IGNORED_KEYS = frozenset(("convert_sync_batchnorm", "max_rel_pos", "max_rel_2d_pos"))
FAMILIES = {"layoutlmv2": Family("layoutlmv2", FIELDS, CLASSES, "LayoutLMv2Model", IGNORED_KEYS)}
