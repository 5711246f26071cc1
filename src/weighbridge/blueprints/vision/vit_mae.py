"""ViT-MAE and Pixio: masked autoencoders.

Source: arXiv 2111.06377 (MAE), 2512.15715 (Pixio); names as in transformers 5.23.0,
models/vit_mae/modeling_vit_mae.py and models/pixio/modeling_pixio.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.feature_maps import CHANNELS
from weighbridge.blueprints.modules.vit_common import (
    FIELDS,
    IGNORED_KEYS,
    QKV_BIAS,
    VIT_HEAD_DIM,
    layer,
    patches,
    projection,
    token,
)
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, LAYERS, Config, choice, derived, sides, size
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import layer_norm, linear, part
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor


def seen_fraction(mask_ratio: object) -> tuple[int, int] | None:
    """Read which fraction of the patches is seen, if it is one that floating point has no say in.

    >>> seen_fraction(0.75), seen_fraction(0.9)
    ((1, 4), None)
    """
    if type(mask_ratio) not in (int, float):
        return None
    above, below = (1 - mask_ratio).as_integer_ratio()  # type: ignore[operator]
    return (above, below) if below <= 1024 else None


MAE = (
    *(field for field in FIELDS if field.word != "labels"),
    size("decoder_hidden", "decoder_hidden_size", 512, "E", "hidden size of the decoder"),
    size("decoder_mlp", "decoder_intermediate_size", 2048, "J", "intermediate size of the decoder"),
    size("decoder_layers", "decoder_num_hidden_layers", 8, "K", "layers of the decoder"),
    size("decoder_heads", "decoder_num_attention_heads", 16, "B", "attention heads of the decoder"),
    size("decoder_head_dim", "head_dim", lambda c: exact(c.decoder_hidden, c.decoder_heads), "G", "head dimension"),
    choice("kept", "mask_ratio", 0.75, read=seen_fraction),
)
PIXIO = (
    HIDDEN.with_default(1280),
    size("ratio", "mlp_ratio", 4, "F", "factor by which the feed-forward network is wider"),
    derived("mlp", lambda c: c.hidden * c.ratio, "mlp_ratio"),
    LAYERS.with_default(32),
    HEADS.with_default(16),
    *(
        VIT_HEAD_DIM,
        *sides("image", "image_size", 256, "R", "image size"),
        *(f for f in FIELDS if f.key == "patch_size"),
        CHANNELS,
        QKV_BIAS,
    ),
    size("tokens", "n_cls_tokens", 8, "K", "class tokens"),
)


def visible_tokens(c: Config) -> Stream:
    """Return the tokens of the encoder: a class token, and the patches that are not masked."""
    if c.kept is None:
        return unknown("how many patches are masked depends on how mask_ratio is rounded")
    number: Size = patches(c) * c.kept[0] // c.kept[1] + 1
    return number


def mae(c: Config, name: str = "") -> Part:
    """Describe ViTMAEModel; its positions are sines and not learned, but parameters all the same."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        token("cls_token", H),
        Tensor("position_embeddings", (1, patches(c) + 1, H), "embedding", frozen=True),
        part("patch_embeddings", projection(c), kind="embeddings"),
        kind="embeddings",
    )
    return part(name, embeddings, layer(c), layer_norm("layernorm", H), kind="backbone" if name else "model", stream=visible_tokens(c))


def pre_training(c: Config) -> Part:
    """Describe ViTMAEForPreTraining: a narrower transformer sees all positions and draws their pixels."""
    E = c.decoder_hidden
    inner = Config(
        hidden=E, mlp=c.decoder_mlp, layers=c.decoder_layers, heads=c.decoder_heads, head_dim=c.decoder_head_dim, qkv_bias=c.qkv_bias
    )
    decoder = part(
        "decoder",
        token("mask_token", E),
        Tensor("decoder_pos_embed", (1, patches(c) + 1, E), "embedding", frozen=True),
        linear("decoder_embed", c.hidden, E, stream=visible_tokens(c)),
        layer(inner, "decoder_layers"),
        layer_norm("decoder_norm", E),
        linear("decoder_pred", E, c.patch_height * c.patch_width * c.channels),
        kind="decoder",
        stream=patches(c) + 1,
    )
    return part("", mae(c, "vit"), decoder, kind="model")


def pixio(c: Config, name: str = "") -> Part:
    """Describe PixioModel: several class tokens."""
    H = c.hidden
    learned = token("cls_token", H, c.tokens), token("position_embeddings", H, patches(c) + c.tokens)
    embeddings = part("embeddings", *learned, part("patch_embeddings", projection(c), kind="embeddings"), kind="embeddings")
    children = (embeddings, layer(c), layer_norm("layernorm", H))
    return part(name, *children, kind="backbone" if name else "model", stream=patches(c) + c.tokens)


def pixio_backbone(c: Config) -> Part:
    """Describe PixioBackbone: a norm of its own for the maps that it outputs."""
    return part("", pixio(c, "pixio"), layer_norm("layernorm", c.hidden), kind="model", stream=patches(c) + c.tokens)


FAMILIES = {
    "vit_mae": Family(
        "vit_mae", MAE, {"ViTMAEModel": mae, "ViTMAEForPreTraining": pre_training}, "ViTMAEModel", IGNORED_KEYS | {"norm_pix_loss"}
    ),
    "pixio": Family(
        "pixio",
        uneven_heads(PIXIO),
        {"PixioModel": pixio, "PixioBackbone": pixio_backbone},
        "PixioModel",
        IGNORED_KEYS | {"apply_layernorm", "reshape_hidden_states"},
    ),
}
