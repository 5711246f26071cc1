"""VideoPrism: a vision encoder of spatial, then temporal transformer layers, and a text encoder beside it.

Source: arXiv 2402.13217; names as in transformers 5.23.0, models/videoprism/modeling_videoprism.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import similarity
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.feature_maps import CHANNELS, area
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.modules.vit_common import (
    IGNORED_KEYS,
    QKV_BIAS,
    VIT_HEAD_DIM,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_MLP,
    cubes,
    feed_forward,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import (
    HEAD_DIM,
    HEADS,
    HIDDEN,
    LABELS,
    LAYERS,
    MLP,
    NUM_FRAMES,
    POSITIONS,
    VOCAB,
    Config,
    sides,
    size,
    switch,
)
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Part, Tensor

FIELDS = (
    *(VIT_HIDDEN, VIT_MLP, VIT_HEADS, VIT_HEAD_DIM, CHANNELS, QKV_BIAS, LABELS),
    *sides("image", "image_size", 288, "R", "image size"),
    numbers("tubelet", "tubelet_size", (1, 18, 18)),
    NUM_FRAMES.with_default(16),
    size("spatial", "num_spatial_layers", 12, "L", "layers over each frame"),
    size("temporal", "num_temporal_layers", 4, "K", "layers along the frames"),
    size("auxiliary", "num_auxiliary_layers", 2, "M", "layers after both", minimum=0),
)


def places(c: Config) -> Size:
    """Count the patches of a frame."""
    if len(c.tubelet) != 3:
        raise ConfigError("expected frames, height and width of a cube", key="tubelet_size", value=list(c.tubelet))
    return area((c.image_height // c.tubelet[1], c.image_width // c.tubelet[2]))


def depth(c: Config) -> Size:
    """Count the frames that cubes make of a video."""
    result: Size = c.frames // c.tubelet[0]
    return result


def layers(c: Config, name: str, repeat: Size, among: Size, groups: Size) -> Part:
    """Describe layers in which so many vectors attend to each other, in groups apart."""
    H, inner = c.hidden, c.heads * c.head_dim
    attention = part(
        "attention",
        *(linear(f"{letter}_proj", H, inner, bias=c.qkv_bias) for letter in "qkv"),
        linear("o_proj", inner, H),
        attend(heads=c.heads, head_dim=c.head_dim, queries=among, keys=among, groups=groups),
        kind="self_attention",
    )
    children = attention, layer_norm("layernorm_before", H), layer_norm("layernorm_after", H), feed_forward(c)
    return part(name, *children, kind="layer", repeat=repeat, stream=among * groups)


def tower(c: Config, name: str = "") -> Part:
    """Describe VideoPrismVisionModel: its norms add one to their gains."""
    H, seen, frames = c.hidden, places(c), depth(c)
    patch = part("patch_embeddings", cubes("projection", c, c.tubelet, seen * frames), kind="embeddings")
    return part(
        name,
        layer_norm("layernorm1", H),
        layer_norm("layernorm2", H),
        part("spatial_embeddings", token("position_embeddings", H, seen), patch, kind="embeddings"),
        part("temporal_embeddings", token("position_embeddings", H, c.frames), kind="embeddings"),
        layers(c, "spatial_layers", c.spatial, seen, frames),
        layers(c, "temporal_layers", c.temporal, frames, seen),
        kind="vision" if name else "model",
        stream=seen * frames,
    )


def attention_pool(c: Config) -> tuple[Part, Part]:
    """Describe a learned vector that attends to all positions of all frames, and a norm; its heads share the width of the feed-forward network."""
    H, width = c.hidden, c.mlp // c.heads
    inner, seen = c.heads * width, places(c) * depth(c)
    head = part(
        "head",
        Tensor("per_dim_scale", (width,), "gain"),
        token("pooling_attention_query", H),
        linear("q_proj", H, inner, bias=c.qkv_bias),
        linear("k_proj", H, inner, bias=c.qkv_bias, stream=seen),
        linear("v_proj", H, inner, bias=c.qkv_bias, stream=seen),
        linear("o_proj", inner, H),
        attend(heads=c.heads, head_dim=width, queries=1, keys=seen),
        kind="pooler",
        stream="one",
    )
    return head, layer_norm("head_layernorm", H, stream="one")


def video(c: Config) -> Part:
    """Describe VideoPrismVideoModel: a few layers over all positions of all frames, and a pooled vector."""
    auxiliary = layers(c, "auxiliary_layers", c.auxiliary, places(c) * depth(c), 1)
    return part("", tower(c, "vision_model"), auxiliary, *attention_pool(c), kind="model")


def classification(c: Config) -> Part:
    """Describe VideoPrismForVideoClassification: one output per label on the pooled vector."""
    return part("", tower(c, "vision_model"), *attention_pool(c), linear("classifier", c.hidden, c.labels, stream="one"), kind="model")


def text(c: Config) -> Part:
    """Describe VideoPrismTextModel: words and fixed sinusoids for positions, a learned token at the end, and layers."""
    H, inner, tokens = c.hidden, c.heads * c.head_dim, length("seq") + 1
    attention = part(
        "attention",
        *(linear(f"{letter}_proj", H, inner, bias=c.qkv_bias) for letter in "qkv"),
        linear("o_proj", inner, H),
        attend(heads=c.heads, head_dim=c.head_dim),
        kind="self_attention",
    )
    mlp = part("mlp", linear("fc1", H, c.mlp), linear("fc2", c.mlp, H), kind="feed_forward")
    norms = layer_norm("layernorm_before", H), layer_norm("layernorm_after", H)
    embeddings = part(
        "embeddings",
        Tensor("cls_emb", (1, 1, H), "embedding"),
        Tensor("position_embedding", (c.positions, (H + 1) // 2 * 2), "buffer"),
        Tensor("position_ids", (1, c.positions), "buffer"),
        embedding("token_embedding", c.vocab, H),
        kind="embeddings",
    )
    layer = part("layers", attention, *norms, mlp, kind="layer", repeat=c.layers, stream=tokens)
    return part("", embeddings, layer, layer_norm("layernorm", H, stream=tokens), kind="model")


def clip(c: Config) -> Part:
    """Describe VideoPrismClipModel: both encoders, and the products of every video with every text."""
    return part(
        "",
        as_child("video_model", submodel(c.vision, "VideoModel")),
        as_child("text_model", submodel(c.text)),
        similarity(c.text.hidden),
        kind="model",
    )


TEXT = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(768),
    MLP.with_default(3072),
    LAYERS.with_default(12),
    HEADS.with_default(12),
    HEAD_DIM.with_default(lambda c: c.hidden // c.heads),
    POSITIONS.with_default(64),
    switch("qkv_bias", "qkv_bias", True),
)
WHOLE = (
    model_config("vision", "vision_config", "videoprism_vision_model", fixed=True),
    model_config("text", "text_config", "videoprism_text_model", fixed=True),
)
CLASSES = {"VideoPrismVisionModel": tower, "VideoPrismVideoModel": video, "VideoPrismForVideoClassification": classification}
OWN_IGNORED_KEYS = IGNORED_KEYS | {"attn_logit_softcapping", "apply_l2norm"}

TEXT_IGNORED_KEYS = frozenset(("attn_logit_softcapping", "apply_l2norm"))

FAMILIES = {
    "videoprism": Family("videoprism", WHOLE, {"VideoPrismClipModel": clip}, "VideoPrismClipModel"),
    "videoprism_text_model": Family("videoprism_text_model", TEXT, {"VideoPrismTextModel": text}, "VideoPrismTextModel", TEXT_IGNORED_KEYS),
    "videoprism_vision_model": Family("videoprism_vision_model", uneven_heads(FIELDS), CLASSES, "VideoPrismVisionModel", OWN_IGNORED_KEYS),
}
