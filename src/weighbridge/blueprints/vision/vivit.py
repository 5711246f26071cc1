"""Video transformers over tubelets: ViViT and VideoMAE.

Source: arXiv 2103.15691 (ViViT), 2203.12602 (VideoMAE); names as in transformers 5.23.0,
models/{vivit,videomae}/modeling_*.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.stage_fields import numbers
from weighbridge.blueprints.modules.vit_common import (
    FIELDS,
    IGNORED_KEYS,
    POOLED,
    VIT_HEADS,
    VIT_HIDDEN,
    VIT_IMAGE,
    VIT_LAYERS,
    VIT_MLP,
    VIT_PATCH,
    WHOLE_HEADS,
    classifier,
    cubes,
    layer,
    patches,
    split_attention,
    split_layer,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import LABELS, NUM_FRAMES, Config, size, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part

VIVIT = (
    *(field for field in FIELDS if field.key != "patch_size"),
    NUM_FRAMES.with_default(32),
    numbers("tubelet", "tubelet_size", (2, 16, 16)),
    size("pooled_width", "pooler_output_size", lambda c: c.hidden, "O", "width of the pooled output"),
    POOLED,
)
VIDEOMAE = (
    *(VIT_HIDDEN, VIT_MLP, VIT_LAYERS, VIT_HEADS, WHOLE_HEADS, *VIT_IMAGE, *VIT_PATCH, CHANNELS, LABELS),
    NUM_FRAMES.with_default(16),
    size("tubelet", "tubelet_size", 2, "U", "frames in a cube"),
    switch("qv_bias", "qv_bias", True, "qkv_bias"),
    switch("mean", "use_mean_pooling", True),
    size("decoder_hidden", "decoder_hidden_size", 384, "E", "hidden size of the decoder"),
    size("decoder_mlp", "decoder_intermediate_size", 1536, "J", "intermediate size of the decoder"),
    size("decoder_layers", "decoder_num_hidden_layers", 4, "K", "layers of the decoder"),
    size("decoder_heads", "decoder_num_attention_heads", 6, "B", "attention heads of the decoder"),
)


def vivit(c: Config, *, pooled: bool, name: str = "") -> Part:
    """Describe VivitModel: cubes of several frames behind a class token, with a position for each."""
    if len(c.tubelet) != 3:
        raise ConfigError("expected frames, height and width of a cube", key="tubelet_size", value=list(c.tubelet))
    H, (frames, height, width) = c.hidden, c.tubelet
    places: Size = c.frames // frames * (c.image_height // height) * (c.image_width // width)
    learned = token("cls_token", H), token("position_embeddings", H, places + 1)
    embedded = part("patch_embeddings", cubes("projection", c, c.tubelet, places), kind="embeddings")
    pooler = (part("pooler", linear("dense", H, c.pooled_width), kind="pooler", stream="one"),) if pooled else ()
    children = (part("embeddings", *learned, embedded, kind="embeddings"), layer(c), layer_norm("layernorm", H), *pooler)
    return part(name, *children, kind="backbone" if name else "model", stream=places + 1)


def vivit_model(c: Config) -> Part:
    """Describe VivitModel: with a pooler unless that is left out."""
    return vivit(c, pooled=c.pooled)


def vivit_classification(c: Config) -> Part:
    """Describe VivitForVideoClassification: one output per label on the class token."""
    return part("", vivit(c, pooled=False, name="vivit"), classifier(c), kind="model")


def places(c: Config) -> Size:
    """Count the cubes of a video."""
    result: Size = patches(c) * (c.frames // c.tubelet)
    return result


def videomae(c: Config, name: str = "", *, seen: Stream | None = None) -> Part:
    """Describe VideoMAEModel: no class token, positions that are no parameters; keys have no bias."""
    kernel = c.tubelet, c.patch_height, c.patch_width
    embedded = part("patch_embeddings", cubes("projection", c, kernel, places(c)), kind="embeddings")
    layers = split_layer(c, attends=split_attention(c, (c.qv_bias, False, c.qv_bias)))
    last = () if c.mean else (layer_norm("layernorm", c.hidden),)
    children = (part("embeddings", embedded, kind="embeddings"), part("encoder", layers, kind="encoder"), *last)
    return part(name, *children, kind="backbone" if name else "model", stream=places(c) if seen is None else seen)


def videomae_pre_training(c: Config) -> Part:
    """Describe VideoMAEForPreTraining: a narrower transformer draws the pixels of the cubes that are masked."""
    E, masked = c.decoder_hidden, unknown("the caller says which cubes of a video are masked")
    inner = Config(hidden=E, mlp=c.decoder_mlp, layers=c.decoder_layers, heads=c.decoder_heads, head_dim=exact(E, c.decoder_heads))
    layers = replace(split_layer(inner, attends=split_attention(inner, (c.qv_bias, False, c.qv_bias))), name="decoder_layers")
    head = linear("head", E, c.channels * c.tubelet * c.patch_height * c.patch_width, stream=masked)
    return part(
        "",
        token("mask_token", E),
        videomae(c, "videomae", seen=masked),
        linear("encoder_to_decoder", c.hidden, E, bias=False, stream=masked),
        part("decoder", layers, layer_norm("norm", E), head, kind="decoder", stream=places(c)),
        kind="model",
    )


def videomae_classification(c: Config) -> Part:
    """Describe VideoMAEForVideoClassification: one output per label on the mean of all cubes, or on the first."""
    norm = (layer_norm("fc_norm", c.hidden, stream="one"),) if c.mean else ()
    return part("", videomae(c, "videomae"), *norm, classifier(c), kind="model")


FAMILIES = {
    "vivit": Family(
        "vivit",
        uneven_heads(VIVIT),
        {"VivitModel": vivit_model, "VivitForVideoClassification": vivit_classification},
        "VivitModel",
        IGNORED_KEYS | {"pooler_act"},
    ),
    "videomae": Family(
        "videomae",
        VIDEOMAE,
        {
            "VideoMAEModel": videomae,
            "VideoMAEForPreTraining": videomae_pre_training,
            "VideoMAEForVideoClassification": videomae_classification,
        },
        "VideoMAEModel",
        IGNORED_KEYS | {"norm_pix_loss"},
    ),
}
