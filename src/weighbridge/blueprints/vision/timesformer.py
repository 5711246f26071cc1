"""TimeSformer: divided temporal and spatial attention over a video.

Source: arXiv 2102.05095; names as in transformers 5.23.0, models/timesformer/modeling_timesformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS, area
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    QKV_BIAS,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    VIT_MLP,
    VIT_PATCH,
    WHOLE_HEADS,
    grid,
    patches,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, NUM_FRAMES, Config, choice
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, conv2d, label_head, layer_norm, linear, part, split_mlp
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part


def check_attention(kind: object) -> object:
    """Refuse what the reference refuses."""
    if kind not in ("divided_space_time", "joint_space_time", "space_only"):
        hint = "divided_space_time, joint_space_time or space_only"
        raise ConfigError(Text("expected a kind of attention, found {kind!r:.60}", kind=kind), key="attention_type", value=kind, hint=hint)
    return kind


FIELDS = (
    *(VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, *VIT_IMAGE, *VIT_PATCH, CHANNELS, LABELS, QKV_BIAS),
    NUM_FRAMES.with_default(8),
    choice("kind", "attention_type", "divided_space_time", read=check_attention),
)


def attention(name: str, c: Config, groups: Size, among: Size) -> Part:
    """Describe attention within so many groups of *among* vectors each."""
    H = c.hidden
    mixed = linear("qkv", H, 3 * H, bias=c.qkv_bias), attend(heads=c.heads, head_dim=c.head_dim, queries=among, keys=among, groups=groups)
    children = part("attention", *mixed, kind="attention"), part("output", linear("dense", H, H), kind="attention")
    return part(name, *children, kind="self_attention", stream=groups * among)


def layer(c: Config) -> Part:
    """Describe a layer; where time is looked along by itself, it has an attention, a norm and a map of its own."""
    H, divided = c.hidden, c.kind == "divided_space_time"
    frames, places = c.frames, patches(c)
    everywhere = attention("attention", c, 1, places * frames + 1)
    space = everywhere if c.kind == "joint_space_time" else attention("attention", c, frames, places + 1)
    time = (
        layer_norm("temporal_layernorm", H),
        attention("temporal_attention", c, places, frames),
        linear("temporal_dense", H, H, stream=places * frames),
    )
    return part(
        "layer",
        space,
        *split_mlp(H, c.mlp),
        layer_norm("layernorm_before", H),
        layer_norm("layernorm_after", H),
        *(time if divided else ()),
        kind="layer",
        repeat=c.layers,
    )


def timesformer(c: Config, name: str = "") -> Part:
    """Describe TimesformerModel: where it attends to space alone, each frame has a class token of its own."""
    H, space_only = c.hidden, c.kind == "space_only"
    learned = token("cls_token", H), token("position_embeddings", H, patches(c) + 1)
    times = () if space_only else (token("time_embeddings", H, c.frames),)
    projection = conv2d("projection", c.channels, H, (c.patch_height, c.patch_width), stream=area(grid(c)) * c.frames)
    embeddings = part("embeddings", *learned, *times, part("patch_embeddings", projection, kind="embeddings"), kind="embeddings")
    tokens = c.frames * (patches(c) + 1) if space_only else patches(c) * c.frames + 1
    children = (embeddings, part("encoder", layer(c), kind="encoder"), layer_norm("layernorm", H))
    return part(name, *children, kind="backbone" if name else "model", stream=tokens)


def classification(c: Config) -> Part:
    """Describe TimesformerForVideoClassification: one output per label on each class token."""
    head = label_head("classifier", c.hidden, c.labels, stream=c.frames if c.kind == "space_only" else "one")
    return part("", timesformer(c, "timesformer"), head, kind="model")


CLASSES = {"TimesformerModel": timesformer, "TimesformerForVideoClassification": classification}

FAMILIES = {"timesformer": Family("timesformer", uneven_heads(FIELDS), CLASSES, "TimesformerModel", IGNORED_KEYS)}
